"""Calls that share an id or were never answered, summaries with several tool messages, and calls or results of server tools without
the other half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from chainviz.core.chain.build import FALLBACK_RESPONSE_CONTENT
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, CallRef, Message, Opaque, Part, Text, ToolCall, ToolResult, detached
from chainviz.core.chain.problems import ends_with_calls
from chainviz.core.chain.tree import SUMMARIZATION_TOOL
from chainviz.core.formats import get_format
from chainviz.core.formats.stylist import NEARBY, keeps_result_names
from chainviz.core.operations.repair.fixes import Proposal
from chainviz.core.operations.repair.passes.turns import as_user_text, call_text
from chainviz.core.operations.repair.session import Turn, Worklist
from chainviz.core.providers.server_blocks import as_server_call, lone_calls, lone_results, misplaced_server_calls


def fix_shared_ids(work: Worklist) -> None:
    """Fix calls of one turn that share an id; a single result may be meant for all of them."""
    names = _Names(work)
    for turn in work.turns:
        for id, calls in _by_id(turn).items():
            if len(calls) < 2:
                continue
            results = len(list(_results(work, turn, id))[: len(calls)])
            problem = f"has {len(calls)} calls that share the id “{id}”, with {results} results."
            new = [id, *names.like(id, len(calls) - 1)]
            _rename(work, turn, calls, new, _Reuse("shared-call-id", problem, calls[1].part, default=results > 1))
    work.settle()


def fix_reused_ids(work: Worklist) -> None:
    """Fix calls that reuse the id of an earlier turn. Only on demand: for most APIs ids must be unique only within a turn, but
    for Anthropic's within the request."""
    names = _Names(work)
    seen: set[str] = set()
    for turn in work.turns:
        for id, calls in _by_id(turn).items():
            if id in seen:
                problem = f"reuses the call id “{id}” of an earlier turn."
                new = list(names.like(id, len(calls)))
                _rename(work, turn, calls, new, _Reuse("call-id-reused", problem, calls[0].part))
        seen.update(call.id for call in turn.calls)
    work.settle()


class _Names:
    """Creates ids that resemble an old one and that no call of the chain has. Adds only letters, digits and _."""

    def __init__(self, work: Worklist) -> None:
        self._work = work

    @cached_property
    def _used_ids(self) -> set[str]:
        return {call.id for shape in self._work.shapes for call in shape.calls}

    def like(self, id: str, count: int) -> Iterator[str]:
        number = 2
        for _ in range(count):
            while f"{id}_{number}" in self._used_ids:
                number += 1
            self._used_ids.add(f"{id}_{number}")
            yield f"{id}_{number}"


def _by_id(turn: Turn) -> dict[str, list[CallRef]]:
    calls: dict[str, list[CallRef]] = {}
    for call in turn.calls:
        calls.setdefault(call.id, []).append(call)
    return calls


def _results(work: Worklist, turn: Turn, id: str) -> Iterator[tuple[int, CallRef]]:
    return ((place, ref) for place in turn.rest for ref in work.shapes[place].results if ref.id == id)


class _Reuse(NamedTuple):
    """An id that calls must not share."""

    rule: str
    problem: str
    part: int
    """Index of the first call that has to change."""
    default: bool = False


def _rename(work: Worklist, turn: Turn, calls: list[CallRef], names: list[str], reuse: _Reuse) -> None:
    """Give the calls of one id these names in order, and their results too."""
    assert turn.ai is not None
    message = work.message(turn.ai)
    about = work.about[turn.ai]
    before = tuple(message.parts[call.part] for call in calls)
    after = tuple(replace(call, id=new) for call, new in zip(before, names, strict=True) if isinstance(call, ToolCall))
    outcomes: dict[str, tuple[Part, ...]] = {"rename-calls": after}
    problem = f"{work.where(about)} {reuse.problem}"
    proposal = Proposal(reuse.rule, about, reuse.part, calls[0].id, problem, before, outcomes, reuse.default)
    if work.offer(proposal) is None:
        return
    for call, new_call in zip(calls, after, strict=True):
        work.edit(turn.ai).parts[call.part] = (new_call,)
    for (place, ref), new in zip(_results(work, turn, calls[0].id), names, strict=False):
        result = work.message(place).parts[ref.part]
        assert isinstance(result, ToolResult)
        work.edit(place).parts[ref.part] = (replace(result, call_id=new),)


def fix_pending(work: Worklist) -> None:
    last = len(work.shapes)
    for turn in work.turns:
        if not turn.calls:
            continue
        answered = {ref.id for place in turn.rest for ref in work.shapes[place].results}
        terminal = turn.rest.stop == last and ends_with_calls(work.shapes[place] for place in turn.rest)
        for id, calls in _by_id(turn).items():
            if id not in answered:
                _answer(work, turn, calls, terminal)
    work.settle()


def _answer(work: Worklist, turn: Turn, calls: list[CallRef], terminal: bool) -> None:
    assert turn.ai is not None
    call = calls[0]
    part = work.message(turn.ai).parts[call.part]
    assert isinstance(part, ToolCall)
    near = work.shapes[max(0, turn.end - NEARBY) : turn.end + NEARBY]
    has_name = any(ref.name for shape in near for ref in shape.results) or keeps_result_names(get_format(work.chain.format))
    name = call.name if has_name else ""
    answer = Message(TOOL, (ToolResult(call.id, name, FALLBACK_RESPONSE_CONTENT, type=part.type),))
    about = work.about[turn.ai]
    where = f"{work.where(about)} calls {call.name or 'a tool'} as “{call.id}”"
    problem = f"{where} and the chain ends there." if terminal else f"{where}, but no result follows."
    outcomes: dict[str, tuple[Part, ...]] = {"answer-call": (part, *answer.parts), "call-to-text": (Text(call_text(part)),)}
    has_no_room = turn.rest.stop == len(work.shapes) and work.chain.surroundings.ends_single
    if has_no_room or part.type == "computer":
        # a provider's response cannot contain a result, and a computer call needs a screenshot as its result
        del outcomes["answer-call"]
    rule = "terminal-call" if terminal else "pending-call"
    choice = work.offer(Proposal(rule, about, call.part, call.id, problem, (part,), outcomes, default=not terminal))
    if choice == "answer-call":
        work.edit(turn.end).after.append((answer, about))
    elif choice == "call-to-text":
        for same in calls:
            told = work.message(turn.ai).parts[same.part]
            assert isinstance(told, ToolCall)
            work.edit(turn.ai).parts[same.part] = (Text(call_text(told)),)


def calls_by_user(message: Message) -> bool:
    return message.role in (SYSTEM, HUMAN) and any(isinstance(part, ToolCall | ToolResult) for part in message.parts)


def fix_user_calls(work: Worklist) -> None:
    """Turn calls in messages of the user, and their results, into text. Only on demand: nothing matches them, and most APIs
    refuse them."""
    for place, message in work.read(calls_by_user):
        for i, part in enumerate(message.parts):
            if not isinstance(part, ToolCall | ToolResult):
                continue
            about = work.about[place]
            id, does = (
                (part.id, f"calls {part.name or 'a tool'}") if isinstance(part, ToolCall) else (part.call_id, "contains a tool result")
            )
            problem = f"{work.where(about)} has the role {message.role} and {does}."
            told = as_user_text(part)
            proposal = Proposal("call-by-user", about, i, id, problem, (part,), {"user-call-to-text": told}, False)
            if work.offer(proposal):
                work.edit(place).parts[i] = told
    work.settle()


def fix_summaries(work: Worklist) -> None:
    """Merge the tool messages of a summarization pair into one. Strict parsing accepts several, so this is not a default.

    Formats that store each result as its own message always have several.
    """
    if not get_format(work.chain.format).packs:
        return
    for turn in work.turns:
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


def has_lone_results(message: Message) -> bool:
    return message.role == AI and any(True for found in (lone_results, lone_calls, misplaced_server_calls) for _ in found(message))


def fix_server_results(work: Worklist) -> None:
    """Fix server calls without a result and server results without a call. Only on demand: other APIs do not know these parts."""
    for place, message in work.read(has_lone_results):
        for i, call in misplaced_server_calls(message):
            _offer_server_call(work, place, i, call)
        for i, part in lone_results(message):
            _offer(work, place, (i, part), ("server-result-without-call", "call", "server-result-to-text"))
        if place + 1 < len(work.shapes) and work.shapes[place + 1].role == HUMAN:
            for i, part in lone_calls(message):
                _offer(work, place, (i, part), ("server-call-without-result", "result", "call-to-text"))
    work.settle()


def _offer_server_call(work: Worklist, place: int, index: int, call: ToolCall) -> None:
    """Offer to write a call as a call of the API's own tool, which its result shows it to be."""
    about = work.about[place]
    problem = f"{work.where(about)} calls {call.name or 'a tool'} as a tool of the program, and has the result of the API's own tool."
    new: tuple[Part, ...] = (as_server_call(call),)
    if work.offer(Proposal("server-call-kind", about, index, call.id, problem, (call,), {"call-to-server": new}, default=False)):
        work.edit(place).parts[index] = new


def _offer(work: Worklist, place: int, spot: tuple[int, Opaque], flaw: tuple[str, str, str]) -> None:
    """Offer a fix for a part. `flaw` contains the rule, what is missing, and the choice."""
    (i, part), (rule, missing, choice) = spot, flaw
    about = work.about[place]
    problem = f"{work.where(about)} has a {part.kind} without its {missing}."
    told: tuple[Part, ...] = (Text(f"[{part.kind} without its {missing}]\n{part.text}"),)
    if work.offer(Proposal(rule, about, i, "", problem, (part,), {choice: told}, default=False)):
        work.edit(place).parts[i] = told
