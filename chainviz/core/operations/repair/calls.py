"""Calls that share an id or were never answered, and summaries with several tool messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.build import FALLBACK_RESPONSE_CONTENT, tool_message
from chainviz.core.messages import TOOL, CallRef, Part, Text, ToolCall, ToolResult
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.results import Turn, turns
from chainviz.core.operations.repair.wording import call_text, detached
from chainviz.core.operations.repair.worklist import Worklist
from chainviz.core.problems import is_terminal
from chainviz.core.tree import SUMMARIZATION_TOOL


def fix_shared_ids(work: Worklist) -> None:
    taken: set[str] | None = None
    for turn in turns(work):
        for id, calls in _by_id(turn).items():
            if len(calls) < 2:
                continue
            if taken is None:
                taken = {call.id for shape in work.shapes for call in shape.calls}
            _rename(work, turn, id, calls, taken)
    work.settle()


def _by_id(turn: Turn) -> dict[str, list[CallRef]]:
    calls: dict[str, list[CallRef]] = {}
    for call in turn.calls:
        calls.setdefault(call.id, []).append(call)
    return calls


def _results(work: Worklist, turn: Turn, id: str) -> Iterator[tuple[int, CallRef]]:
    return ((place, ref) for place in turn.rest for ref in work.shapes[place].results if ref.id == id)


def _rename(work: Worklist, turn: Turn, id: str, calls: list[CallRef], taken: set[str]) -> None:
    assert turn.ai is not None
    results = list(_results(work, turn, id))[: len(calls)]
    names = [id, *_free(id, len(calls) - 1, taken)]
    message = work.message(turn.ai)
    about = work.about[turn.ai]
    before = tuple(message.parts[call.part] for call in calls)
    after = tuple(replace(part, id=new) for part, new in zip(before, names, strict=True) if isinstance(part, ToolCall))
    problem = f"{work.where(about)} has {len(calls)} calls that share the id “{id}”, with {len(results)} results."
    proposal = Proposal(
        "shared-call-id", about, calls[1].part, id, problem, before, {"rename-calls": after}, default=len(results) > 1
    )
    if work.offer(proposal) is None:
        return
    taken.update(names)
    for call, part in zip(calls, after, strict=True):
        work.edit(turn.ai).parts[call.part] = (part,)
    for (place, ref), new in zip(results, names, strict=False):
        result = work.message(place).parts[ref.part]
        assert isinstance(result, ToolResult)
        work.edit(place).parts[ref.part] = (replace(result, call_id=new),)


def _free(id: str, count: int, taken: set[str]) -> Iterator[str]:
    """Ids like the old one that no call of the chain has; letters, digits and _ only are added."""
    number = 2
    for _ in range(count):
        while f"{id}_{number}" in taken:
            number += 1
        yield f"{id}_{number}"
        number += 1


def fix_pending(work: Worklist) -> None:
    last = len(work.shapes)
    for turn in turns(work):
        if not turn.calls:
            continue
        answered = {ref.id for place in turn.rest for ref in work.shapes[place].results}
        foreign = any(work.shapes[place].role != TOOL for place in turn.rest)
        for id, calls in _by_id(turn).items():
            if id not in answered:
                terminal = turn.rest.stop == last and is_terminal(calls[0], foreign)
                _answer(work, turn, calls, terminal)
    work.settle()


def _answer(work: Worklist, turn: Turn, calls: list[CallRef], terminal: bool) -> None:
    assert turn.ai is not None
    call = calls[0]
    part = work.message(turn.ai).parts[call.part]
    assert isinstance(part, ToolCall)
    answer = tool_message(call.id, call.name, FALLBACK_RESPONSE_CONTENT)
    about = work.about[turn.ai]
    where = f"{work.where(about)} calls {call.name or 'a tool'} as “{call.id}”"
    problem = f"{where} and the chain ends there." if terminal else f"{where}, but no result follows."
    choice = work.offer(
        Proposal(
            "terminal-call" if terminal else "pending-call", about, call.part, call.id, problem, (part,),
            {"answer-call": (part, *answer.parts), "call-to-text": (Text(call_text(part)),)}, default=not terminal,
        )
    )  # fmt: skip
    if choice == "answer-call":
        work.edit(turn.end).after.append((answer, about))
    elif choice == "call-to-text":
        for same in calls:
            told = work.message(turn.ai).parts[same.part]
            assert isinstance(told, ToolCall)
            work.edit(turn.ai).parts[same.part] = (Text(call_text(told)),)


def fix_summaries(work: Worklist) -> None:
    """Seed rule 7: a summarization pair has exactly one tool message. Strict parsing accepts more, so this is not a default."""
    for turn in turns(work):
        if len(turn.rest) < 2 or not turn.calls or turn.calls[0].name != SUMMARIZATION_TOOL:
            continue
        if any(work.shapes[place].role != TOOL for place in turn.rest):
            continue
        later: tuple[Part, ...] = tuple(part for place in turn.rest[1:] for part in work.message(place).parts)
        about = work.about[turn.rest[0]]
        problem = f"{work.where(about)} is the first of {len(turn.rest)} tool messages of one summary."
        proposal = Proposal("summary-results", about, None, "", problem, later, {"pack-results": later}, default=False)
        if work.offer(proposal):
            work.edit(turn.rest[0]).added += detached(later)
            for place in turn.rest[1:]:
                work.edit(place).removed = True
    work.settle()
