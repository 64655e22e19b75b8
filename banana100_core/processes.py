"""Worker processes: heavy work apart, so that a crash or a kill there can't end or stall the caller.

A worker is a fresh interpreter that imports neither the caller's main script nor Qt. The two speak in pickles
over the worker's standard input and output, which belong to the same user and never leave the machine.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from banana100_core.errors import WorkerDiedError
from banana100_core.installation import is_frozen

Handler = Callable[[Any], Any]
"""What a worker does with a message; its return value is the reply."""

WORKER_FLAG = "--banana100-worker"
GIVE_WAY = "BANANA100_GIVE_WAY"
"""An environment variable: with 0, workers in the background claim their share of a busy machine."""

_HEADER = struct.Struct(">Q")
_STDERR_TAIL = 2000  # bytes of a dead worker's last words that are worth showing
_emit_event: Callable[[object], None] | None = None


class SilentWorkerError(WorkerDiedError):
    """A worker told nothing for longer than its caller waits, and was ended."""


class WorkerProcess:
    """A process that answers one request at a time; it starts with the first one, and anew after it died.

    `factory` runs once in the child and gives the handler; it and all messages must be picklable. The child
    ends by itself when the caller's process is gone. It ignores Ctrl+C, which is the caller's to answer.
    """

    def __init__(
        self,
        factory: Callable[[], Handler],
        name: str,
        *,
        background: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`background`: be the first to go when memory runs out, and give way to others (see `GIVE_WAY`)."""
        self.name = name
        self._factory = factory
        self._background = background
        self._environment = dict(environment or {})
        self._lock = threading.Lock()  # one request at a time
        self._state = threading.Lock()  # guards _child and _stopped, for stop() from another thread
        self._child: _Child | None = None
        self._stopped = False
        self._request_number = 0

    @property
    def pid(self) -> int | None:
        """The process id while a child is alive."""
        child = self._child
        return child.process.pid if child is not None and child.process.poll() is None else None

    def request(
        self,
        message: object,
        timeout: float | None = None,
        on_event: Callable[[Any], None] | None = None,
        *,
        patience: float | None = None,
    ) -> Any:  # noqa: ANN401 - the reply is whatever the handler returns
        """Send a message and wait for the reply; `on_event` gets what the handler emits until then.

        Raises WorkerDiedError when the child dies, is stopped, or takes more than `timeout` seconds (it is
        ended then), SilentWorkerError when it emits nothing for `patience` seconds (likewise), and whatever
        the handler raised.
        """
        with self._lock:
            child = self._living_child()
            self._request_number += 1
            number = self._request_number
            deadline = None if timeout is None else time.monotonic() + timeout
            child.send((number, message))
            while True:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                waits = min((each for each in (left, patience) if each is not None), default=None)
                try:
                    frame = child.frames.get(timeout=waits)
                except queue.Empty:
                    child.end(timeout=0)
                    if waits != left:
                        raise SilentWorkerError(
                            f"The worker {self.name} was silent for {patience:.0f} seconds and was ended."
                        ) from None
                    raise WorkerDiedError(
                        f"The worker {self.name} gave no answer within {timeout:.0f} seconds and was ended."
                    ) from None
                if frame is None:
                    raise self._death(child)
                kind, of_request, content = pickle.loads(frame)  # noqa: S301 - from our own child
                if of_request != number:
                    continue  # the end of a request that the caller gave up
                if kind == "event":
                    if on_event is not None:
                        on_event(content)
                elif kind == "reply":
                    return content
                else:
                    error, where = content
                    error.add_note(f"In the worker {self.name}:\n{where}")
                    raise error

    def stop(self, timeout: float = 5.0) -> None:
        """End the child, at once and for good; a request in flight raises WorkerDiedError."""
        with self._state:
            self._stopped = True
            child, self._child = self._child, None
        if child is not None:
            child.end(timeout)

    def _living_child(self) -> _Child:
        with self._state:
            if self._stopped:
                raise WorkerDiedError(f"The worker {self.name} was stopped.")
            if self._child is None or self._child.process.poll() is not None:
                if self._child is not None:
                    self._child.end(timeout=0)
                self._child = _Child(self._factory, self.name, self._environment, background=self._background)
            return self._child

    def _death(self, child: _Child) -> WorkerDiedError:
        if self._stopped:
            return WorkerDiedError(f"The worker {self.name} was stopped.")
        code = child.process.wait()
        try:
            how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        except ValueError:
            how = f"was killed by signal {-code}"
        last_words = child.last_words()
        return WorkerDiedError(f"The worker {self.name} {how}.{' ' + last_words if last_words else ''}")


class _Child:
    """One life of a worker: the process, and a thread that reads what it says."""

    def __init__(
        self, factory: Callable[[], Handler], name: str, environment: dict[str, str], *, background: bool
    ) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self.process = subprocess.Popen(
            _command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=os.environ | environment,
            **_process_options(),
        )
        self._stdin = cast("IO[bytes]", self.process.stdin)
        self.frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name=f"{name} (replies)", daemon=True)
        self._reader.start()
        # Pickled apart, since the child can only unpickle it once the path is set.
        self.send({"path": sys.path, "background": background, "factory": pickle.dumps(factory)})

    def send(self, message: object) -> None:
        data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
        # That the child is dead is told by the reader, with more to say than a broken pipe.
        with contextlib.suppress(OSError, ValueError):
            _write_frame(self._stdin, data)

    def end(self, timeout: float) -> None:
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(timeout=1.0)  # a grandchild may hold the pipe open
        self._stderr.close()

    def last_words(self) -> str:
        try:
            size = self._stderr.seek(0, os.SEEK_END)
            self._stderr.seek(max(0, size - _STDERR_TAIL))
            return self._stderr.read().decode("utf-8", "replace").strip()
        except ValueError:  # closed by stop()
            return ""

    def _read(self) -> None:
        with cast("IO[bytes]", self.process.stdout) as stdout:
            while (frame := _read_frame(stdout)) is not None:
                self.frames.put(frame)
        self.frames.put(None)


def emit(event: object) -> None:
    """Inside a handler: give the caller's `on_event` a partial result. Elsewhere it does nothing."""
    if _emit_event is not None:
        _emit_event(event)


def serve_if_worker(argv: list[str]) -> None:
    """Become a worker if `argv` asks for it; a frozen program calls this before all else."""
    if argv[1:2] == [WORKER_FLAG]:
        serve()


def serve() -> None:
    """Be the child: take messages from standard input until it closes. Never returns."""
    global _emit_event  # noqa: PLW0603 - one worker, one channel
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = _take_standard_streams()
    frame = _read_frame(requests)
    if frame is None:
        os._exit(0)
    setup = pickle.loads(frame)  # noqa: S301 - from the process that started us
    sys.path[:] = setup["path"]
    if setup["background"]:
        _go_into_the_background(gives_way=os.environ.get(GIVE_WAY) != "0")
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_take_requests, args=(requests, inbox), daemon=True).start()

    sending = threading.Lock()  # a handler's threads may emit side by side
    number = 0

    def send(kind: str, content: object) -> None:
        data = pickle.dumps((kind, number, content), protocol=pickle.HIGHEST_PROTOCOL)
        with sending:
            _write_frame(replies, data)

    _emit_event = functools.partial(send, "event")
    handler: Handler | None = None
    while True:
        number, message = pickle.loads(inbox.get())  # noqa: S301 - from the process that started us
        try:
            if handler is None:
                handler = pickle.loads(setup["factory"])()  # noqa: S301 - from the process that started us
            send("reply", handler(message))
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller must hear of it
            send("error", (_picklable(error), traceback.format_exc()))


def _command() -> list[str]:
    if is_frozen():
        return [sys.executable, WORKER_FLAG]
    path = [entry for entry in sys.path if entry]
    code = f"import sys; sys.path[:0] = {path!r}; from banana100_core.processes import serve; serve()"
    return [sys.executable, "-c", code]


def _process_options() -> dict[str, Any]:
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}


def _take_standard_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the two pipes for ourselves; what libraries print goes to standard error."""
    descriptors = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)
    return os.fdopen(descriptors[0], "rb"), os.fdopen(descriptors[1], "wb")


def _take_requests(requests: IO[bytes], inbox: queue.SimpleQueue[bytes]) -> None:
    while (frame := _read_frame(requests)) is not None:
        inbox.put(frame)
    os._exit(0)  # the caller stopped us, or is gone: nobody waits for what we are at


def _go_into_the_background(*, gives_way: bool) -> None:
    if sys.platform == "win32":
        import ctypes

        if gives_way:
            below_normal = 0x4000
            kernel = ctypes.windll.kernel32
            kernel.SetPriorityClass(kernel.GetCurrentProcess(), below_normal)
    else:
        if gives_way:
            os.nice(15)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - anything can go wrong in a foreign __reduce__
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _write_frame(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(_HEADER.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def _read_frame(pipe: IO[bytes]) -> bytes | None:
    """Give the next frame, None at the end or when the other side died in the middle of one."""
    try:
        header = pipe.read(_HEADER.size)
        if len(header) < _HEADER.size:
            return None
        (size,) = _HEADER.unpack(header)
        data = pipe.read(size)
    except (OSError, ValueError):
        return None
    return data if len(data) == size else None
