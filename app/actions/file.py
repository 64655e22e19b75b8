"""The menu File."""

from __future__ import annotations

from app.actions.action import Action

FILE: tuple[Action, ...] = (
    Action("file.new", "&New project…", "File", "Ctrl+N", "Make an empty project file", icon="file-plus"),
    Action("file.open", "&Open project…", "File", "Ctrl+O", "Open a project file", icon="folder-open"),
    Action(
        "file.recent",
        "Open &recent project…",
        "File",
        "Ctrl+Shift+O",
        "Choose one of the projects opened last",
    ),
    Action(
        "file.demo", "Open the &demo study", "File", "", "Runs made and scored on this computer, with no key"
    ),
    Action(
        "file.import",
        "&Import a folder…",
        "File",
        "Ctrl+I",
        "Add runs from a folder of pictures",
        icon="tray",
        section=True,
    ),
    Action(
        "file.merge",
        "&Merge copies…",
        "File",
        "",
        "Join the tags of copies that came back from annotators",
    ),
    Action(
        "file.import_tags", "Import &tags…", "File", "", "Bring in tags from COCO or CSV, after a preview"
    ),
    Action(
        "file.export_tags",
        "&Export tags…",
        "File",
        "Ctrl+Shift+E",
        "As COCO, Label Studio, CSV, Parquet or an image folder",
        section=True,
    ),
    Action(
        "file.export_view",
        "Export this &view…",
        "File",
        "Ctrl+Shift+S",
        "Save what the panes show as a PNG",
    ),
    Action(
        "file.export_animation",
        "Export runs as &animations…",
        "File",
        "Ctrl+Shift+A",
        "Steps of the runs chosen in the list one after another, a file each, as WebP, GIF or MP4",
    ),
    Action(
        "file.export_sheet",
        "Export runs as a contact &sheet…",
        "File",
        "",
        "Steps of the runs chosen in the list side by side, as PNG, JPEG or PDF",
    ),
    Action(
        "file.close",
        "&Close project",
        "File",
        "Ctrl+W",
        "Close the project and keep the window",
        section=True,
    ),
    Action("file.quit", "&Quit", "File", "Ctrl+Q", "End the program; finished work is kept", section=True),
)
