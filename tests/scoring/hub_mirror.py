"""A stand-in for Hugging Face's hub over HTTP, which refuses, breaks off, falls silent and lies on demand."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

REVISION = "0123456789" * 4
STORE = "/store"  # where the hub sends a loader for a file's bytes
_SECONDS = 60


@dataclass
class Mirror:
    """Files by path, what goes wrong with each, and what was asked for."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    statuses: dict[str, int] = field(default_factory=dict)
    told_digests: dict[str, str] = field(default_factory=dict)  # else the content's
    hangs_up_once_after: dict[str, int] = field(default_factory=dict)
    stalls_after: dict[str, int] = field(default_factory=dict)  # bytes; 0: gives no answer at all
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_what: object) -> None:
        """Say nothing of loaders that hang up."""


def run_mirror() -> Iterator[Mirror]:
    """Run an empty mirror until it is not needed any more."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            path = self.path.partition("?")[0]
            if mirror.stalls_after.get(path) == 0:
                mirror.released.wait(_SECONDS)
            elif path not in mirror.files or path in mirror.statuses:
                self._say_no(path)
            else:
                self._send_to_store(path, mirror.files[path])

        def do_GET(self) -> None:
            path, part = self.path.partition("?")[0].removeprefix(STORE), self.headers.get("Range")
            mirror.asked.append((path, part))
            content = mirror.files.get(path)
            if content is None or path in mirror.statuses:
                self._say_no(path)
                return
            start = int(part.removeprefix("bytes=").rstrip("-")) if part else 0
            self.send_response(206 if part else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            stops = mirror.hangs_up_once_after.pop(path, None)
            stalls = mirror.stalls_after.get(path)
            self.wfile.write(content[start:][: stalls or stops])
            if stalls:
                self.wfile.flush()
                mirror.released.wait(_SECONDS)

        def _send_to_store(self, path: str, content: bytes) -> None:
            self.send_response(302)
            store = mirror.address.replace("127.0.0.1", "localhost")  # another host, as the hub's is
            self.send_header("Location", f"{store}{STORE}{path}")
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("X-Linked-Size", str(len(content)))
            digest = mirror.told_digests.get(path) or hashlib.sha256(content).hexdigest()
            self.send_header("X-Linked-ETag", f'"{digest}"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _say_no(self, path: str) -> None:
            self.send_response(mirror.statuses.get(path, 404))
            self.send_header("X-Error-Code", "EntryNotFound" if path not in mirror.statuses else "GatedRepo")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_what: object) -> None:
            """Say nothing."""

    server = _Server(("127.0.0.1", 0), Handler)
    mirror = Mirror(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield mirror
    finally:
        mirror.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def use_mirror(patch: pytest.MonkeyPatch, mirror: Mirror, home: Path) -> None:
    """Let weights come from a mirror into empty folders."""
    patch.setenv("HF_ENDPOINT", mirror.address)
    patch.setenv("TORCH_HOME", f"{home}/torch")
    patch.setenv("HF_HOME", f"{home}/huggingface")
    for name in (
        *("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "HF_TOKEN", "BANANA100_RALI"),
        *("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    ):
        patch.delenv(name, raising=False)
