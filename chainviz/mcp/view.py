"""The address /mcp of a team server: the streamable HTTP transport of MCP, each request for itself, with an API token."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from importlib.util import find_spec
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from chainviz.accounts.audit.record import leave_unrecorded, note
from chainviz.accounts.permissions import requires
from chainviz.mcp.team import TeamLibrary, refusing
from chainviz.web.middleware import json_error

Message = MutableMapping[str, Any]
MISSING = 'This server has no MCP: its administrator can install it with pip install "chainviz[mcp]".'


@csrf_exempt
@requires("read", team_mode=True)
@require_POST
def mcp(request: HttpRequest) -> HttpResponse:
    if find_spec("mcp") is None:
        return json_error(501, MISSING)
    library = TeamLibrary(request)
    response = async_to_sync(_answer)(request, library)
    if library.opened:
        note(request, chains=library.opened)
    else:
        leave_unrecorded(request)
    return response


mcp.takes_tokens = True  # type: ignore[attr-defined]


async def _answer(request: HttpRequest, library: TeamLibrary) -> HttpResponse:
    """Give the request to the transport of the package `mcp`, which is an ASGI application, and return its response.

    Tools run in the thread of the request, which has its database connection.
    """
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from chainviz.mcp.server import make_server

    async def run(call: Callable[[], str]) -> str:
        return await sync_to_async(refusing, thread_sensitive=True)(call)

    manager = StreamableHTTPSessionManager(make_server(library, run), json_response=True, stateless=True)
    sent = list[Message]()

    async def receive() -> Message:
        return {"type": "http.request", "body": request.body, "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async with manager.run():
        await manager.handle_request(_scope(request), receive, send)
    return _response(sent)


def _scope(request: HttpRequest) -> dict[str, Any]:
    headers = [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in request.headers.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
    }


def _response(sent: list[Message]) -> HttpResponse:
    start = sent[0]
    response = HttpResponse(b"".join(each.get("body", b"") for each in sent[1:]), status=start["status"])
    del response["Content-Type"]
    for name, value in start["headers"]:
        if name.lower() != b"content-length":
            response[name.decode()] = value.decode("latin-1")
    return response
