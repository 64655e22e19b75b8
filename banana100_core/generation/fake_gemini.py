"""A stand-in for Gemini on this machine: it speaks the wire protocol, costs nothing and is no image model.

It re-encodes each picture with a slight crop and tint, so that runs do decay, and its reasoning summary
admits noise late. Faults on demand make it as unreliable as a real service.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
import struct
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from banana100_core.catalog.faults import LASTING, Fault
from banana100_core.errors import ImageError
from banana100_core.generation.providers.resampling import encode, resample
from banana100_core.imaging.decode import Purpose, decode, sha256, sniff_media_type

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL_VERSION = "fake-gemini (a stand-in, no image model)"
ADMITS_FROM = 12  # steps after which the reasoning summary speaks of noise
LARGE = 30 * 2**20
_DRAWN_SIZE = 512, 384
# Of Gemini's own service, and of Vertex with a project or with a key alone.
_PATH = re.compile(
    r"/v1(?:beta1?)?/(?:projects/[^/]+/locations/[^/]+/)?(?:publishers/google/)?models/([^/:]+):generateContent"
)


RETIRED_MODEL = "gemini-3-pro-image"
LOG_IN = "/log-in"  # where an account of Vertex gets its token, if its key file says so
ACCOUNT = "ya29.an-account-of-the-stand-in"


class FakeGemini:
    """The server; it listens from the start and answers in threads until it is closed."""

    def __init__(
        self,
        port: int = 0,
        faults: Sequence[Fault] = (),
        *,
        retry_delay: float = 1.0,
        slow_seconds: float = 5.0,
        every: int = 2,
        answer_with: bytes | None = None,
    ) -> None:
        """Port 0 takes a free one. Each `every`-th edit that is new to the server meets the next fault.

        `answer_with` is a picture that is given instead of an edit, each time with another end.
        """
        self.answer_with = answer_with
        self.faults = tuple(faults)
        self.retry_delay, self.slow_seconds, self.every = retry_delay, slow_seconds, every
        self.accepted = 0  # calls with a body that was understood, failed ones too
        self.struck: Counter[Fault] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keep_bodies = False
        self._state = threading.Lock()
        self._seen: dict[str, list[Fault]] = {}  # what still is to happen to an edit
        self._depth: dict[str, int] = {}  # by hash: how many edits an answer is away from a first image
        self._turn = 0
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """What GOOGLE_GEMINI_BASE_URL is to be set to."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def strikes(self, model: str, edit: str) -> Fault | None:
        """Count a call in, and say what is to go wrong with it; `edit` names what is asked for."""
        with self._state:
            self.accepted += 1
            lasting = [fault for fault in self.faults if fault in LASTING]
            if Fault.UNAUTHORISED in lasting:
                return self._struck(Fault.UNAUTHORISED)
            if Fault.RETIRED in lasting and model == RETIRED_MODEL:
                return self._struck(Fault.RETIRED)
            if edit not in self._seen:
                self._seen[edit] = self._planned()
            waiting = self._seen[edit]
            return self._struck(waiting.pop()) if waiting else None

    def _struck(self, fault: Fault) -> Fault:
        self.struck[fault] += 1
        return fault

    def _planned(self) -> list[Fault]:
        passing = [fault for fault in self.faults if fault not in LASTING]
        self._turn += 1
        if not passing or self._turn % self.every:
            return []
        fault = passing[self._turn // self.every % len(passing)]
        return [fault] * (3 if fault is Fault.OVERLOADED else 1)

    def edited(self, image: bytes, *, seed: int) -> tuple[bytes, int]:
        """Give the picture as an editor would, and how many edits it is away from a first one."""
        if self.answer_with is not None:
            return self.answer_with + seed.to_bytes(8), 1
        pixels = decode(image, Purpose.DISPLAY).pixels
        height, width = pixels.shape[:2]
        cropped = pixels[height // 100 : height - height // 100, width // 100 : width - width // 100]
        restored = resample(cropped, (width, height), (0.3, 0.2)).astype(np.int16)
        restored += np.array([0, 1, -1], np.int16)  # a greenish tint, as the paper saw
        edited = restored.clip(0, 255).astype(np.uint8)
        data = encode(edited, "JPEG", quality=85 + seed % 10) if seed % 3 else encode(edited, "PNG")
        with self._state:
            depth = self._depth.get(sha256(image), 0) + 1
            self._depth[sha256(data)] = max(depth, self._depth.get(sha256(data), 0))
        return data, depth

    def know(self, data: bytes, depth: int) -> None:
        """Remember how far an answer is from a first image."""
        with self._state:
            self._depth[sha256(data)] = depth


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    fake: FakeGemini

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - as the base class has it
        """Say nothing of clients that went away."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a request to edit."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = _PATH.fullmatch(self.path.partition("?")[0])
        if path is not None:
            self._edit(path[1], raw)
        elif self.path == LOG_IN:
            self._send(200, {"access_token": ACCOUNT, "expires_in": 3600, "token_type": "Bearer"})
        else:
            self._refuse(404, "NOT_FOUND", "There is nothing here. This is a stand-in for Gemini.")

    def _edit(self, model: str, raw: bytes) -> None:
        fake = self.server.fake
        try:
            body = json.loads(raw)
            if (_field(body, "generationConfig") or {}).get("responseMimeType") == "application/json":
                self._judge(model, body["contents"][-1]["parts"][0]["text"])
                return
            image, declared, prompt = _asked(body)
        except (ValueError, LookupError, TypeError) as error:
            self._refuse(400, "INVALID_ARGUMENT", f"The request can't be read: {error}.")
            return
        if fake.keep_bodies:
            fake.bodies.append(body)
        settings = _field(body, "generationConfig") or {}
        seed = settings.get("seed") or 0
        edit = hashlib.sha256(image + f"{prompt}/{seed}".encode()).hexdigest()
        fault = fake.strikes(model, edit)
        if image and declared != sniff_media_type(image):
            self._refuse(400, "INVALID_ARGUMENT", f"The image is not {declared}.")
        elif not self._credentials:
            self._refuse(403, "PERMISSION_DENIED", "There is no API key.")
        elif fault is None or not self._failed(fault):
            try:
                answer = self._answer(image or _drawn(f"{prompt}/{seed}"), seed, fault)
            except ImageError as error:
                self._refuse(400, "INVALID_ARGUMENT", str(error))
            else:
                self._send(200, answer, cut=fault is Fault.CUT)

    @property
    def _credentials(self) -> str:
        """A key, or the token of an account."""
        return self.headers.get("x-goog-api-key") or self.headers.get("Authorization") or ""

    def _judge(self, model: str, text: str) -> None:
        """Say, as a language model would, whether a reasoning summary admits noise."""
        fault = self.server.fake.strikes(model, hashlib.sha256(text.encode()).hexdigest())
        if fault is None or not self._failed(fault):
            answer = json.dumps({"answer": "yes" if "I notice noise" in text else "no"})
            content = {"role": "model", "parts": [{"text": answer}]}
            candidate = {"content": content, "finishReason": "STOP", "index": 0}
            self._send(200, _whole({"candidates": [candidate]}, 0), cut=fault is Fault.CUT)

    def log_message(self, *args: object) -> None:
        """Keep quiet."""

    def _failed(self, fault: Fault) -> bool:
        """Answer with an error or without an image, if the fault is of that kind."""
        fake = self.server.fake
        match fault:
            case Fault.OVERLOADED:
                self._refuse(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
            case Fault.RATE_LIMITED:
                info = {
                    "@type": "type.googleapis.com/google.rpc.RetryInfo",
                    "retryDelay": f"{fake.retry_delay:g}s",
                }
                self._refuse(429, "RESOURCE_EXHAUSTED", "You exceeded your quota.", [info])
            case Fault.UNAUTHORISED:
                self._refuse(401, "UNAUTHENTICATED", f"The API key {self._credentials} is not valid.")
            case Fault.RETIRED:
                self._refuse(404, "NOT_FOUND", f"models/{RETIRED_MODEL} is not found.")
            case Fault.BLOCKED:
                self._send(200, _whole({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, 0))
            case Fault.NO_IMAGE:
                self._send(200, _empty("NO_IMAGE"))
            case Fault.SAFETY:
                self._send(200, _empty("IMAGE_SAFETY"))
            case _:
                return False
        return True

    def _answer(self, image: bytes, seed: int, fault: Fault | None) -> dict[str, Any]:
        fake = self.server.fake
        if fault is Fault.SLOW:
            time.sleep(fake.slow_seconds)
        data, depth = fake.edited(
            image, seed=seed + 1 if fault is Fault.MISLABELLED and not seed % 3 else seed
        )
        if fault is Fault.LARGE:
            data = _padded(encode(decode(data, Purpose.DISPLAY).pixels, "PNG"))
            fake.know(data, depth)
        media_type = "image/png" if fault is Fault.MISLABELLED else sniff_media_type(data)
        inline = {"inlineData": {"mimeType": media_type, "data": base64.b64encode(data).decode()}}
        plan, found = ({"text": text, "thought": True} for text in _reasoning(depth))
        parts = [plan, {"inlineData": _draft(image), "thought": True}, found]
        parts.append(
            inline
            | {"thoughtSignature": "c2lnbmVk"}
            | ({"thought": True} if fault is Fault.THOUGHT_ONLY else {})
        )
        finish = "IMAGE_QUALITY_LIMIT" if fault is Fault.UNKNOWN_FINISH else "STOP"
        content = {"role": "model", "parts": parts}
        return _whole({"candidates": [{"content": content, "finishReason": finish, "index": 0}]}, 1120)

    def _refuse(self, code: int, status: str, message: str, details: Sequence[object] = ()) -> None:
        error = {"code": code, "message": message, "status": status, "details": list(details)}
        self._send(code, {"error": error})

    def _send(self, code: int, answer: dict[str, Any], *, cut: bool = False) -> None:
        data = json.dumps(answer).encode()
        with contextlib.suppress(ConnectionError):
            self.send_response(code)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            self.close_connection = True


def _asked(body: dict[str, Any]) -> tuple[bytes, str, str]:
    """The last image of the session with its declared type, and the last prompt with all that went before."""
    contents = body["contents"]
    for content in contents:
        for part in content["parts"]:
            if content.get("role") == "model" and not _field(part, "thoughtSignature"):
                raise ValueError("an answer comes back without its thought signature")
    inlines = [
        found for content in contents for part in content["parts"] if (found := _field(part, "inlineData"))
    ]
    prompt = f"{len(contents)} " + " ".join(part["text"] for part in contents[-1]["parts"] if "text" in part)
    if not inlines:
        return b"", "", prompt
    inline = inlines[-1]
    data = base64.b64decode(inline["data"].translate(str.maketrans("-_", "+/")))  # clients write either
    return data, _field(inline, "mimeType"), prompt


def _field(table: dict[str, Any], name: str) -> Any:  # noqa: ANN401 - JSON
    """A field that clients write either way: inlineData or inline_data."""
    return table.get(name, table.get(re.sub("([A-Z])", lambda letter: f"_{letter[1].lower()}", name)))


def _whole(answer: dict[str, Any], image_tokens: int) -> dict[str, Any]:
    usage = {
        "promptTokenCount": 1305,
        "candidatesTokenCount": image_tokens,
        "thoughtsTokenCount": 275 if image_tokens else 0,
        "totalTokenCount": 1305 + image_tokens + (275 if image_tokens else 0),
    }
    return answer | {"usageMetadata": usage, "modelVersion": MODEL_VERSION}


def _empty(finish: str) -> dict[str, Any]:
    return _whole({"candidates": [{"finishReason": finish, "index": 0}]}, 0)


def _reasoning(depth: int) -> list[str]:
    seen = "The picture is to be reproduced as it is; I look at its composition and its colours."
    if depth < ADMITS_FROM:
        found = "The result is a faithful replica, crisp and without any loss of quality."
    else:
        found = "The result is close, yet I notice noise and a greenish tint that were not there before."
    return [f"**Analyzing the Image**\n\n{seen}", f"**Assessing Quality**\n\n{found}"]


def _drawn(prompt: str) -> bytes:
    """A picture of soft colours, for a prompt without an image: each prompt has its own."""
    random = np.random.default_rng(list(hashlib.sha256(prompt.encode()).digest()))
    coarse = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return encode(resample(coarse, _DRAWN_SIZE), "PNG")


def _draft(image: bytes) -> dict[str, str]:
    """What the model tries before it answers: an image of the thinking."""
    pixels = decode(image, Purpose.DISPLAY).pixels
    tried = encode(pixels[::8, ::8], "JPEG", quality=60)
    return {"mimeType": "image/jpeg", "data": base64.b64encode(tried).decode()}


def _padded(png: bytes) -> bytes:
    """Give a PNG with a private chunk that readers pass over, so that it is as large as a picture of 4K."""
    chunk = b"baNa" + bytes(LARGE)
    packed = struct.pack(">I", LARGE) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:-12] + packed + png[-12:]
