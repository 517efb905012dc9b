"""The address /mcp of a team server: its chains, with the rights of the token that a request carries.

The transport is MCP's streamable HTTP, each request for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from asgiref.sync import async_to_sync, sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from chainviz.accounts.audit import leave_unrecorded, note
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import Permission, requires, scope_of
from chainviz.api.chain import Chain, load
from chainviz.api.tree_text import report_line
from chainviz.chains.diff.runs import subject_named
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports.downloads import ExportLocked, require_subject_unlocked
from chainviz.chains.exports.export import Export
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError, Refused
from chainviz.http_api.chains import chains
from chainviz.http_api.drafts import run_operation
from chainviz.http_api.shapes import ChainQuery, FoundShape, OperationCall
from chainviz.mcp.library import Fix, Search, Sessions
from chainviz.web.middleware import json_error

MOST = 64 * 2**20
"""The most content bytes of a chain that a tool opens."""


@dataclass
class TeamLibrary:
    """The chains of a team. A number such as 12 names a chain, 12.3 its version 3."""

    request: HttpRequest
    opened: list[str] = field(default_factory=list)
    """The addresses whose content was sent or changed, for the audit log."""

    def sessions(self, search: Search) -> Sessions:
        if search.project:
            raise OptionsError("A team server knows no folders; search for words in titles and texts instead.")
        try:
            query = ChainQuery.model_validate({"q": search.words, "format": search.agent.replace("-", "_"), "limit": search.limit})
        except ValidationError as error:
            raise OptionsError(str(error.errors()[0]["msg"])) from None
        page = chains(self.request, query)
        lines = [_line(each) for each in page.chains]
        return Sessions(lines, "More chains match; search for something narrower." if page.next else "")

    def chains(self, address: str) -> Sequence[Chain]:
        return [self._chain(self._subject(address, "export"))]

    def fix(self, address: str, write: bool) -> Fix:
        subject = self._subject(address, "export")
        chain = self._chain(subject)
        options = {"goal": chain.provider, "resumes": True}
        made = chain.run("repair", options)
        lines = (*map(report_line, made.report), *made.warnings)
        if made.chain is chain:
            return Fix(lines, "Errors remain that no fix removes." if lines else "Nothing to fix: its API accepts it.")
        if write:
            return Fix(lines, self.save(address, 1, "repair", options))
        return Fix(lines, "Checked only: these fixes would make it valid. Nothing was written.")

    def save(self, address: str, number: int, operation: str, options: Mapping[str, Any]) -> str:
        subject = self._subject(address, "save")
        call = OperationCall.model_validate({"options": dict(options), "version": subject.version})
        made = run_operation(self.request, subject.chain.pk, operation, call).value
        return f"Kept as a draft that the person can save: {made.url}"

    def _subject(self, address: str, permission: Permission) -> Subject:
        if not member_of(self.request).may(permission):
            raise Refused(f"This tool needs a token with the scope “{scope_of(permission)}” and a role that allows it.")
        subject = subject_named(self.request, address)
        self.opened.append(address)
        return subject

    def _chain(self, subject: Subject) -> Chain:
        require_subject_unlocked(subject)
        if subject.snapshot.size > MOST:
            raise Refused(f"This chain has {subject.snapshot.size:,} bytes; tools open chains up to {MOST:,}. Open its page instead.")
        (chain,) = load(b"".join(Export.to(subject, "").chain()), subject.snapshot.format)
        return chain


def _line(chain: FoundShape) -> str:
    hits = "".join(f"  | {hit.path}: {hit.text}" for hit in chain.hits[:2])
    return f"{chain.id}.{chain.version}  {chain.format}  {count_text(chain.messages, 'message')}  {chain.title}{hits}"


def refusing(call: Callable[[], str]) -> str:
    """Run a tool; what the web application would answer with a page becomes a sentence. Raises ChainError."""
    try:
        return call()
    except Http404:
        raise Refused("There is no chain with this number and version, or you have no access.") from None
    except ExportLocked as locked:
        raise Refused(str(locked)) from None


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
