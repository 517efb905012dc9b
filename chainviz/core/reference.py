"""Parse messages exactly as the reference does: what it accepts, what it repairs with force, and how.

For users who must match PentAGI. It loses late results, moves a late human message before the AI messages, and does not
converge on repeated results; chainviz/help/deviations.md lists the differences of our default.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from chainviz.core.chain.build import FALLBACK_REQUEST_ARGUMENTS, FALLBACK_RESPONSE_CONTENT, tool_message
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, ToolCall, detached
from chainviz.core.errors import Refused


@dataclass(slots=True)
class _OpenPair:
    """A pair under construction, with the ids of its calls tracked as results come in."""

    ai: Message
    completion: bool
    names: dict[str, str]
    """By call id: the name of the last call with the id."""
    rest: list[Message] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)
    answered_by: dict[str, str] = field(default_factory=dict)
    unmatched: set[str] = field(default_factory=set)

    @property
    def pending(self) -> list[str]:
        return sorted(id for id in self.names if id not in self.answers)


@dataclass(slots=True)
class _Section:
    system: Message | None = None
    human: Message | None = None
    body: list[_OpenPair] = field(default_factory=list)

    @property
    def messages(self) -> Iterable[Message]:
        yield from (message for message in (self.system, self.human) if message is not None)
        for pair in self.body:
            yield pair.ai
            yield from pair.rest


def parsed_by_reference(messages: Iterable[Message], *, force: bool) -> tuple[Message, ...]:
    """Return the chain as the reference represents it after parsing. Raises Refused with the reference's error text."""
    sections: list[_Section] = []
    pair: _OpenPair | None = None
    for message in messages:
        if not sections and message.role not in (SYSTEM, HUMAN):
            raise Refused(f"unexpected chain begin: first message must be System or Human, got {message.role}")
        match message.role:
            case "system":
                if sections:
                    raise Refused("unexpected system message in the middle of a chain")
                sections.append(_Section(system=message))
            case "human":
                pair = _take_human(sections, pair, message, force)
            case "ai":
                _close(pair, force)
                pair = _open_pair(message)
                sections[-1].body.append(pair)
            case "tool":
                _take_tool(pair, message, force)
            case role:
                raise Refused(f"unexpected message role: {role}")
    _close(pair, force)
    return tuple(message for section in sections for message in section.messages)


def _take_human(sections: list[_Section], pair: _OpenPair | None, message: Message, force: bool) -> _OpenPair | None:
    last = sections[-1] if sections else None
    if last is None:
        sections.append(_Section(human=message))
        return pair
    if last.human is None:
        if last.body and not force:
            raise Refused("got human message after AI message in the middle of a chain")
        last.human = message
        return pair
    if last.body:
        _close(pair, force)
        sections.append(_Section(human=message))
        return None
    if not force:
        raise Refused("double human messages in the middle of a chain")
    last.human = replace(last.human, parts=(*last.human.parts, *detached(message.parts)))
    return pair


def _open_pair(ai: Message) -> _OpenPair:
    """Open a pair. Calls without a function are dropped, but only before the first call that has one."""
    parts = list(ai.parts)
    first = next((i for i, part in enumerate(parts) if isinstance(part, ToolCall) and part.has_function), len(parts))
    kept = [part for part in parts[:first] if not isinstance(part, ToolCall)] + parts[first:]
    if len(kept) != len(parts):
        ai = replace(ai, parts=tuple(kept))
    return _OpenPair(ai, not ai.calls, {call.id: call.name for call in ai.calls})


def _take_tool(pair: _OpenPair | None, message: Message, force: bool) -> None:
    if pair is None or pair.completion:
        if force:
            return
        raise Refused("unexpected tool message without a preceding AI message with tool calls")
    pair.rest.append(message)
    for result in message.results:
        pair.answers[result.id] = pair.answers.get(result.id, 0) + 1
        pair.answered_by[result.id] = result.name
        if result.id not in pair.names or pair.answers[result.id] > 1:
            pair.unmatched.add(result.id)
    if not pair.unmatched:
        return
    unmatched = sorted(pair.unmatched)
    if not force:
        raise Refused(_no_response(unmatched))
    new = [ToolCall(id, pair.answered_by[id], FALLBACK_REQUEST_ARGUMENTS, type="") for id in unmatched]
    pair.ai = replace(pair.ai, parts=(*pair.ai.parts, *new))
    pair.names.update({call.id: call.name for call in new})
    # a result that repeats stays unmatched, and is given one more call after every message: it never converges
    pair.unmatched = {id for id in unmatched if pair.answers[id] > 1}


def _close(pair: _OpenPair | None, force: bool) -> None:
    pending = pair.pending if pair is not None and not pair.completion else []
    if pair is None or not pending:
        return
    if not force:
        raise Refused(_no_response(pending))
    pair.rest += [tool_message(id, pair.names[id], FALLBACK_RESPONSE_CONTENT) for id in pending]
    pair.answers.update(dict.fromkeys(pending, 1))


def _no_response(ids: list[str]) -> str:
    return f"tool calls with IDs [{', '.join(ids)}] have no response"
