"""Try out a built program as on somebody else's machine: python packaging/smoke.py dist/banana100-annotator

The folder is copied elsewhere and started with an empty environment: no Python, virtual environment or
repository on its path, and a home with nothing in it. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

QUIT_SECONDS = 5.0
PATIENCE_SECONDS = 300.0
WARM_STARTS = 5
FIRST_WINDOW_SECONDS = 1.5
LARGEST_MB = {"banana100-annotator": 300}
INTERRUPTED = 130


@dataclass
class Smoke:
    """A copy of the program, where it may write, and what failed."""

    program: Path
    home: Path
    failed: list[str] = field(default_factory=list)

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing but a home; Windows can't start a process without its own folder."""
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP", "TMP") if name in os.environ}
        return {**kept, "HOME": str(self.home), "USERPROFILE": str(self.home), "LANG": "C.UTF-8", **more}

    def say(self, name: str, *, well: bool, said: str) -> None:
        """Print one line, and remember what failed."""
        print(f"{'ok' if well else 'FAILED':<7} {name:<28} {said}", flush=True)
        if not well:
            self.failed.append(name)

    def run(self, *arguments: object, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        return subprocess.run(
            [self.program, *map(str, arguments)],
            cwd=self.home,
            env=self.environment(**more),
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE_SECONDS,
            check=False,
        )

    def start(self, *arguments: object, **more: str) -> subprocess.Popen[str]:
        """Start the program and don't wait for it."""
        return subprocess.Popen(
            [self.program, *map(str, arguments)],
            cwd=self.home,
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )


def main() -> int:
    """Try all."""
    built = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="elsewhere ") as place:
        folder = Path(place) / "a folder with spaces, é" / built.name
        shutil.copytree(built, folder, symlinks=True)
        home = Path(place) / "home"
        home.mkdir()
        smoke = Smoke(folder / ("banana100.exe" if os.name == "nt" else "banana100"), home)
        try_size(smoke, folder)
        try_version(smoke)
        try_self_test(smoke, "offscreen")
        if shutil.which("Xvfb"):
            with display() as name:
                try_self_test(smoke, "xcb", DISPLAY=name)
                try_first_window(smoke, QT_QPA_PLATFORM="xcb", DISPLAY=name)
        else:
            try_first_window(smoke, QT_QPA_PLATFORM="offscreen")
        if os.name != "nt":
            try_quitting(smoke, "demo", QT_QPA_PLATFORM="offscreen")
            try_quitting(smoke, "demo --no-window")
        try_what_is_beside(smoke, folder)
    print(f"{len(smoke.failed)} failed: {', '.join(smoke.failed)}" if smoke.failed else "all well")
    return 1 if smoke.failed else 0


def try_size(smoke: Smoke, folder: Path) -> None:
    """Add up its files."""
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    limit = LARGEST_MB.get(folder.name)
    smoke.say("size", well=limit is None or size < limit * 1e6, said=f"{size / 1e6:.0f} MB")


def try_version(smoke: Smoke) -> None:
    """Ask for the version, and what the machine lacks."""
    begun = time.monotonic()
    done = smoke.run("--version")
    seconds = time.monotonic() - begun
    smoke.say(
        "version", well=done.returncode == 0, said=f"{done.stdout.strip()} {done.stderr} ({seconds:.2f} s)"
    )
    done = smoke.run("doctor", "--json")
    smoke.say("doctor", well=done.returncode in {0, 1} and "Traceback" not in done.stderr, said=done.stderr)


def try_self_test(smoke: Smoke, platform: str, **more: str) -> None:
    """Let the program try itself out."""
    done = smoke.run("--self-test", QT_QPA_PLATFORM=platform, **more)
    well = done.returncode == 0
    print("".join(f"        {line}\n" for line in (done.stdout + done.stderr).splitlines()), end="")
    smoke.say(f"self-test {platform}", well=well, said="" if well else f"exit code {done.returncode}")


def try_first_window(smoke: Smoke, **more: str) -> None:
    """Measure from the start of the process until the window is painted, its files read before or not."""
    cold = drop_file_cache(smoke.program.parent)
    first = first_window(smoke, **more)
    warm = statistics.median(first_window(smoke, **more) for _start in range(WARM_STARTS))
    said = f"warm {warm:.2f} s, median of {WARM_STARTS}" + (f"; cold {first:.2f} s" if cold else "")
    smoke.say("first window", well=warm < FIRST_WINDOW_SECONDS, said=said)


def first_window(smoke: Smoke, **more: str) -> float:
    """Seconds from the start of the process until the first paint."""
    begun = time.time()
    process = smoke.start("open", "--watch", **more)
    painted = 0.0
    for line in process.stdout or ():
        if line.startswith("first window at "):
            painted = float(line.split()[-1])
        if line.startswith("panels"):
            process.terminate()
    process.wait(QUIT_SECONDS)
    return painted - begun if painted else float("inf")


def drop_file_cache(folder: Path) -> bool:
    """Have the system forget what it read of the files, as after a start of the machine."""
    if not hasattr(os, "posix_fadvise"):
        return False
    os.sync()
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
    return True


def try_quitting(smoke: Smoke, command: str, **more: str) -> None:
    """Quit while pictures are made and scored: workers end at once, and nothing that was done is lost."""
    project = smoke.home / f"{command.replace(' ', '')}.b100"
    first, *options = command.split()
    process = smoke.start(first, project, *options, **more)
    reader = threading.Thread(target=process.stdout.read, daemon=True)  # so that the pipe never fills
    reader.start()
    try:
        before = wait_for_work(project, process)
        if before is None:
            smoke.say(f"quit {command}", well=False, said=f"no work was seen; exit code {process.poll()}")
            return
        family = descendants(process.pid)
        begun = time.monotonic()
        process.terminate()
        left = wait_for_end({process.pid, *family}, process, begun + QUIT_SECONDS)
        seconds = time.monotonic() - begun
    finally:
        process.kill()
        process.wait()
    after = counts(project)
    checked = smoke.run("check", project)
    well = not left and process.returncode == INTERRUPTED and checked.returncode == 0
    well = well and len(family) >= 1 and all(now >= then for then, now in zip(before, after, strict=True))
    smoke.say(
        f"quit {command}",
        well=well,
        said=f"{len(family)} workers gone in {seconds:.1f} s; {after[0]} steps and {after[1]} scores kept; "
        f"{(checked.stdout + checked.stderr).strip()}" + (f"; still there: {left}" if left else ""),
    )


def wait_for_work(project: Path, process: subprocess.Popen[str]) -> tuple[int, int] | None:
    """Wait until some steps and scores are stored, and give how many; None if there are none."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        steps, scores = counts(project)
        if steps >= 4 and scores >= 6:
            return steps, scores
        time.sleep(0.1)
    return None


def counts(project: Path) -> tuple[int, int]:
    """Steps made and scores stored."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{project}?mode=ro", uri=True)) as connection,
    ):
        (steps,) = connection.execute("SELECT count(*) FROM step WHERE outcome = 'done'").fetchone()
        (scores,) = connection.execute("SELECT count(*) FROM score").fetchone()
        return steps, scores
    return 0, 0


def descendants(pid: int) -> set[int]:
    """Process ids of children and their children."""
    found: set[int] = set()
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found |= {int(child) for child in listing.read_text().split()}
    return found.union(*(descendants(child) for child in found))


def wait_for_end(pids: set[int], process: subprocess.Popen[str], deadline: float) -> set[int]:
    """Wait until all are gone; gives those that are not."""
    left = set(pids)
    while left and time.monotonic() < deadline:
        process.poll()  # collects it
        left = {pid for pid in left if is_running(pid)}
        time.sleep(0.02)
    return left


def is_running(pid: int) -> bool:
    """Whether a process is there, and not only waiting to be collected."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def try_what_is_beside(smoke: Smoke, folder: Path) -> None:
    """Look for licences, and on Linux install the entry for the desktop into the empty home."""
    texts = [file for file in (folder / "LICENSES").rglob("*") if file.is_file()]
    smoke.say("licences", well=len(texts) > 30, said=f"{len(texts)} texts")
    if sys.platform.startswith("linux"):
        environment = smoke.environment(PATH="/usr/bin:/bin")
        subprocess.run(["sh", folder / "install.sh"], env=environment, check=True)
        share = smoke.home / ".local" / "share"
        entry = (share / "applications" / "banana100.desktop").read_text(encoding="utf-8")
        icons = list(share.glob("icons/hicolor/*/apps/banana100.png"))
        well = f'Exec="{smoke.program}" open %f' in entry and len(icons) >= 8
        smoke.say("desktop entry", well=well, said=f"{len(icons)} sizes of the icon")


@contextlib.contextmanager
def display() -> Iterator[str]:
    """Start an X server without a screen, and give its name."""
    receiver, sender = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(sender), "-screen", "0", "1920x1200x24", "-nolisten", "tcp"],
        pass_fds=(sender,),
        stderr=subprocess.DEVNULL,
    )
    os.close(sender)
    try:
        with os.fdopen(receiver) as pipe:
            yield f":{pipe.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main())
