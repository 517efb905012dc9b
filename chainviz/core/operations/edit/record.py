"""Keep the records of edited messages in line with their parts: copies of a text follow it, and records say what the messages say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import Fragment, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.documents.assemble import units_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.formats.contract import Format, Style, unit_form
from chainviz.core.formats.conversion import without_source
from chainviz.core.formats.coverage import KNOWN_FIELDS


def with_copies(old: Message, new: Message) -> Message:
    """Return the changed message, with each text of its record that repeats a changed text changed as well. Several formats write a text
    twice, such as LiteLLM's `reasoning_content` and `thinking_blocks`. A record with several messages keeps its copies."""
    texts = dict(_changed_texts(old, new))
    if not texts or shares_record(new):
        return new
    return replace(new, source=tuple(_with_texts(fragment, texts) for fragment in new.source))


def shares_record(message: Message) -> bool:
    return any(fragment.blocks is not None for fragment in message.source)


def _changed_texts(old: Message, new: Message) -> Iterator[tuple[str, str]]:
    kept = {_text(part) for part in new.parts}
    if len(old.parts) == len(new.parts):
        pairs = ((_text(before), _text(after)) for before, after in zip(old.parts, new.parts, strict=True))
        yield from ((before, after) for before, after in pairs if before and before not in kept)


def _text(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Thinking() | ToolResult():
            return part.content
    return ""


def _with_texts(fragment: Fragment, texts: dict[str, str]) -> Fragment:
    try:
        copies = [(place, texts[text]) for place, text in _strings(json_edit.parse(fragment.text), ()) if text in texts]
    except (ValueError, RecursionError):
        return fragment
    text = fragment.text
    for place, new in copies:
        text = json_edit.replace_at(text, place, json_edit.spelled_like(new, text))
    return fragment.with_text(text)


def _strings(value: Any, place: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the strings of a decoded record, except those of ids, roles and the like."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in KNOWN_FIELDS:
                yield from _strings(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*place, index))


def with_role(message: Message, role: str) -> Message:
    """Return the message with another role, in a record of its own if it shares one."""
    new = replace(message, role=role, label="")
    return without_source(new) if shares_record(message) else new


def is_read_again(format: Format, before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Return False if the records of the messages after a change would be read as other messages. A format that reads a record together
    with its surroundings is not judged: it reads other messages even from the records before the change."""
    return _read(format, before) != _turns(before) or _read(format, after) == _turns(after)


def _read(format: Format, messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return what the records of the messages say when they are read without the rest of the document."""
    sources = [message.source and format.write(message, Style(near=message.source[0].text)) for message in messages]
    pairs = enumerate(zip(sources, messages, strict=True))
    written = (source or format.write(message, Style(number=place)) for place, (source, message) in pairs)
    units = []
    for place, text in enumerate(units_of(written, unit_form(format))):
        with suppress(ValueError, RecursionError):
            units.append(Unit(place, "", text, json_edit.parse(text) if format.blocks_at else text, -1))
    return _turns([each for each in format.read(units) if isinstance(each, Message)])


def _turns(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return the role and the texts of each turn. Formats may join messages of one role."""
    found: list[tuple[str, str]] = []
    for message in messages:
        text = "".join(map(_text_in_turn, message.parts))
        if found and found[-1][0] == message.role:
            found[-1] = (message.role, found[-1][1] + text)
        elif text:
            found.append((message.role, text))
    return found


def _text_in_turn(part: Part) -> str:
    match part:
        case ToolCall():
            return part.name
        case Image():
            return part.url
        case Opaque():
            return part.text
    return _text(part)
