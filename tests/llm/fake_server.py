"""A real server on the loopback that speaks the OpenAI protocol, well or as badly as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """A request as the server received it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Exchange(BaseHTTPRequestHandler):
    """A request and the means to answer it, for the script of a test."""

    server: FakeServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            self.server.seen.append(Seen(self.path, headers, json.loads(body)))
            self.number = len(self.server.seen)
        try:
            self.server.play(self)
        except OSError:
            self.server.hung_up.set()
        self.close_connection = True

    do_GET = do_POST  # noqa: N815 - the library's name; a followed redirect would arrive here

    def log_message(self, format: str, *args: object) -> None:
        """Tests read what they assert, not a log."""

    def begin(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def answer(self, status: int, body: str, kind: str = "application/json", **headers: str) -> None:
        self.begin(status, kind, Content_Length=str(len(body.encode())), **headers)
        self.wfile.write(body.encode())

    def event(self, choice: dict[str, Any] | None = None, **delta: Any) -> None:
        self.line(json.dumps({"choices": [{"index": 0, "delta": delta, **(choice or {})}]}))

    def line(self, text: str) -> None:
        self.wfile.write(f"data: {text}\n\n".encode())

    def stop(self, reason: str = "stop") -> None:
        self.event({"finish_reason": reason})
        self.line("[DONE]")

    def pause(self, seconds: float) -> None:
        """Ends early with the test."""
        if self.server.over.wait(seconds):
            raise ConnectionAbortedError


Play = Callable[[Exchange], None]


@dataclass
class Record:
    url: str
    seen: list[Seen]
    hung_up: threading.Event


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, play: Play) -> None:
        super().__init__(("127.0.0.1", 0), Exchange)
        self.play = play
        self.lock = threading.Lock()
        self.seen: list[Seen] = []
        self.over = threading.Event()
        self.hung_up = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is part of the play."""


@contextmanager
def serving(play: Play) -> Iterator[Record]:
    server = FakeServer(play)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Record(f"http://127.0.0.1:{server.server_port}/v1", server.seen, server.hung_up)
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


def says(*words: str, usage: dict[str, Any] | None = None) -> Play:
    """A well-behaved model, which counts its tokens behind the text where it is asked to."""

    def play(exchange: Exchange) -> None:
        exchange.begin()
        exchange.event(role="assistant", content="")
        for word in words:
            exchange.event(content=word)
        exchange.event({"finish_reason": "stop"})
        if usage and exchange.server.seen[exchange.number - 1].body.get("stream_options"):
            exchange.line(json.dumps({"choices": [], "usage": usage}))
        exchange.line("[DONE]")

    return play
