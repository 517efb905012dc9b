"""Compare two ranges of messages by message, part, field and line of text."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from chainviz.core.chain.messages import (
    PART_KINDS,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    PartKind,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.diff.align import Equal, Gap, align
from chainviz.core.diff.lines import TextDiff

Change = Literal["same", "changed", "added", "removed"]


class FieldChange(NamedTuple):
    """A changed short value. A side without the value is None."""

    name: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class PartDiff:
    kind: Change
    part: PartKind
    old_part: int | None
    new_part: int | None
    title: str
    """The tool's name or the file's type; "" for a text."""
    fields: tuple[FieldChange, ...] = ()
    texts: tuple[tuple[str, TextDiff], ...] = ()
    """The comparison of each text, with its kind: text, arguments, content, reasoning or JSON."""
    facts: tuple[str, ...] = ()
    """Sentences about content without lines, such as images."""
    call_id: str = ""
    """The id of a tool call, or of the call that a result answers."""


@dataclass(frozen=True, slots=True)
class MessageDiff:
    kind: Change
    role: str
    old: int | None
    """Index in the old chain; for several joined messages, that of the first."""
    new: int | None
    fields: tuple[FieldChange, ...] = ()
    parts: tuple[PartDiff, ...] = ()


def compare_messages(old: Sequence[Message], new: Sequence[Message], old_start: int = 0, new_start: int = 0) -> tuple[MessageDiff, ...]:
    """Compare message by message. Equal messages are paired first, then those with the same calls or results, then those in order."""
    return tuple(
        _message(
            None if i is None else old[i], None if k is None else new[k],
            None if i is None else old_start + i, None if k is None else new_start + k,
        )
        for i, k in _beside(old, new, [_identity_of_message, lambda message: message.role])
    )  # fmt: skip


def compare_apart(old: Sequence[Message], new: Sequence[Message], old_start: int = 0, new_start: int = 0) -> tuple[MessageDiff, ...]:
    """Compare messages with those that replaced them, such as a summary, without pairing any."""
    gone = [_message(message, None, old_start + i, None) for i, message in enumerate(old)]
    return (*gone, *(_message(None, message, None, new_start + k) for k, message in enumerate(new)))


def compare_joined(old: Sequence[Message], new: Sequence[Message], old_start: int = 0, new_start: int = 0) -> tuple[MessageDiff, ...]:
    """Compare messages that were merged or split, as if each side were one message."""
    diff = _message(_joined(old), _joined(new), old_start, new_start)
    return (diff,)


def _joined(messages: Sequence[Message]) -> Message:
    parts: list[Part] = []
    for message in messages:
        for part in message.parts:
            last = parts[-1] if parts else None
            if type(part) is Text and type(last) is Text:
                parts[-1] = Text(f"{last.text}\n{part.text}", part.reasoning or last.reasoning)
            else:
                parts.append(part)
    return Message(messages[0].role, tuple(parts))


def _identity_of_message(message: Message) -> Hashable:
    return message.role, tuple([ref.id for ref in message.calls]), tuple([ref.id for ref in message.results])


def _identity_of_part(part: Part) -> Hashable:
    match part:
        case ToolCall():
            return "call", part.id
        case ToolResult():
            return "result", part.call_id
    return PART_KINDS[type(part)]


def _beside(old: Sequence[Any], new: Sequence[Any], keys: list[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Yield pairs of indexes: equal items, then in each gap items with an equal first key, then with an equal second key, and so on."""

    def inside(gap: Gap, left: list[Any]) -> Iterator[tuple[int | None, int | None]]:
        olds, news = old[gap.old_start : gap.old_stop], new[gap.new_start : gap.new_stop]
        if not left or not olds or not news:
            yield from ((i, None) for i in range(gap.old_start, gap.old_stop))
            yield from ((None, k) for k in range(gap.new_start, gap.new_stop))
            return
        key = left[0]
        for step in align([key(item) for item in olds], [key(item) for item in news]).steps():
            if isinstance(step, Equal):
                for i in range(step.length):
                    yield gap.old_start + step.old + i, gap.new_start + step.new + i
            else:
                o, n = gap.old_start, gap.new_start
                yield from inside(Gap(o + step.old_start, o + step.old_stop, n + step.new_start, n + step.new_stop), left[1:])

    yield from inside(Gap(0, len(old), 0, len(new)), [lambda item: item, *keys])


def _message(old: Message | None, new: Message | None, old_place: int | None, new_place: int | None) -> MessageDiff:
    some = new or old
    assert some is not None
    kind: Change = "added" if old is None else "removed" if new is None else "same" if old == new else "changed"
    if kind == "same":
        return MessageDiff(kind, some.role, old_place, new_place)
    fields = _fields(("role", old.role, new.role)) if old and new else ()
    olds, news = old.parts if old else (), new.parts if new else ()
    parts = tuple(
        _part(None if i is None else olds[i], None if k is None else news[k], i, k)
        for i, k in _beside(olds, news, [_identity_of_part, type])
    )
    return MessageDiff(kind, some.role, old_place, new_place, fields, parts)


def _part(old: Part | None, new: Part | None, old_part: int | None, new_part: int | None) -> PartDiff:
    some = new if new is not None else old
    assert some is not None
    kind: Change = "added" if old is None else "removed" if new is None else "same" if old == new else "changed"
    title = _title(some)
    if kind == "same":
        return PartDiff(kind, PART_KINDS[type(some)], old_part, new_part, title)
    fields = _part_fields(old, new) if kind == "changed" else ()
    facts, call_id = _facts(old, new), _call_id(some)
    return PartDiff(kind, PART_KINDS[type(some)], old_part, new_part, title, fields, _texts(old, new), facts, call_id)


def _call_id(part: Part) -> str:
    match part:
        case ToolCall():
            return part.id
        case ToolResult():
            return part.call_id
    return ""


def _title(part: Part) -> str:
    match part:
        case ToolCall() | ToolResult():
            return part.name
        case Binary():
            return part.mime
        case Opaque():
            return part.kind
    return ""


def _fields(*rows: tuple[str, str | None, str | None]) -> tuple[FieldChange, ...]:
    return tuple(FieldChange(*row) for row in rows if row[1] != row[2])


def _part_fields(old: Part | None, new: Part | None) -> tuple[FieldChange, ...]:
    match old, new:
        case ToolCall(), ToolCall():
            return _fields(
                ("id", old.id, new.id), ("name", old.name, new.name), ("type", old.type, new.type),
                ("signature", _signature(old.reasoning), _signature(new.reasoning)),
            )  # fmt: skip
        case ToolResult(), ToolResult():
            error = {True: "an error", False: "no error"}
            return _fields(
                ("call id", old.call_id, new.call_id), ("name", old.name, new.name),
                ("error", error[old.is_error], error[new.is_error]),
            )  # fmt: skip
        case Text(), Text():
            return _fields(("signature", _signature(old.reasoning), _signature(new.reasoning)))
        case Thinking(), Thinking():
            return _fields(("signature", _short(old.signature), _short(new.signature)))
        case Image(), Image():
            return _fields(("address", _short(old.url), _short(new.url)), ("detail", old.detail, new.detail))
        case Binary(), Binary():
            return _fields(("type", old.mime, new.mime))
        case Opaque(), Opaque():
            return _fields(("kind", old.kind, new.kind))
    return ()


def _signature(reasoning: Reasoning | None) -> str | None:
    return _short(reasoning.signature) if reasoning else None


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text):,} characters)"


def _texts(old: Part | None, new: Part | None) -> tuple[tuple[str, TextDiff], ...]:
    names = dict.fromkeys([*_spelled(old), *_spelled(new)])
    pairs = [(name, _spelled(old).get(name, ""), _spelled(new).get(name, "")) for name in names]
    return tuple((name, compare_texts(a, b, json=name != "text")) for name, a, b in pairs if a != b)


def _spelled(part: Part | None) -> dict[str, str]:
    """Return the long texts of a part by kind."""
    texts: dict[str, str] = {}
    match part:
        case Text():
            texts = {"text": part.text}
        case Thinking():
            texts = {"reasoning": part.content}
        case ToolCall():
            texts = {"arguments": part.arguments}
        case ToolResult():
            texts = {"content": part.content}
        case Opaque():
            texts = {"JSON": part.text}
    if isinstance(part, Text | ToolCall) and part.reasoning:
        texts["reasoning"] = part.reasoning.content
    return texts


def _facts(old: Part | None, new: Part | None) -> tuple[str, ...]:
    """Return sentences about changed files and images, which have no lines to compare; none for other or unchanged parts."""

    def files(part: Part | None) -> list[str]:
        media = part.media if isinstance(part, ToolResult) else (part,)
        return [_fact(item) for item in media if isinstance(item, Image | Binary)]

    before, after = files(old), files(new)
    if before == after:
        changed = isinstance(old, Binary) and isinstance(new, Binary) and old.content != new.content
        return ("The bytes differ.",) if changed else ()
    return (*(f"before: {fact}" for fact in before), *(f"after: {fact}" for fact in after))


def _fact(part: Image | Binary) -> str:
    if isinstance(part, Binary):
        return f"{part.mime or 'a file'}, {part.size:,} bytes"
    return f"image {_short(part.url)}"


def compare_texts(old: str, new: str, *, json: bool) -> TextDiff:
    """Compare two texts line by line. With `json`, objects and lists are formatted first, unless only their spelling differs."""
    if json and (old != new or "\n" in old):
        a, b = written_out(old), written_out(new)
        if (a or not old) and (b or not new) and (a != b or old == new):
            return TextDiff(a, b, pretty=True)
    return TextDiff(old, new)


def written_out(text: str) -> str:
    """Return JSON formatted in lines; "" if the text is not an object or list, or formatting would lose something."""
    if text.lstrip()[:1] not in ("{", "["):
        return ""
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles)
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def _without_doubles(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        raise ValueError("a name occurs twice")
    return found
