"""Which file systems a project keeps a write-ahead log on."""

from __future__ import annotations

from pathlib import Path

import pytest

from banana100_core.project import Project, filesystem
from banana100_core.project.filesystem import bsd_mounts, file_system_of, is_local, linux_mounts

LINUX = r"""/dev/vda / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /home nfs4 rw,vers=4.2 0 0
//server/share /mnt/my\040share cifs rw 0 0
me@host:/ /mnt/ssh fuse.sshfs rw 0 0
/dev/sdb1 /mnt/my\040share/disk xfs rw 0 0
server:/over /mnt/ssh nfs rw 0 0
"""
MAC = """/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//me@server/share on /Volumes/my share (smbfs, nodev, nosuid, mounted by me)
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/work", "ext4"),
        ("/tmp/x/y", "tmpfs"),
        ("/tmpfiles", "ext4"),
        ("/home/me/studies", "nfs4"),
        ("/mnt/my share", "cifs"),
        ("/mnt/my share/disk/a", "xfs"),
        ("/mnt/ssh/a", "nfs"),
    ],
)
def test_the_deepest_and_newest_mount_counts(folder, kind):
    assert file_system_of(Path(folder), linux_mounts(LINUX)) == kind


@pytest.mark.parametrize(("folder", "kind"), [("/Users/me", "apfs"), ("/Volumes/my share/a", "smbfs")])
def test_mounts_of_macos(folder, kind):
    assert file_system_of(Path(folder), bsd_mounts(MAC)) == kind


def test_a_folder_under_no_mount_is_of_no_kind():
    assert file_system_of(Path("/a"), []) == ""


def test_a_local_disk_has_a_log_and_any_other_a_journal(tmp_path, add_study, monkeypatch):
    kind = file_system_of(tmp_path.resolve(), linux_mounts(Path("/proc/self/mounts").read_text()))
    with Project.create(tmp_path / "here.b100") as project:
        assert project.journal_mode == ("wal" if is_local(tmp_path) else "delete")
    monkeypatch.setattr(filesystem, "_LOCAL", filesystem._LOCAL - {kind})
    with Project.create(tmp_path / "there.b100") as project:
        assert project.journal_mode == "delete"
        add_study(project)
        assert not (tmp_path / "there.b100-wal").exists()


def test_a_project_taken_to_another_disk_changes_its_way(tmp_path, add_study, monkeypatch):
    with Project.create(tmp_path / "a.b100") as project:
        add_study(project)
        mode = project.journal_mode
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(filesystem, "_LOCAL", frozenset())
        with Project.open(tmp_path / "a.b100") as project:
            assert project.journal_mode == "delete"
    with Project.open(tmp_path / "a.b100") as project:
        assert project.journal_mode == mode
