"""The parse panel of an AI message, and of a pasted text: an answer of a model, or a ReAct log."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.parse.panel import panel_of, settings_in
from chainviz.chains.parse.react import react_page
from chainviz.chains.uploads.imports import format_in
from chainviz.core.chain.messages import Text
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.documents.json.long_values import LongText
from chainviz.core.toolchain import NO_SCHEMAS, tool_schemas
from chainviz.core.usage.document_usage import members_beside
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.query.windows import ALL_OPEN, windows_around
from chainviz.store.transfer.document_context import context_of
from chainviz.web.http import page_or_fragment, small_number

NEAR = 200
"""The number of rows in which the previous and the next AI message are searched."""


@dataclass(frozen=True, slots=True)
class TextPart:
    path: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class MessagePlace:
    """The message that is parsed, and the AI messages around it."""

    path: str
    number: str
    parts: tuple[TextPart, ...]
    previous: tuple[str, str] | None
    """The path and the number of the message."""
    next: tuple[str, str] | None


@requires("read")
@require_safe
def parse_message(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Find the parsed message. If `where` is a pair, its AI message is parsed; of a message, its first text."""
    path = _message_path(subject.stored, parse_path(where))
    start = subject.stored.span(Path(path.section, path.pair, path.message)).start
    row = subject.stored.rows(start, start + 1)[0]
    texts = [place for place, part in enumerate(row.shape.parts) if part.kind == "text"]
    part = path.part if path.part in texts else next(iter(texts), None)
    text = "" if part is None else _text(subject.stored, row, part)
    schemas = tool_schemas(members_beside(context_of(subject.snapshot)))
    context = {
        "subject": subject,
        "place": _place(subject.stored, path, texts, part),
        "panel": panel_of(text, settings_in(request.GET), schemas.arguments, _first_line(request)),
        "has_text": part is not None,
        "address": f"{subject.base_url}parse/{where}",
    }
    return page_or_fragment(request, "chains/parse/message.html", "chains/parse/_panel.html", context)


EXAMPLE = """The timetable fails on Sundays, so I read its tests first.

<thinking>
The importer skips the last line of a feed.
</thinking>

<action>
[
  {"tool": "read_file", "args": {"path": "tests/test_feed.py"}},
  {"args": {"path": "feed.py"}}
]
</action>
"""


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def parse_text(request: HttpRequest) -> HttpResponse:
    """Parse a pasted text, or for `?example=1` the example. Nothing of it is stored; the page returns it."""
    text = request.POST.get("text", EXAMPLE if "example" in request.GET else "").replace("\r\n", "\n")
    form = request.POST if request.method == "POST" else request.GET
    react = react_page(text, format_in(form), _first_line(request)) if text.strip() else None
    panel = panel_of(text, settings_in(form), NO_SCHEMAS.arguments, _first_line(request))
    context = {"text": text, "panel": panel, "react": react, "has_text": bool(text.strip())}
    return render(request, "chains/parse/text.html", context)


def _first_line(request: HttpRequest) -> int:
    return small_number((request.POST or request.GET).get("line", "")) or 0


def _message_path(chain: StoredChain, path: Path) -> Path:
    """Raises Http404 for a section, which is not a message."""
    if path.pair is None:
        raise Http404("A section is not a message.")
    message = path.message if path.message is not None else 0
    found = Path(path.section, path.pair, message)
    chain.span(found)
    return Path(path.section, path.pair, message, path.part)


def _text(chain: StoredChain, row: StoredMessage, part: int) -> str:
    """Read one text part, without the other parts of a message that has very many calls."""
    (found,) = chain.bodies.parts(row, range(part, part + 1))
    if isinstance(found, Text) and not isinstance(found.text, LongText):
        return found.text
    whole = chain.bodies.messages([row])[0].parts[part]
    return whole.text if isinstance(whole, Text) else ""


def _place(chain: StoredChain, path: Path, texts: list[int], part: int | None) -> MessagePlace:
    node = Path(path.section, path.pair, path.message)
    parts = tuple(TextPart(f"{node}.c{each}", each == part) for each in texts)
    rows = windows_around(chain, path.node, (NEAR, NEAR + 1, ALL_OPEN))[0].rows
    here = next((at for at, row in enumerate(rows) if row.path == path.node), 0)
    before = [row.path for row in rows[:here] if row.kind == "pair" and row.has_ai]
    after = [row.path for row in rows[here + 1 :] if row.kind == "pair" and row.has_ai]
    return MessagePlace(
        str(node),
        node.number,
        parts,
        previous=_path_and_number(before[-1]) if before else None,
        next=_path_and_number(after[0]) if after else None,
    )


def _path_and_number(path: Path) -> tuple[str, str]:
    return str(path), path.number
