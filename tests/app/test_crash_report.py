from __future__ import annotations

import sys

from app.notifications import FaultCatcher, log_file


def test_a_report_has_the_lines_of_the_log_before_the_fault(qtbot, window):
    log_file().parent.mkdir(parents=True)
    before = [f"line {number}" for number in range(100)]
    log_file().write_text("\n".join([*before, "CRITICAL app: not caught:", "Traceback"]), encoding="utf-8")
    catcher = FaultCatcher(window)
    catcher.install()
    try:
        try:
            1 // 0  # noqa: B018
        except ZeroDivisionError:
            sys.excepthook(*sys.exc_info())
        qtbot.waitUntil(lambda: catcher.dialog is not None)
        lines = catcher.dialog.text.splitlines()
        assert lines[-40:] == before[-40:]
        assert "line 59" not in lines
        catcher.dialog.reject()
    finally:
        catcher.uninstall()
