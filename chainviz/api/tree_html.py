"""A chain as a tree for notebooks: one piece of HTML whose nodes expand and collapse without scripts, style sheets or addresses.

Nodes are called as the rows of the explorer call them. Everything that comes from the transcript is escaped text; images are
named with their sizes and never loaded (issue 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape as escape_html

from chainviz.chains.explorer.message_words import NAME, header_words, pair_words, words_of
from chainviz.chains.render.rows import TEASER
from chainviz.chains.render.visible_text import one_line
from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall
from chainviz.core.chain.tree import BodyPair, parse
from chainviz.core.counts import count_text
from chainviz.core.errors import visible, visible_lines
from chainviz.store.content.message_shapes import shape_of
from chainviz.web.formatting import byte_text

MOST_MESSAGES = 500
MOST_CHARACTERS = 4000
NO_TOOLS: Mapping[str, str] = {}
PRE = '<pre style="white-space: pre-wrap; overflow-wrap: anywhere">'
"""The style of texts, which are at most as wide as the cell of the notebook."""


def tree_html(messages: Sequence[Message], format: str, title: str) -> str:
    """Return sections and pairs as <details>. What is left out is counted."""
    return "".join(_tree(messages, format, title))


def _tree(messages: Sequence[Message], format: str, title: str) -> Iterator[str]:
    tree = parse(messages[:MOST_MESSAGES])
    size = byte_text(sum(message.size for message in messages))
    yield f"<div><p><b>{_escape(title)}</b> {_escape(format)}, {count_text(len(messages), 'message')}, {size}</p>"
    for number, section in enumerate(tree.sections, 1):
        yield f"<details open><summary><b>§{number}</b> {byte_text(section.size)}</summary><ul>"
        for message in section.header:
            _, name, _ = header_words(shape_of(message))
            yield f"<li>{_message(message, name)}</li>"
        for place, pair in enumerate(section.body, 1):
            yield f"<li><details>{_pair_row(f'{number}.{place}', pair)}<ul>"
            tools = {call.id: call.name for call in pair.ai.calls} if pair.ai else {}
            for message in pair.messages:
                words = words_of(shape_of(message), tools)
                yield f"<li>{_message(message, f'{words.name} {words.kind}'.strip(), tools)}</li>"
            yield "</ul></details></li>"
        yield "</ul></details>"
    if len(messages) > MOST_MESSAGES:
        yield f"<p>{count_text(len(messages) - MOST_MESSAGES, 'more message')}: print(chain) shows all of them.</p>"
    yield "</div>"


def _pair_row(number: str, pair: BodyPair[Message]) -> str:
    _, name, teaser = pair_words(pair.type, [shape_of(message) for message in pair.messages[:2]], has_ai=pair.ai is not None)
    said = f" <span>{_escape(one_line(teaser, TEASER))}</span>" if teaser else ""
    return f"<summary>{number} <b>{_escape(one_line(name, NAME))}</b>{said} {byte_text(pair.size)}</summary>"


def _escape(text: str) -> str:
    """Escape text for HTML, and write out invisible characters, such as those that change the direction of a text."""
    return escape_html(visible(text))


def _escape_lines(text: str) -> str:
    return escape_html(visible_lines(text.split("\n")))


def _message(message: Message, name: str, tools: Mapping[str, str] = NO_TOOLS) -> str:
    parts = "".join(_part(part, tools) for part in message.parts)
    return f"<b>{_escape(name)}</b> {byte_text(message.size)}{parts}"


def _part(part: Part, tools: Mapping[str, str]) -> str:
    label, text = _words(part, tools)
    left = len(text) - MOST_CHARACTERS
    more = f"\n… {count_text(left, 'more character')}" if left > 0 else ""
    return f"<div><i>{_escape(label)}</i>{PRE}{_escape_lines(text[:MOST_CHARACTERS])}{more}</pre></div>"


def _words(part: Part, tools: Mapping[str, str]) -> tuple[str, str]:
    match part:
        case Text():
            return "text", part.text
        case Thinking():
            return "reasoning", part.content
        case ToolCall():
            return f"call {part.name} ({part.id})", part.arguments
        case Image() | Binary():
            return "image or file", byte_text(part.size)
        case Opaque():
            return part.kind, part.text
    media = f", with {len(part.media)} images or files" if part.media else ""
    name = part.name or tools.get(part.call_id, "")
    return f"result {name} ({part.call_id}){', an error' if part.is_error else ''}{media}", part.content
