"""Turns of the user that an API wants in one message: all results of a call, and the text that follows them."""

from __future__ import annotations

from chainviz.core.chain.messages import HUMAN, TOOL
from chainviz.core.formats import get_format
from chainviz.core.formats.turns import are_in_one_unit, has_list, in_one_unit
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.parts_as_text import detached
from chainviz.core.operations.repair.session import Worklist

JOIN = "join-turns"


def fix_turns(work: Worklist) -> None:
    """Only in the API's own JSON: Convert writes turns of other formats as one message."""
    if not get_format(work.chain.format).joins_turns:
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
        elif _offer(work, place, "has results separate from those before it."):
            work.edit(first).added += detached(work.message(place).parts)
            work.edit(place).removed = True


def _join_texts(work: Worklist) -> None:
    for place in range(1, len(work.shapes)):
        if (work.shapes[place - 1].role, work.shapes[place].role) != (TOOL, HUMAN):
            continue
        if _offer(work, place, "is a user message directly after one with results."):
            both = in_one_unit(get_format(work.chain.format), (work.message(place - 1), work.message(place)))
            work.edit(place - 1).whole, work.edit(place).whole = both


def _offer(work: Worklist, place: int, what: str) -> bool:
    message, about = work.message(place), work.about[place]
    format, before = get_format(work.chain.format), work.message(place - 1)
    if are_in_one_unit(before, message) or not (has_list(format, before) and has_list(format, message)):
        return False
    outcomes = {JOIN: message.parts}
    return bool(work.offer(Proposal("turns-apart", about, None, "", f"{work.where(about)} {what}", message.parts, outcomes)))
