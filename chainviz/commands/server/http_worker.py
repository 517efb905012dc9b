"""A gunicorn worker that adds our security headers to its own error responses, because invalid HTTP requests reach no middleware."""

from __future__ import annotations

from typing import Any

from gunicorn.workers.gthread import ThreadWorker

CLOSE = b"Connection: close\r\n"
HEADERS = (
    b"X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n"
    b"Cross-Origin-Opener-Policy: same-origin\r\nCache-Control: no-store\r\n"
    b"Content-Security-Policy: default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n"
)


class Worker(ThreadWorker):  # type: ignore[misc]
    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:
        super().handle_error(req, _WithHeaders(client), addr, exc)


class _WithHeaders:
    """A client's connection that adds the headers to the one response it gets."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def sendall(self, answer: bytes) -> None:
        self._client.sendall(answer.replace(CLOSE, CLOSE + HEADERS, 1))
