"""Fix items that OpenAI's Responses API refuses, and messages whose JSON is not as their API takes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, TOOL, Fragment, Message, Part
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import load_object, parse
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors import PROVIDERS, SERVERS
from chainviz.core.formats.vendors.openai.responses_rules import PROVIDER
from chainviz.core.formats.vendors.openai.responses_wire import item_id, needs_reasoning, refused_members
from chainviz.core.operations.repair.fixes import REWRITE, Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.contract import fixes_of_fault
from chainviz.core.providers.wire import sent_value


def has_source(message: Message) -> bool:
    return bool(message.source)


def fix_members(work: Worklist) -> None:
    """Rewrite such messages. Only on demand, since most APIs ignore what they do not know."""
    if not work.options.asks_for(REWRITE):
        return
    for place, message in work.read(has_source):
        new = _rewritten(message, work.chain.format) if any(_odd(message, work.chain.format)) else None
        if new is None:
            continue
        about = work.about[place]
        problem = f"{work.where(about)} has a member or a value that its API does not accept."
        if work.offer(Proposal("not-understood", about, None, "", problem, message.parts, {REWRITE: new.parts}, default=False)):
            work.edit(place).whole = new
    work.settle()


def _odd(message: Message, format: str) -> Iterator[bool]:
    """Yield True for each fault that a rewritten message does not have."""
    for provider in (*PROVIDERS, *SERVERS):
        for fault in provider.wire(message) if format in provider.formats else ():
            rule = provider.wire_rule(fault)
            yield rule is not None and REWRITE in fixes_of_fault(rule, message, fault.part)


def _rewritten(message: Message, name: str) -> Message | None:
    """Return the message in its format's usual form, or None if that would change its parts, or nothing."""
    format = get_format(name)
    new = format.message(message.role, format.write(replace(message, source=()), Style()))
    return new if _content(new) == _content(message) and sent_value(new) != sent_value(message) else None


def _content(message: Message) -> list[Part]:
    return [replace(part, origin=-1) for part in message.parts]


RESPELL, DROP_COPY, DROP_ID = "respell-item", "drop-copy", "drop-item-id"
_AT: dict[str, Pointer] = {**dict.fromkeys(PROVIDER.formats, ()), **dict.fromkeys(PROVIDER.sessions, ("payload",))}
"""The pointer to the item within its JSON value, by format."""


def has_items(message: Message) -> bool:
    marks = ('"id"', '"reasoning"') if message.role == AI else ('"tool_call_id"', '"id"') if message.role == TOOL else ('"id"',)
    return any(mark in each.text for each in message.source for mark in marks)


def fix_items(work: Worklist) -> None:
    """Fix items. Only on demand, since only OpenAI's Responses API checks them."""
    if work.chain.format not in _AT or not any(map(work.options.asks_for, (RESPELL, DROP_COPY, DROP_ID))):
        return
    seen: dict[str, Any] = {}
    at = _AT[work.chain.format]
    for place, message in work.read(has_items):
        _drop_copies(work, place, message, _Items(at, seen))
        _respell(work, place, message, _Items(at, seen))
        _drop_id(work, place, message, _Items(at, seen))
        seen |= {id: item for id, item in _Items(at, seen).of(message) if id not in seen}
    work.settle()


@dataclass(frozen=True, slots=True)
class _Items:
    """The items of a message."""

    at: Pointer
    seen: dict[str, Any]
    """The items of earlier messages, by id."""

    def of(self, message: Message) -> Iterator[tuple[str, Any]]:
        """Yield the id of each item, or "" if it has none, and the item."""
        for fragment in message.source:
            item = None if fragment.ordinal == SLOT else self.item(fragment)
            yield item_id(item), item

    def item(self, fragment: Fragment) -> Any:
        value = parse(fragment.text)
        for step in self.at:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def repeated(self, message: Message) -> list[Any]:
        """Return for each fragment the earlier item with its id, or None if there is none."""
        seen, found = dict(self.seen), []
        for id, item in self.of(message):
            found.append(seen.get(id) if id else None)
            if id:
                seen.setdefault(id, item)
        return found


def without_encrypted(message: Message, format: str) -> Message | None:
    """Return the message without its encrypted reasoning and without the ids of the items that need it. Return None if the
    format has no items or nothing would be left of the message."""
    if format not in _AT:
        return None
    items, source, was_reasoning = _Items(_AT[format], {}), list[Fragment](), False
    for fragment in message.source:
        item = None if fragment.ordinal == SLOT else items.item(fragment)
        is_dropped = isinstance(item, dict) and item.get("type") == "reasoning" and bool(item.get("encrypted_content"))
        if not is_dropped:
            needs = was_reasoning and isinstance(item, dict) and needs_reasoning(item)
            source.append(_without_id(fragment, items.at) if needs else fragment)
        was_reasoning = is_dropped
    return get_format(format).message(message.role, tuple(source)) if source else None


def _without_id(fragment: Fragment, at: Pointer) -> Fragment:
    item = load_object(json_edit.raw_at(fragment.text, at) or "{}")
    item.remove("id")
    return fragment.with_text(json_edit.replace_at(fragment.text, at, str(item)))


def _drop_copies(work: Worklist, place: int, message: Message, items: _Items) -> None:
    """Drop each item that equals an earlier one."""
    earlier = items.repeated(message)
    kept = tuple(
        fragment for fragment, before in zip(message.source, earlier, strict=True) if before is None or before != items.item(fragment)
    )
    if kept == message.source:
        return
    about, edit = work.about[place], work.edit(place)
    left = get_format(work.chain.format).message(message.role, kept) if kept else None
    outcomes = {DROP_COPY: left.parts if left else ()}
    problem = f"{work.where(about)} repeats an item that the chain already has."
    if work.offer(Proposal("item-repeated", about, None, "", problem, message.parts, outcomes, default=False)):
        edit.whole, edit.removed = left, left is None


def _respell(work: Worklist, place: int, message: Message, items: _Items) -> None:
    edit = work.edit(place)
    message = edit.whole or message
    earlier = [None] * len(message.source) if edit.removed else items.repeated(message)
    source = tuple(_repaired(message, items, earlier))
    if source == message.source:
        return
    about = work.about[place]
    repaired = get_format(work.chain.format).message(message.role, source)
    problem = f"{work.where(about)} contains an item whose spelling the API may refuse."
    if work.offer(Proposal("item-id", about, None, "", problem, message.parts, {RESPELL: repaired.parts}, default=False)):
        edit.whole = repaired


def _drop_id(work: Worklist, place: int, message: Message, items: _Items) -> None:
    """Drop the id of the model's first item, since the API may use it to look for reasoning before the item."""
    edit = work.edit(place)
    message = edit.whole or message
    first = next(((i, each) for i, each in enumerate(message.source) if each.ordinal != SLOT), None)
    if edit.removed or first is None:
        return
    index, fragment = first
    item = items.item(fragment)
    if not isinstance(item, dict) or not needs_reasoning(item):
        return
    about, changed = work.about[place], _without_id(fragment, items.at)
    new = get_format(work.chain.format).message(message.role, (*message.source[:index], changed, *message.source[index + 1 :]))
    problem = f"{work.where(about)} has an item whose id may need reasoning before it."
    if work.offer(Proposal("item-without-reasoning", about, None, "", problem, message.parts, {DROP_ID: new.parts}, default=False)):
        edit.whole = new


def _repaired(message: Message, items: _Items, earlier: list[Any]) -> Iterator[Fragment]:
    for fragment, before in zip(message.source, earlier, strict=True):
        item = items.item(fragment)
        text = json_edit.raw_at(fragment.text, items.at) if isinstance(item, dict) and fragment.ordinal != SLOT else None
        if text is not None:
            new = _spelled(text, item, is_repeated=before is not None)
            if new != text:
                fragment = fragment.with_text(json_edit.replace_at(fragment.text, items.at, new))
        yield fragment


def _spelled(text: str, value: dict[str, Any], *, is_repeated: bool) -> str:
    item = load_object(text)
    if value.get("role") == "tool" and {"tool_call_id", "content"} <= value.keys():
        for key, new in (("tool_call_id", "call_id"), ("content", "output")):
            item.rename(key, new, item.raw(key))
        item.rename("role", "type", '"function_call_output"')
        return str(item)
    members = {*refused_members(value), *(("id",) if is_repeated else ())}
    if not members:
        return text
    for key in members & {"id", "status"}:
        item.remove(key)
    if "summary" in members:
        item.set("summary", "[]")
    if "content" in members:
        if not value.get("summary"):
            item.set("summary", json_edit.dump(_summary(value["content"]), json_edit.uses_escapes(text)))
        item.set("content", "[]")
    return str(item)


def _summary(content: list[Any]) -> list[dict[str, str]]:
    """Turn the content of a reasoning item into its summary, so that the texts are kept."""
    texts = [block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str)]
    return [{"type": "summary_text", "text": text} for text in texts]
