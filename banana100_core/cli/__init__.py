"""The program `banana100`: `main` answers signals first, and imports the commands then."""

from __future__ import annotations

import sys

from banana100_core.cli.exits import Exit, stop_on_signals


def main() -> None:
    """Run the command line and end the process with one of the codes of `Exit`."""
    stop_on_signals()
    try:
        from banana100_core.cli.commands import app

        app(prog_name="banana100")
    except KeyboardInterrupt:  # before a command was there to tell of it
        sys.exit(Exit.INTERRUPTED)
    except OSError as error:  # help that can't be printed, as on a full disk
        print(f"banana100: {error.strerror or error}", file=sys.stderr)
        sys.exit(Exit.UNUSABLE)
