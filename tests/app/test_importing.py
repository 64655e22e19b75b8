"""What the import dialog says of a folder."""

from __future__ import annotations

from app.importing import ImportDialog, preview_text
from banana100_core.exchange.folder import preview_folder


def test_each_run_and_each_file_has_a_line_whatever_its_name(tmp_path, make_png):
    folder = tmp_path / 'Cup "quoted"\nnewline\t_r1'
    folder.mkdir()
    for number in range(1, 3):
        (folder / f"{number}.png").write_bytes(make_png(8, 8, seed=number))
    (folder / "3.png").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("no picture")
    lines = preview_text(preview_folder(tmp_path)).splitlines()
    assert lines[0].startswith('Cup_"quoted"�newline')
    assert "steps 1 to 3" in lines[0]
    assert [line.strip().partition(":")[0] for line in lines[1:]] == [
        "",
        "Can't be read; imported as failed steps",
        'Cup "quoted"�newline�_r1/3.png',
        "",
        "Ignored",
        "notes.txt",
    ]


def test_no_progress_is_told_when_nothing_is_going_on(qtbot, session, project, tmp_path, make_png):
    for number in range(1, 200):
        (tmp_path / f"cup_{number}.png").write_bytes(make_png(8, 8, seed=number))
    session.open_project(project.path)
    dialog = ImportDialog(session, tmp_path)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.import_button.isEnabled)
    with qtbot.assertNotEmitted(dialog.imported, wait=300):  # news that are still on their way
        pass
    assert not dialog.progress.text()
    assert not dialog.bar.isVisible()
    dialog.reject()
