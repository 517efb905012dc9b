"""A chain as a tree for notebooks: one piece of HTML whose nodes expand and collapse without scripts, style sheets or addresses.

Everything that comes from the transcript is escaped text; images are named with their sizes and never loaded (issue 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as escape_html

from chainviz.core.chain.messages import Binary, Image, Message, Opaque, Part, Text, Thinking, ToolCall
from chainviz.core.chain.parse import parse
from chainviz.core.terminal import excerpt, visible, visible_lines

MOST_MESSAGES = 500
MOST_CHARACTERS = 4000
PRE = '<pre style="white-space: pre-wrap; overflow-wrap: anywhere">'
"""No text is wider than the cell of the notebook."""


def tree_html(messages: Sequence[Message], format: str, title: str) -> str:
    """Sections and pairs as <details>; what is left out is said with its count."""
    return "".join(_tree(messages, format, title))


def _tree(messages: Sequence[Message], format: str, title: str) -> Iterator[str]:
    tree = parse(messages[:MOST_MESSAGES])
    size = sum(message.size for message in messages)
    yield f"<div><p><b>{_escape(title)}</b> {_escape(format)}, {len(messages):,} messages, {size:,} bytes</p>"
    for number, section in enumerate(tree.sections, 1):
        yield f"<details open><summary><b>§{number}</b> {section.size:,} bytes</summary><ul>"
        for message in section.header:
            yield f"<li>{_message(message)}</li>"
        for place, pair in enumerate(section.body, 1):
            teaser = _teaser(pair.messages)
            head = f"{number}.{place} {_escape(pair.type)}, {pair.size:,} bytes"
            yield f"<li><details><summary>{head} <span>{teaser}</span></summary><ul>"
            yield from (f"<li>{_message(message)}</li>" for message in pair.messages)
            yield "</ul></details></li>"
        yield "</ul></details>"
    if len(messages) > MOST_MESSAGES:
        yield f"<p>{len(messages) - MOST_MESSAGES:,} more messages: print(chain) shows all of them.</p>"
    yield "</div>"


def _escape(text: str) -> str:
    """Characters that cannot be seen, such as those that turn the direction of a text, are written out."""
    return escape_html(visible(text))


def _escape_lines(text: str) -> str:
    return escape_html(visible_lines(text.split("\n")))


def _message(message: Message) -> str:
    parts = "".join(_part(part) for part in message.parts)
    return f"<b>{_escape(message.role)}</b> {message.size:,} bytes{parts}"


def _part(part: Part) -> str:
    label, text = _words(part)
    left = len(text) - MOST_CHARACTERS
    more = f"\n… {left:,} more characters" if left > 0 else ""
    return f"<div><i>{_escape(label)}</i>{PRE}{_escape_lines(text[:MOST_CHARACTERS])}{more}</pre></div>"


def _words(part: Part) -> tuple[str, str]:
    match part:
        case Text():
            return "text", part.text
        case Thinking():
            return "reasoning", part.content
        case ToolCall():
            return f"call {part.name} ({part.id})", part.arguments
        case Image() | Binary():
            return "image or file", f"{part.size:,} bytes"
        case Opaque():
            return part.kind, part.text
    media = f", with {len(part.media)} images or files" if part.media else ""
    return f"result {part.name} ({part.call_id}){', an error' if part.is_error else ''}{media}", part.content


def _teaser(messages: Sequence[Message]) -> str:
    texts = (_words(part)[1] for message in messages for part in message.parts)
    return _escape(excerpt(next((text for text in texts if text.strip()), ""), 80))
