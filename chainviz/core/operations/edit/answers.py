"""Answering a tool call: its result, where none is, or another content for the one there is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import AI, TOOL, Message, ToolCall, ToolResult
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.locate import Change, Place, replaced_part, splices_for
from chainviz.core.operations.edit.options import EditOptions


def answer(place: Place, options: EditOptions) -> Change:
    """The result of a call: rewritten where there is one, else added behind the pair's tool messages."""
    call, span = _call_to_answer(place, options)
    name = options.name or call.name
    rest = list(enumerate(place.chain.slice(span.start + 1, span.stop), span.start + 1))
    for at, message in rest:
        for found in message.results:
            part = message.parts[found.part]
            if found.id == call.id and isinstance(part, ToolResult):
                is_error = part.is_error if options.is_error == "keep" else options.is_error == "yes"
                new = replace(part, content=options.text, is_error=is_error)
                parts = replaced_part(message, found.part, new)
                return Change(
                    splices_for({at: (replace(message, parts=parts),)}), f"the result of {name} was rewritten"
                )
    named = options.name or not _are_nameless(message for _, message in rest)
    result = ToolResult(call.id, name if named else "", options.text, is_error=options.is_error == "yes")
    tools = [(at, message) for at, message in rest if message.role == TOOL]
    last, message = tools[-1] if tools else (span.start, Message(TOOL))
    if len(message.results) > 1:
        # this chain keeps the results of one turn in one message
        longer = replace(message, parts=(*message.parts, result))
        return Change(splices_for({last: (longer,)}), f"the call of {name} was answered")
    return Change((Splice(last + 1, 0, (Message(TOOL, (result,)),)),), f"the call of {name} was answered")


def _are_nameless(messages: Iterable[Message]) -> bool:
    """This chain's results carry no names, as many formats have none."""
    results = [result for message in messages for result in message.results]
    return bool(results) and not any(result.name for result in results)


def _call_to_answer(place: Place, options: EditOptions) -> tuple[ToolCall, range]:
    if not place.path.pair:
        raise Refused(f"{place.path} is not a body pair; only the calls of an AI message can be answered.")
    span = place.pair_span
    ai = place.chain[span.start]
    calls = [part for part in ai.parts if isinstance(part, ToolCall) and part.has_function] if ai.role == AI else []
    if place.path.part is not None and place.path.message == 0:
        _, chosen = place.one_part(ai, "tool call", ToolCall)
        return chosen, span
    if options.call_id:
        calls = [call for call in calls if call.id == options.call_id]
    if len(calls) > 1 and not options.call_id:
        answered = {result.id for message in place.chain.slice(span.start + 1, span.stop) for result in message.results}
        calls = [call for call in calls if call.id not in answered]
    if not calls:
        raise Refused(f"{place.path} has no such call that could be answered.")
    if len(calls) > 1 and not options.call_id:
        raise Refused(f"{place.path} has {len(calls)} open calls; choose one: {_listed(call.id for call in calls)}.")
    return calls[0], span


def _listed(ids: Iterable[str]) -> str:
    found = list(ids)
    return ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
