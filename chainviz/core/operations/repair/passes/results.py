"""Fix results that are far from their call, spell its id differently, repeat another result, or have no call. Each moves to its call,
gets its id, or becomes text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import groupby

from chainviz.core.chain.build import FALLBACK_REQUEST_ARGUMENTS
from chainviz.core.chain.messages import AI, HUMAN, TOOL, CallRef, Message, Part, Text, ToolCall, ToolResult, detached
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.passes.turns import as_human, readable
from chainviz.core.operations.repair.session import Turn, Worklist
from chainviz.core.providers.request import REFERENCE

UNNAMED_TOOL = "unknown_tool"
_PREFIX = re.compile(r"^(?:(?:call|tooluse|toolu|fc|functions|chatcmpl-tool)[-_.])+")
_NAMING_ID = re.compile(r"\s*functions[._](.+)[:_]\d+\s*")
"""An id of Kimi, which contains the name of the function and the number of the call."""


@dataclass(slots=True)
class Stray:
    """A result that no call of its pair waits for."""

    turn: int
    place: int
    ref: CallRef
    rule: str
    first: tuple[int, int] | None = None
    """Place and part of the first result of the call, if this one is a duplicate."""
    home: int | None = None
    """The turn whose call has no result and matches this one."""
    call: str = ""
    """The id of the unanswered call of its pair that the result answers although it spells the id differently."""
    answered: tuple[int, int] | None = None
    """Place and part of the existing result, if an earlier call with the same id has one."""


@dataclass(slots=True)
class Matches:
    turns: list[Turn] = field(default_factory=list)
    strays: list[Stray] = field(default_factory=list)
    waiting: dict[str, list[int]] = field(default_factory=dict)
    """The turns with an unanswered call, by call id, in rising order; a turn with two such calls is listed twice."""


def fix_results(work: Worklist) -> None:
    found = _find(work)
    _find_homes(found)
    _find_calls(found)
    moves: dict[int, list[tuple[Stray, Part]]] = {}
    stayed: dict[tuple[int, str], tuple[int, int]] = {}
    for stray in found.strays:
        _become_duplicate(stray, stayed)
        choice = _fix(work, found, stray, moves)
        if choice in (None, "add-call"):
            stayed.setdefault((stray.turn, stray.ref.id), (stray.place, stray.ref.part))
    for place, moved in moves.items():
        _move(work, found, place, moved)
    for turn in found.turns:
        if not turn.calls:
            _fix_leftovers(work, turn)
    work.settle()


def _become_duplicate(stray: Stray, stayed: dict[tuple[int, str], tuple[int, int]]) -> None:
    """Mark a stray as a duplicate if an earlier result with its id stays in the pair because its call was added."""
    first = stayed.get((stray.turn, stray.ref.id))
    if first is not None and stray.home is None:
        stray.first, stray.rule = first, "duplicate-result"


def _find(work: Worklist) -> Matches:
    found = Matches()
    answered: dict[str, tuple[int, int]] = {}
    for number, turn in enumerate(work.turns):
        found.turns.append(turn)
        if not turn.calls and not turn.rest:
            continue
        open_calls: dict[str, int] = {}
        for call in turn.calls:
            open_calls[call.id] = open_calls.get(call.id, 0) + 1
        first: dict[str, tuple[int, int]] = {}
        known = set(open_calls)
        for place in turn.rest:
            for ref in work.shapes[place].results:
                if open_calls.get(ref.id):
                    open_calls[ref.id] -= 1
                    first.setdefault(ref.id, (place, ref.part))
                    continue
                rule = "orphan-result" if not turn.calls else "duplicate-result" if ref.id in known else "unmatched-result"
                stray = Stray(number, place, ref, rule, first.get(ref.id), answered=answered.get(ref.id))
                found.strays.append(stray)
        answered.update(first)
        for id, count in open_calls.items():
            if count:
                found.waiting.setdefault(id, []).extend([number] * count)
    return found


def _find_homes(found: Matches) -> None:
    """Match late results to the nearest waiting call before them, and the rest to the nearest one after them."""
    for stray in found.strays:
        waiting = found.waiting.get(stray.ref.id)
        before = bisect_right(waiting, stray.turn) if waiting else 0
        if waiting and before:
            stray.home = waiting.pop(before - 1)
    for stray in found.strays:
        waiting = found.waiting.get(stray.ref.id)
        if stray.home is None and waiting:
            after = bisect_right(waiting, stray.turn)
            if after < len(waiting):
                stray.home = waiting.pop(after)


def _find_calls(found: Matches) -> None:
    """Match the unmatched results of a pair to its unanswered calls by the letters and digits of the ids, then by the names of the
    functions; a single result left answers the single call left."""
    for number, strays in groupby(found.strays, key=lambda stray: stray.turn):
        left = [stray for stray in strays if stray.rule == "unmatched-result" and stray.home is None]
        waiting = [call for call in found.turns[number].calls if number in found.waiting.get(call.id, ())] if left else []
        for key_of in (_core, _name):
            left, waiting = _match(left, waiting, key_of)
        if len(left) == len(waiting) == 1 and not (_name(left[0].ref) and _name(waiting[0])):
            left[0].call = waiting[0].id


def _match(strays: list[Stray], calls: list[CallRef], key_of: Callable[[CallRef], str]) -> tuple[list[Stray], list[CallRef]]:
    """Match results to as many calls with the same key, in order. Return the results and calls that are left."""
    by_key: defaultdict[str, tuple[list[Stray], list[CallRef]]] = defaultdict(lambda: ([], []))
    for stray in strays:
        by_key[key_of(stray.ref)][0].append(stray)
    for call in calls:
        by_key[key_of(call)][1].append(call)
    for key, (alike, wanted) in by_key.items():
        if key and len(alike) == len(wanted):
            for stray, call in zip(alike, wanted, strict=True):
                stray.call = call.id
    taken = {stray.call for stray in strays}
    return [stray for stray in strays if not stray.call], [call for call in calls if call.id not in taken]


def _core(ref: CallRef) -> str:
    """Return the letters and digits of an id, without a provider's prefix and without the id of an item after it."""
    return re.sub(r"[^0-9a-z]", "", _PREFIX.sub("", ref.id.strip().lower().partition("|")[0]))


def _name(ref: CallRef) -> str:
    found = _NAMING_ID.fullmatch(ref.id)
    return ref.name or (found[1] if found else "")


def _fix(work: Worklist, found: Matches, stray: Stray, moves: dict[int, list[tuple[Stray, Part]]]) -> str | None:
    part = work.message(stray.place).parts[stray.ref.part]
    assert isinstance(part, ToolResult)
    about = work.about[stray.place]
    outcomes = _outcomes(work, stray, part)
    is_usual = stray.home is not None or not _is_stored(work, found.turns[stray.turn])
    words = _words(work, found, stray)
    proposal = Proposal(stray.rule, about, stray.ref.part, part.call_id, words, (part,), outcomes, is_usual)
    choice = work.offer(proposal)
    turn = found.turns[stray.turn]
    if choice is None:
        return None
    if choice == "add-call":
        _add_call(work, turn, part, about)
        return choice
    work.edit(stray.place).parts[stray.ref.part] = (replace(part, call_id=stray.call),) if choice == "rename-result" else ()
    if choice == "move-result":
        moves.setdefault(stray.place, []).append((stray, part))
    elif choice == "result-to-text":
        work.edit(max(turn.end, stray.place)).after.append((Message(HUMAN, readable(part)), about))
    elif choice == "join-results":
        _join(work, stray, part)
    return choice


def _is_stored(work: Worklist, turn: Turn) -> bool:
    """Return True if the call of a turn without one may be in an earlier message that only the API stores."""
    stored = work.request.stored
    return bool(stored) and turn.ai is None and (stored == REFERENCE or all(each.role != AI for each in work.shapes[: turn.rest.start]))


def _words(work: Worklist, found: Matches, stray: Stray) -> str:
    where = work.where(work.about[stray.place])
    result = f"{where} has a result of the call “{stray.ref.id}”"
    if stray.home is not None:
        ai = found.turns[stray.home].ai
        assert ai is not None
        late = "comes after the end of its pair" if stray.home <= stray.turn else "comes before its call"
        return f"{result}, which {late}: {work.where(work.about[ai])} makes this call and has no result."
    if stray.rule == "duplicate-result":
        return f"{result}, which already has one."
    instead = f"; its pair has the call “{stray.call}” without a result" if stray.call else ""
    return f"{result}, which is in no message of the chain{instead}."


def _outcomes(work: Worklist, stray: Stray, part: ToolResult) -> dict[str, tuple[Part, ...]]:
    """Return the parts that each choice leaves of the result, best choice first."""
    outcomes: dict[str, tuple[Part, ...]] = {}
    if stray.home is not None:
        outcomes["move-result"] = (part,)
    if stray.call:
        outcomes["rename-result"] = (replace(part, call_id=stray.call),)
    counts = stray.first or stray.answered
    if counts is not None and work.message(counts[0]).parts[counts[1]] == part:
        outcomes["drop-copy"] = ()
    if stray.first is not None:
        outcomes["join-results"] = (Text(_joined_text(part)),)
    text = readable(part)
    call = ToolCall(part.call_id, part.name or UNNAMED_TOOL, FALLBACK_REQUEST_ARGUMENTS)
    if stray.rule == "unmatched-result":
        outcomes["add-call"] = (call, part)
    outcomes["result-to-text"] = text
    if stray.rule == "orphan-result":
        outcomes["add-call"] = (call, part)
    outcomes["drop-result"] = ()
    return outcomes


def _joined_text(part: ToolResult) -> str:
    kind = "error result" if part.is_error else "result"
    name = f" of {part.name}" if part.name else ""
    return f"\n\n[One more {kind}{name} of this call]\n{part.content}"


def _join(work: Worklist, stray: Stray, part: ToolResult) -> None:
    assert stray.first is not None
    place, index = stray.first
    pending = work.edit(place).parts.get(index)
    first = pending[0] if pending else work.message(place).parts[index]
    assert isinstance(first, ToolResult)
    content = first.content + _joined_text(part)
    work.edit(place).parts[index] = (replace(first, content=content, media=(*first.media, *part.media)),)


def _add_call(work: Worklist, turn: Turn, part: ToolResult, about: int) -> None:
    """Add a call to the pair's AI message, or to a new one before the first message of a pair that has none."""
    call = ToolCall(part.call_id, part.name or UNNAMED_TOOL, FALLBACK_REQUEST_ARGUMENTS)
    if turn.ai is not None:
        edit = work.edit(turn.ai)
        if not any(isinstance(added, ToolCall) and added.id == call.id for added in edit.added):
            edit.added.append(call)
        return
    before = work.edit(turn.rest.start).before
    if before and before[-1][0].role == AI:
        if call.id not in {made.id for made in before[-1][0].calls}:
            before[-1] = (Message(AI, (*before[-1][0].parts, call)), about)
    else:
        before.append((Message(AI, (call,)), about))


def _move(work: Worklist, found: Matches, place: int, moved: list[tuple[Stray, Part]]) -> None:
    """Move results to the end of their call's pair. A message that moves as a whole keeps its source and its other parts."""
    message = work.message(place)
    edit = work.edit(place)
    homes = {stray.home for stray, _ in moved}
    if len(homes) == 1 and len(moved) == len(message.results):
        edit.removed = True
        _arrive(work, found, moved[0][0], message, work.about[place])
        return
    for stray, part in moved:
        _arrive(work, found, stray, Message(TOOL, detached((part,))), work.about[place])


def _arrive(work: Worklist, found: Matches, stray: Stray, message: Message, about: int) -> None:
    assert stray.home is not None
    work.edit(found.turns[stray.home].end).after.append((message, about))


def _fix_leftovers(work: Worklist, turn: Turn) -> None:
    """Turn tool messages that have no results and follow no call into human messages."""
    for place in turn.rest:
        shape = work.shapes[place]
        if shape.role != TOOL or (shape.results and not _lost_all_results(work, place)):
            continue
        message = work.message(place)
        edit = work.edit(place)
        if edit.removed:
            continue
        parts = tuple(part for i, part in enumerate(message.parts) if i not in edit.parts)
        if shape.results:
            # all its results were handled separately; its other parts follow them
            choice: str | None = "result-to-text"
        else:
            choice = _offer_leftover(work, place, message)
        if choice is not None:
            edit.removed = True
        if choice == "result-to-text" and parts:
            note = as_human(Message(TOOL, parts), "[Tool message without a call]")
            work.edit(max(turn.end, place)).after.append((note, work.about[place]))


def _lost_all_results(work: Worklist, place: int) -> bool:
    return all(ref.part in work.edit(place).parts for ref in work.shapes[place].results)


def _offer_leftover(work: Worklist, place: int, message: Message) -> str | None:
    about = work.about[place]
    problem = f"{work.where(about)} is a tool message without any result, and no call comes before it."
    note = as_human(message, "[Tool message without a call]") if message.parts else None
    kept = {"result-to-text": note.parts} if note else {}
    return work.offer(Proposal("orphan-result", about, None, "", problem, message.parts, {**kept, "drop-message": ()}))
