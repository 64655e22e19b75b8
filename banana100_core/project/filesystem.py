"""Which file systems SQLite's write-ahead log works on."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# File systems of one machine's own disks. All others (nfs, cifs, 9p, fuse.sshfs, virtiofs ...) may be seen by
# two machines, between which the log's shared memory isn't shared.
_LOCAL = frozenset(
    {"apfs", "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fuseblk", "hfs", "jfs", "msdos"}
    | {"nilfs2", "ntfs", "ntfs3", "overlay", "ramfs", "reiserfs", "tmpfs", "ufs", "vfat", "xfs", "zfs"}
)
_DRIVE_FIXED_KINDS = frozenset({2, 3, 6})  # Windows: removable, fixed, RAM disk


def is_local(folder: Path) -> bool:
    """Tell whether `folder` is on a disk of this machine; False where that can't be known."""
    try:
        if sys.platform == "win32":
            return _is_local_drive(folder)
        if sys.platform == "darwin":
            mounts = subprocess.run(
                ["/sbin/mount"], capture_output=True, text=True, check=True, timeout=5
            ).stdout
            return file_system_of(folder.resolve(), bsd_mounts(mounts)) in _LOCAL
        mounts = Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
        return file_system_of(folder.resolve(), linux_mounts(mounts)) in _LOCAL
    except (OSError, subprocess.SubprocessError):
        return False


def linux_mounts(text: str) -> list[tuple[str, str]]:
    """Mount point and file system of each line of /proc/mounts, later ones on top of earlier ones."""
    mounts = []
    for line in text.splitlines():
        _, point, kind, *_ = line.split(" ")
        # Blanks in a mount point are written as octal numbers.
        mounts.append((re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point), kind))
    return mounts


def bsd_mounts(text: str) -> list[tuple[str, str]]:
    """Mount point and file system of each line that `mount` prints on macOS."""
    found = re.finditer(r"^.+? on (?P<point>/.*) \((?P<kind>\w+)[,)]", text, re.MULTILINE)
    return [(match["point"], match["kind"]) for match in found]


def file_system_of(folder: Path, mounts: list[tuple[str, str]]) -> str:
    """The file system that `folder` lies on; empty where no mount point holds it."""
    depth, kind = -1, ""
    for point, of_kind in mounts:
        parts = len(Path(point).parts)
        if parts >= depth and folder.is_relative_to(point):
            depth, kind = parts, of_kind
    return kind


def _is_local_drive(folder: Path) -> bool:
    import ctypes

    kind: int = ctypes.windll.kernel32.GetDriveTypeW(folder.resolve().anchor)  # type: ignore[attr-defined,unused-ignore]
    return kind in _DRIVE_FIXED_KINDS
