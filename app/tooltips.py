"""Tooltips that show text from outside as it is."""

from __future__ import annotations

import html


def plain_tip(text: str) -> str:
    """Make text safe as a tooltip, where Qt takes whatever looks like HTML for HTML; line breaks are kept."""
    return f"<qt>{html.escape(text).replace(chr(10), '<br>')}</qt>" if text else ""
