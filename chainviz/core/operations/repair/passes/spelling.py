"""Call ids and tool names that some APIs refuse by their spelling. Only on demand: others accept them unchanged."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import CallRef, Part, ToolCall, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.pairs import Turn
from chainviz.core.operations.repair.session import Worklist

ID, LONGEST_ID = re.compile(r"[a-zA-Z0-9_-]{1,40}"), 40
NAME, LONGEST_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"), 64
"""What every API takes."""
_REFUSED = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Spelling:
    rule: str
    fix: str
    words: str
    read: Callable[[CallRef], str]
    call: Callable[[ToolCall, str], ToolCall]
    result: Callable[[ToolResult, str], ToolResult]


_IDS = Spelling(
    "call-id-spelling", "respell-id", "id", lambda ref: ref.id,
    lambda call, new: replace(call, id=new), lambda result, new: replace(result, call_id=new),
)  # fmt: skip
_NAMES = Spelling(
    "tool-name-spelling", "respell-name", "tool name", lambda ref: ref.name,
    lambda call, new: replace(call, name=new), lambda result, new: replace(result, name=new),
)  # fmt: skip


def fix_ids(work: Worklist) -> None:
    """An id gets a new spelling in its pair alone, one that no other call of the chain has."""
    taken: set[str] | None = None
    for turn in work.turns:
        for old in dict.fromkeys(call.id for call in turn.calls if not ID.fullmatch(call.id)):
            if taken is None:
                taken = {call.id for shape in work.shapes for call in shape.calls}
            new = _free(old, taken)
            if _respell(work, turn, _IDS, old, new):
                taken.add(new)
    work.settle()


def fix_names(work: Worklist) -> None:
    """One tool keeps one name: the same new spelling everywhere."""
    for turn in work.turns:
        for old in dict.fromkeys(call.name for call in turn.calls if not NAME.fullmatch(call.name)):
            _respell(work, turn, _NAMES, old, _name(old))
    work.settle()


def fix_result_names(work: Worklist) -> None:
    """A result without the name of its function gets that of its call, in formats whose results have one."""
    if not get_format(work.chain.format).names_results:
        return
    for turn in work.turns:
        names = {call.id: call.name for call in turn.calls if call.name}
        for place in turn.rest:
            for ref in work.shapes[place].results:
                if not ref.name and ref.id in names:
                    _name_result(work, place, ref, names[ref.id])
    work.settle()


def _name_result(work: Worklist, place: int, ref: CallRef, name: str) -> None:
    result, about = work.message(place).parts[ref.part], work.about[place]
    assert isinstance(result, ToolResult)
    problem = f"{work.where(about)} has a result without the name of its function."
    after: tuple[Part, ...] = (replace(result, name=name),)
    proposal = Proposal("result-name", about, ref.part, ref.id, problem, (result,), {"name-result": after}, default=False)
    if work.offer(proposal) is not None:
        work.edit(place).parts[ref.part] = after


def _name(old: str) -> str:
    plain = _REFUSED.sub("_", old) or "unknown_tool"
    return (plain if plain[0].isalpha() or plain[0] == "_" else f"_{plain}")[:LONGEST_NAME]


def _free(old: str, taken: set[str]) -> str:
    plain = _REFUSED.sub("_", old)[:LONGEST_ID] or "call"
    new, number = plain, 2
    while new in taken:
        new = f"{plain[: LONGEST_ID - 8]}_{number}"
        number += 1
    return new


def _respell(work: Worklist, turn: Turn, spelling: Spelling, old: str, new: str) -> bool:
    assert turn.ai is not None
    message, about = work.message(turn.ai), work.about[turn.ai]
    calls = [call for call in turn.calls if spelling.read(call) == old]
    before = tuple(message.parts[call.part] for call in calls)
    after = tuple(spelling.call(part, new) for part in before if isinstance(part, ToolCall))
    problem = f"{work.where(about)} has the {spelling.words} “{old[:80]}”, which some APIs refuse."
    outcomes: dict[str, tuple[Part, ...]] = {spelling.fix: after}
    proposal = Proposal(spelling.rule, about, calls[0].part, calls[0].id, problem, before, outcomes, default=False)
    if work.offer(proposal) is None:
        return False
    for call, part in zip(calls, after, strict=True):
        work.edit(turn.ai).parts[call.part] = (part,)
    for place in turn.rest:
        for ref in work.shapes[place].results:
            if spelling.read(ref) == old:
                result = work.message(place).parts[ref.part]
                assert isinstance(result, ToolResult)
                work.edit(place).parts[ref.part] = (spelling.result(result, new),)
    return True

