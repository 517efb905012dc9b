"""Turns of the user that an API wants in one message: all results of a call, and the text that follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chainviz.core.chain.messages import HUMAN, NEW, TOOL, Fragment, Message
from chainviz.core.documents.assemble import with_items
from chainviz.core.documents.json.edit import load_array, raw_at
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, Style
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.operations.repair.text_fallback import detached
from chainviz.core.providers.bedrock import PROVIDER
from chainviz.core.providers.bedrock_wire import has_own_unit

JOIN = "join-turns"


def fix_turns(work: Worklist) -> None:
    """Only in the API's own JSON: other formats are written in one message when they are sent."""
    if work.chain.format not in PROVIDER.formats:
        return
    _join_results(work)
    work.settle()
    _join_texts(work)
    work.settle()


def _join_results(work: Worklist) -> None:
    first = -1
    for place, shape in enumerate(work.shapes):
        if shape.role != TOOL or not place or work.shapes[place - 1].role != TOOL:
            first = place
        elif _offer(work, place, "holds results apart from those before it."):
            work.edit(first).added += detached(work.message(place).parts)
            work.edit(place).removed = True


def _join_texts(work: Worklist) -> None:
    for place in range(1, len(work.shapes)):
        if (work.shapes[place - 1].role, work.shapes[place].role) != (TOOL, HUMAN):
            continue
        if _offer(work, place, "is a message of the user directly after one with results."):
            both = _in_one_unit(get_format(work.chain.format), (work.message(place - 1), work.message(place)))
            work.edit(place - 1).whole, work.edit(place).whole = both


def _offer(work: Worklist, place: int, what: str) -> bool:
    message, about = work.message(place), work.about[place]
    if not has_own_unit(message):
        return False
    outcomes = {JOIN: message.parts}
    return bool(work.offer(Proposal("turns-apart", about, None, "", f"{work.where(about)} {what}", message.parts, outcomes)))


def _in_one_unit(format: Format, messages: Sequence[Message]) -> list[Message]:
    """The messages as parts of one new unit, which has the blocks of all in order."""
    written = [(message.role, fragment) for message in messages for fragment in format.write(message, Style())]
    items = [_items(format, fragment) for _, fragment in written]
    shell = written[0][1]
    text = with_items(shell.text, format.blocks_at, [item for each in items for item in each])
    joined, start = [], 0
    for (role, _), each in zip(written, items, strict=True):
        blocks = tuple(range(start, start + len(each)))
        joined.append(format.message(role, (replace(shell, ordinal=NEW, text=text, blocks=blocks, start=-1),)))
        start += len(each)
    return joined


def _items(format: Format, fragment: Fragment) -> list[str]:
    array = load_array(raw_at(fragment.text, format.blocks_at) or "[]")
    return [array.raw(index) for index in (range(len(array)) if fragment.blocks is None else fragment.blocks)]
