"""The HTTP client under the openai library. It sends only known headers, follows no redirect, and limits the size of an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from chainviz.core.operations.summarize.writers.contract import WriterError
from chainviz.llm.endpoint import Endpoint, Limits

SENT = {"host", "accept", "content-type", "content-length", "connection", "user-agent"}
"""The headers that are sent. All others come from the machine or from OPENAI_… variables that are not ours:
fingerprints, organisations, other keys."""


class Counted(httpx2.AsyncByteStream):
    """A response body that raises an error as soon as it is too long, before it is stored."""

    def __init__(self, body: httpx2.AsyncByteStream, endpoint: Endpoint, most: int) -> None:
        self._body = body
        self._endpoint = endpoint
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for piece in self._body:
            count += len(piece)
            if count > self._most:
                raise WriterError(f"{self._endpoint.host} sent more than {self._most:,} bytes; no summary is that long.")
            yield piece

    async def aclose(self) -> None:
        await self._body.aclose()


def open_client(endpoint: Endpoint, limits: Limits) -> httpx2.AsyncClient:
    async def prepare(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in SENT]:
            del request.headers[name]
        request.headers["user-agent"] = "chainviz"
        # A compressed answer of some kilobytes could unfold to gigabytes behind the count.
        request.headers["accept-encoding"] = "identity"
        if endpoint.api_key:
            request.headers["authorization"] = f"Bearer {endpoint.api_key}"

    async def limit(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise WriterError(f"{endpoint.host} sent a compressed answer without being asked for one.", retryable=False)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = Counted(response.stream, endpoint, limits.wire_bytes)

    return httpx2.AsyncClient(
        follow_redirects=False,
        timeout=httpx2.Timeout(None, connect=limits.connect_seconds),
        event_hooks={"request": [prepare], "response": [limit]},
    )
