"""A chain as Markdown. Text that could be HTML, a picture or the end of its fence is always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from chainviz.chains.exports.walk import Told, number_of, role_of
from chainviz.chains.render.json_text import lay_out
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.web.formatting.byte_text import byte_text

_TICKS = re.compile("`+|~+")
_ACTIVE = re.compile(r"<|!\[|\]\s*:|\]\(\s*(?!https?://)|javascript:|data:", re.IGNORECASE)
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|!~&])")
FOLD_FROM = 1_500
"""Characters of a call or result that is folded."""


def markdown_text(told: Told) -> Iterator[str]:
    yield f"# {_words(told.title)}\n\n{_words(told.source)}.\n"
    section = 0
    for path, message in told.walk():
        if path.section != section:
            section = path.section
            yield f"\n## Section {section}\n"
        yield f"\n### {number_of(path)} {_words(role_of(message))}\n\n"
        yield _body(message)


def _body(message: Message) -> str:
    return "\n".join(_part(part) for part in message.parts) or "Empty\n"


def _part(part: Part) -> str:
    match part:
        case Text():
            return _reasoning(part) + _prose(part.text)
        case Thinking():
            return _folded("Reasoning", part.content) if not part.redacted else "Encrypted reasoning\n"
        case ToolCall():
            return _reasoning(part) + _block(f"Call of {part.name} ({part.id})", part.arguments)
        case ToolResult():
            words = f"{'Error' if part.is_error else 'Result'} for {part.call_id}, {byte_text(part.size)}"
            return "\n".join((_block(words, part.content), *map(_media, part.media)))
        case Image() | Binary():
            return _media(part)
        case Opaque():
            return _folded(f"{part.kind}: a part of an unknown kind", part.text)


def _reasoning(part: Text | ToolCall) -> str:
    held = part.reasoning is not None and bool(part.reasoning.content)
    return _folded("Reasoning", part.reasoning.content) + "\n" if held and part.reasoning else ""


def _prose(text: str) -> str:
    """As a quotation, so that headings in it are none of the file; fenced where it could be more than text."""
    shown = marks(text)
    if not shown.strip():
        return "Empty text\n"
    if _ACTIVE.search(shown):
        return _fence(shown)
    return "".join(f"> {line}\n" for line in shown.split("\n"))


def _block(words: str, text: str) -> str:
    if len(text) > FOLD_FROM:
        return _folded(words, text)
    return f"{_words(words)}\n\n{_fence(lay_out(text) or text)}"


def _folded(words: str, text: str) -> str:
    head = escape(marks(one_line(words, 200)))
    return f"<details><summary>{head}</summary>\n\n{_fence(lay_out(text) or text)}\n</details>\n"


def _fence(text: str) -> str:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{marks(text)}\n{fence}\n"


def _media(part: Image | Binary) -> str:
    if isinstance(part, Binary):
        return f"A file, {_words(part.mime or 'of an unknown type')}, {byte_text(len(part.content))}: not in this copy\n"
    where = "in the chain itself" if part.url.startswith("data:") else f"at {_words(one_line(part.url, 300))}"
    return f"A picture {where}\n"


def _words(text: str) -> str:
    return _SIGNS.sub(r"\\\1", marks(one_line(text, 300)))
