"""Items of OpenAI's Responses whose form is refused: ids that do not fit, reasoning without a summary, tool messages of Chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, TOOL, Fragment, Message
from chainviz.core.documents.json.edit import load_object, parse
from chainviz.core.formats import get_format
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.openai_responses import PROVIDER
from chainviz.core.providers.wire.responses import refused_members

RESPELL = "respell-item"


def has_items(message: Message) -> bool:
    marks = ('"id"', '"reasoning"') if message.role == AI else ('"tool_call_id"',) if message.role == TOOL else ()
    return any(mark in each.text for each in message.source for mark in marks)


def fix_items(work: Worklist) -> None:
    """Only on demand: just OpenAI's Responses look at them."""
    if work.chain.format not in PROVIDER.formats or not work.options.asks_for(RESPELL):
        return
    for place, message in work.read(has_items):
        source = tuple(_repaired(message))
        if source == message.source:
            continue
        about = work.about[place]
        repaired = get_format(work.chain.format).message(message.role, source)
        problem = f"{work.where(about)} contains an item whose spelling the API may refuse."
        if work.offer(Proposal("item-id", about, None, "", problem, message.parts, {RESPELL: repaired.parts}, default=False)):
            work.edit(place).whole = repaired
    work.settle()


def _repaired(message: Message) -> Iterator[Fragment]:
    items = [fragment for fragment in message.source if fragment.ordinal != SLOT]
    for fragment in message.source:
        value = parse(fragment.text)
        if isinstance(value, dict) and fragment.ordinal != SLOT:
            fragment = replace(fragment, text=_spelled(fragment.text, value, is_first=fragment is items[0]))
        yield fragment


def _spelled(text: str, value: dict[str, Any], *, is_first: bool) -> str:
    item = load_object(text)
    if value.get("role") == "tool" and {"tool_call_id", "content"} <= value.keys():
        for key, new in (("tool_call_id", "call_id"), ("content", "output")):
            item.rename(key, new, item.raw(key))
        item.rename("role", "type", '"function_call_output"')
        return str(item)
    members = refused_members(value, is_first=is_first)
    for member in members:
        if member == "id":
            item.remove("id")
        else:
            item.set(member, "[]")
    return str(item) if members else text
