"""The form of a node: its editable values, and the edits of a filled-in form. Knows no request and no draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chainviz.core.chain.messages import PART_KINDS, ROLE_NAMES, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.errors import OptionsError, PathError
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.operations.edit.values import INVALID_ARGUMENTS
from chainviz.core.operations.edit.warnings import is_signed
from chainviz.drafts.edit.arguments import indented, on_one_line
from chainviz.store.content.chain import StoredChain
from chainviz.web.formatting import byte_text, for_field, from_field

MOST_IN_A_ROW = 100_000
"""The longest text, in characters, that is edited together with others. A longer text has its own page."""
MOST_ALONE = 2_000_000
MOST_MESSAGES = 10
MOST_PARTS = 16
ROLES = ("system", "human", "ai", "tool")
ICONS = {
    "text": "comment", "thinking": "reasoning", "image": "image", "binary": "file",
    "tool_call": "tool", "tool_result": "tool", "opaque": "info",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartFields:
    path: Path
    kind: str
    icon: str
    title: str
    size: str
    value: str = ""
    """The long text of the part: text, arguments or content."""
    name: str = ""
    call_id: str = ""
    is_error: bool = False
    too_long: str = ""
    """The reason why the text has no field on this page; the part's own page may have one."""
    is_locked: bool = False
    """The part cannot be edited."""
    error: str = ""
    is_pending: bool = False
    """The part is a call without a result."""
    answer: str = ""
    """The text that was typed as the result of the call."""

    @property
    def dom(self) -> str:
        return self.path.dom_id

    @property
    def json_error(self) -> str:
        """The error, if it is about invalid JSON arguments; else ""."""
        return self.error if INVALID_ARGUMENTS in self.error else ""

    @property
    def rows(self) -> int:
        """The number of lines of the text area, for browsers that cannot fit its height to the text."""
        return min(24, max(3, self.value.count("\n") + 2 + len(self.value) // 140))


@dataclass(frozen=True, slots=True)
class Card:
    """One message of the node."""

    path: Path
    role: str
    role_name: str
    size: str
    parts: tuple[PartFields, ...]
    parts_before: int
    parts_after: int
    """Parts of the message before and after those shown."""
    new: Mapping[str, str] = field(default_factory=dict)
    """The values that were typed for a new part, by the fields of NEW_PART."""

    @property
    def adds_part(self) -> bool:
        return any(self.new.values())

    @property
    def next_part(self) -> int:
        return self.parts_before + len(self.parts)

    @property
    def previous_part(self) -> int:
        return max(0, self.parts_before - MOST_PARTS)

    @property
    def dom(self) -> str:
        return self.path.dom_id

    @property
    def role_icon(self) -> str:
        return self.role if self.role in ROLES else "info"

    @property
    def move_path(self) -> Path:
        """The path of the node that the move buttons of this message move. For the AI message of a pair, it is the pair."""
        return Path(self.path.section, self.path.pair) if self.path.pair and not self.path.message else self.path

    @property
    def moves_pair(self) -> bool:
        return self.move_path != self.path

    @property
    def has_calls(self) -> bool:
        return any(part.kind == "tool_call" for part in self.parts)


@dataclass(frozen=True, slots=True)
class CardPage:
    """The messages of a page of the form: the messages under `path`, from a number on."""

    path: Path
    cards: tuple[Card, ...]
    before: int
    after: int
    """Messages of the node before and after those shown."""
    section: Path | None = None
    """The section, if the form is that of a whole section."""
    is_signed: bool = False
    """One of the messages has signed reasoning."""


def read_cards(chain: StoredChain, path: Path, first: int = 0, first_part: int = 0) -> CardPage:
    """Return a page of the form. `first_part` applies only if the path names one message."""
    span = chain.span(_message_path(path))
    first = min(first, max(len(span) - 1, 0))
    start, stop = span.start + first, min(span.stop, span.start + first + MOST_MESSAGES)
    messages = chain.slice(start, stop)
    paths = _paths(chain, path, span, start, stop)
    first_part = first_part if path.message is not None else 0
    cards = tuple(_card(message, at, path, first_part) for message, at in zip(messages, paths, strict=True))
    if path.part is not None and not cards[0].parts:
        raise PathError(f"{path} is not in this chain: the message has {len(messages[0].parts)} parts.")
    if path.pair:
        pending = _pending(chain, Path(path.section, path.pair))
        cards = tuple(_with_pending(card, pending) for card in cards)
    return CardPage(path, cards, first, span.stop - stop, is_signed=any(map(is_signed, messages)))


def _pending(chain: StoredChain, pair: Path) -> set[str]:
    """Return the ids of the pair's calls without a result."""
    span = chain.span(pair)
    calls, answered = set(), set()
    for row in chain.rows(span.start, span.stop):
        calls |= {call.id for call in row.shape.calls}
        answered |= {result.id for result in row.shape.results}
    return calls - answered


def _with_pending(card: Card, pending: set[str]) -> Card:
    parts = (replace(part, is_pending=part.kind == "tool_call" and part.call_id in pending) for part in card.parts)
    return replace(card, parts=tuple(parts))


def _message_path(path: Path) -> Path:
    return replace(path, part=None)


def _paths(chain: StoredChain, path: Path, span: range, start: int, stop: int) -> list[Path]:
    if path.message is not None:
        return [_message_path(path)]
    # a pair without AI message has no m0
    lead = 0 if path.pair == 0 or chain[span.start].role == "ai" else 1
    return [replace(path, message=i - span.start + lead) for i in range(start, stop)]


def _card(message: Message, path: Path, asked: Path, first_part: int) -> Card:
    alone = asked.part is not None
    count = len(message.parts)
    first = min(first_part, max(count - 1, 0))
    numbers = [asked.part] if asked.part is not None else range(first, min(count, first + MOST_PARTS))
    parts = tuple(
        _part(message.parts[i], replace(path, part=i), MOST_ALONE if alone else MOST_IN_A_ROW)
        for i in numbers
        if i is not None and i < count
    )
    before, after = (0, 0) if alone else (first, count - first - len(parts))
    name = ROLE_NAMES.get(message.role, message.role)
    return Card(path, message.role, name, byte_text(message.size), parts, before, after)


def _part(part: Part, path: Path, most: int) -> PartFields:
    kind = PART_KINDS[type(part)]
    fields = PartFields(path, kind, ICONS[kind], _title(part), byte_text(part.size))
    match part:
        case Text():
            fields = replace(fields, value=for_field(part.text))
        case ToolCall():
            fields = replace(fields, value=for_field(indented(part.arguments)), name=for_field(part.name), call_id=for_field(part.id))
        case ToolResult():
            fields = replace(
                fields, value=for_field(part.content), call_id=for_field(part.call_id), is_error=part.is_error
            )  # fmt: skip
        case Image():
            return replace(fields, value="" if part.url.startswith("data:") else for_field(part.url))
        case _:
            return replace(fields, is_locked=True)
    if len(fields.value) > most:
        way = "It has its own page." if most < MOST_ALONE and len(fields.value) <= MOST_ALONE else ""
        text = f"This text is {byte_text(part.size)}, too long to edit here. {way}".strip()
        return replace(fields, value="", too_long=text)
    return fields


def _title(part: Part) -> str:
    match part:
        case Text():
            return "Text"
        case ToolCall():
            return f"Call of {part.name}" if part.name else "Call"
        case ToolResult():
            return f"Result of {part.name}" if part.name else "Result"
        case Thinking():
            return "Reasoning"
        case Image():
            return "Image"
    return "Part that can only be deleted"


def part_at(chain: StoredChain, path: Path) -> Part | None:
    span = chain.span(_message_path(path))
    parts = chain[span.start].parts
    return parts[path.part] if path.part is not None and path.part < len(parts) else None


def edits_in(form: Mapping[str, str], chain: StoredChain, page: CardPage) -> list[EditOptions]:
    """Yield the edits for values that differ from those of the chain. Roles come last, because they change the tree and thereby paths."""
    common = {"drop_reasoning": "drop_reasoning" in form}
    edits: list[EditOptions] = []
    for card in page.cards:
        for fields in card.parts:
            part = part_at(chain, fields.path)
            if part is not None:
                edits += _part_edits(form, fields, part, common)
    for card in page.cards:
        role = form.get(f"{card.dom}-role", card.role)
        if role != card.role:
            if role not in ROLES:
                raise OptionsError("A role is system, human, ai or tool.")
            edits.append(_edit(str(card.path), "role", role=role))
    return edits


def _edit(path: str, action: str, **values: object) -> EditOptions:
    return EditOptions.model_validate({"path": path, "action": action, **values})


def _part_edits(form: Mapping[str, str], fields: PartFields, part: Part, common: dict[str, bool]) -> Iterator[EditOptions]:
    def new_value(name: str, original: str) -> str | None:
        """Return the new value, or None if the form has none or the old one."""
        value = form.get(f"{fields.dom}-{name}")
        changed = original if value is None else from_field(value, original)
        return None if changed == original else changed

    path = str(fields.path)
    if isinstance(part, Text) and (text := new_value("text", part.text)) is not None:
        yield _edit(path, "text", text=text, **common)
    if isinstance(part, ToolCall):
        if (text := _new_arguments(new_value("text", indented(part.arguments)), part)) is not None:
            allowed = "allow_invalid" in form
            yield _edit(path, "arguments", arguments=text, allow_invalid=allowed, **common)
        if (name := new_value("name", part.name)) is not None:
            yield _edit(path, "name", name=name, **common)
        if (call_id := new_value("id", part.id)) is not None:
            yield _edit(path, "call_id", call_id=call_id, **common)
    if isinstance(part, Image) and (url := form.get(f"{fields.dom}-url", "").strip()) and url != part.url:
        yield _edit(path, "image", url=url)
    if isinstance(part, ToolResult):
        yield from _result_edits(form, fields, part, new_value("text", part.content))
        if (call_id := new_value("id", part.call_id)) is not None:
            yield _edit(path, "call_id", call_id=call_id, with_results=False)


def _new_arguments(typed: str | None, call: ToolCall) -> str | None:
    """Return the typed arguments in the call's own style; None if their value did not change."""
    text = None if typed is None else on_one_line(typed, call.arguments)
    return None if text == call.arguments else text


def _result_edits(form: Mapping[str, str], fields: PartFields, part: ToolResult, text: str | None) -> Iterator[EditOptions]:
    """Yield the edits of a result. A form does not contain unticked boxes, so the box counts only if the form contains the text."""
    is_error = f"{fields.dom}-error" in form if f"{fields.dom}-text" in form else part.is_error
    if text is not None or is_error != part.is_error:
        content = part.content if text is None else text
        yield _edit(str(fields.path), "result", text=content, is_error="yes" if is_error else "no")


NEW_PART = ("text", "name", "arguments", "url")
"""Fields of the form for a new part of a message."""


def typed_over(page: CardPage, form: Mapping[str, str], errors: Sequence[tuple[str, str]] = ()) -> CardPage:
    """Return the page with the typed values, so that a refused form loses nothing."""
    wrong = dict(errors)

    def part(fields: PartFields) -> PartFields:
        error = wrong.get(str(fields.path), "")
        fields = replace(fields, answer=form.get(f"{fields.dom}-answer", ""))
        if f"{fields.dom}-url" in form:
            return replace(fields, error=error, value=form[f"{fields.dom}-url"])
        if f"{fields.dom}-text" not in form:
            return replace(fields, error=error)
        return replace(
            fields,
            value=form.get(f"{fields.dom}-text", fields.value),
            name=form.get(f"{fields.dom}-name", fields.name),
            call_id=form.get(f"{fields.dom}-id", fields.call_id),
            is_error=f"{fields.dom}-error" in form if fields.kind == "tool_result" else False,
            error=error,
        )

    cards = tuple(
        replace(
            card,
            role=form.get(f"{card.dom}-role", card.role),
            parts=tuple(map(part, card.parts)),
            new={name: form.get(f"{card.dom}-new-{name}", "") for name in NEW_PART},
        )
        for card in page.cards
    )
    return replace(page, cards=cards)
