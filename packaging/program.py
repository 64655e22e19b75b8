"""Where the frozen program begins: as a worker if it was started as one, else as the command line."""

from __future__ import annotations

import os
import sys

from banana100_core.processes import serve_if_worker

if __name__ == "__main__":
    serve_if_worker(sys.argv)

    # A program without a console has none of these streams, and some libraries write to them unasked.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115

    from banana100_core.cli import main

    # Started from a desktop, the program gets no command: nothing, or the file that was double-clicked.
    given = sys.argv[1:]
    if not given or (len(given) == 1 and given[0].endswith(".b100")):
        sys.argv[1:] = ["open", *given]
    main()
