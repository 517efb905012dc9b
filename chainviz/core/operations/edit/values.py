"""Edits of one value: a text, a role, or a tool's name, arguments, result or call id. Parts keep their origin."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterable
from dataclasses import replace

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import AI, TOOL, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.documents.json.scan import in_words
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.locate import Change, EditOptions, Place, replaced_part, splices_for
from chainviz.core.operations.edit.record import with_role

CallOrResult = ToolCall | ToolResult
INVALID_ARGUMENTS = "The arguments are invalid JSON"


def set_text(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    if place.path.part is not None and place.path.part < len(message.parts):
        part = message.parts[place.path.part]
        if isinstance(part, Thinking):
            return _set_reasoning(at, message, place.path.part, part, options.text)
        if isinstance(part, ToolResult):
            return set_result(place, options)
    if not message.parts and place.path.part is None:
        new = replace(message, parts=(Text(options.text),))
    else:
        number, text = place.one_part(message, "text", Text)
        new = replace(message, parts=replaced_part(message, number, replace(text, text=options.text)))
    return Change(splices_for({at: (new,)}), "the text was rewritten")


def _set_reasoning(at: int, message: Message, number: int, part: Thinking, text: str) -> Change:
    if part.signature or part.redacted:
        raise Refused("Signed reasoning cannot be rewritten, because its signature would no longer match; delete the part instead.")
    new = replace(message, parts=replaced_part(message, number, replace(part, content=text)))
    return Change(splices_for({at: (new,)}), "the reasoning was rewritten")


def set_role(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    role = options.role
    if role == message.role:
        raise Refused(f"{place.path} already has the role {role}.")
    _check_role(message, role)
    return Change(splices_for({at: (with_role(message, role),)}), f"the role {message.role} became {role}")


def _check_role(message: Message, role: str) -> None:
    kinds = {type(part) for part in message.parts}
    if role != AI and kinds & {ToolCall, Thinking}:
        raise Refused("It has tool calls or reasoning, which only an AI message can have; delete them first.")
    if role != TOOL and ToolResult in kinds:
        raise Refused("It has tool results, which only a tool message can have; delete them first.")
    if role == TOOL and ToolResult not in kinds:
        raise Refused("A tool message needs a tool result; answer the call instead.")


def set_name(place: Place, options: EditOptions) -> Change:
    if not options.name:
        raise Refused("A tool needs a name.")

    _, message = place.one_message()
    chosen: CallOrResult
    _, chosen = place.one_part(message, "tool call or result", ToolCall, ToolResult)

    def renamed(part: CallOrResult) -> CallOrResult:
        # results without this name are not renamed, because many formats do not store names in results
        return replace(part, name=options.name) if part is chosen or part.name == chosen.name else part

    return _set_on_call_or_result(place, options, renamed, "name")


def set_call_id(place: Place, options: EditOptions) -> Change:
    if not options.call_id:
        raise Refused("A call needs an id that links it to its result.")
    _, message = place.one_message()
    part: CallOrResult
    _, part = place.one_part(message, "tool call or result", ToolCall, ToolResult)
    if isinstance(part, ToolCall) and any(
        isinstance(other, ToolCall) and other is not part and other.id == options.call_id for other in message.parts
    ):
        raise Refused(f"Another call in this message already has the id {options.call_id}.")

    def with_id(part: CallOrResult) -> CallOrResult:
        if isinstance(part, ToolCall):
            return replace(part, id=options.call_id)
        return replace(part, call_id=options.call_id)

    return _set_on_call_or_result(place, options, with_id, "call id")


def _set_on_call_or_result(place: Place, options: EditOptions, changed: Callable[[CallOrResult], CallOrResult], noun: str) -> Change:
    """Change a part alone, or a call together with its results in the pair."""
    at, message = place.one_message()
    part: CallOrResult
    number, part = place.one_part(message, "tool call or result", ToolCall, ToolResult)
    edits: dict[int, tuple[Message, ...]] = {at: (replace(message, parts=replaced_part(message, number, changed(part))),)}
    if isinstance(part, ToolCall) and options.with_results:
        edits |= _changed_results(place, at, part.id, changed)
    others = f", its results too ({len(edits) - 1} messages)" if len(edits) > 1 else ""
    return Change(splices_for(edits), f"the {noun} was changed{others}")


def _changed_results(
    place: Place, at: int, call_id: str, changed: Callable[[CallOrResult], CallOrResult]
) -> dict[int, tuple[Message, ...]]:
    edits: dict[int, tuple[Message, ...]] = {}
    span = place.pair_span
    for i, message in enumerate(place.chain.slice(span.start, span.stop), span.start):
        parts = tuple(_for_id(part, call_id, changed) for part in message.parts)
        if i != at and parts != message.parts:
            edits[i] = (replace(message, parts=parts),)
    return edits


def _for_id(part: Part, call_id: str, changed: Callable[[CallOrResult], CallOrResult]) -> Part:
    return changed(part) if isinstance(part, ToolResult) and part.call_id == call_id else part


def set_arguments(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    number, call = place.one_part(message, "tool call", ToolCall)
    if is_json(call.arguments):
        check_arguments(options.arguments, options)
    new = replace(message, parts=replaced_part(message, number, replace(call, arguments=options.arguments)))
    return Change(splices_for({at: (new,)}), f"the arguments of {call.name} were rewritten")


def check_arguments(text: str, options: EditOptions) -> None:
    """Raise Refused, with the place of the fault, if the text is invalid JSON, unless the options allow it."""
    if options.allow_invalid or is_json(text):
        return
    try:
        json.loads(text)
        where = ""
    except json.JSONDecodeError as error:
        where = f" at line {error.lineno}, column {error.colno}: {in_words(error.msg)}"
    except (ValueError, RecursionError) as error:
        where = f": {error}"
    raise Refused(f"{INVALID_ARGUMENTS}{where}. Fix them, or allow invalid JSON.")


def set_result(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    number, result = place.one_part(message, "tool result", ToolResult)
    is_error = result.is_error if options.is_error == "keep" else options.is_error == "yes"
    new = replace(result, content=options.text, is_error=is_error)
    return Change(
        splices_for({at: (replace(message, parts=replaced_part(message, number, new)),)}),
        f"the result of {result.name or result.call_id} was rewritten",
    )


def answer(place: Place, options: EditOptions) -> Change:
    """Answer a call: rewrite its result or, if it has none, add one after the tool messages of the pair."""
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
                return Change(splices_for({at: (replace(message, parts=parts),)}), f"the result of {name} was rewritten")
    named = options.name or not _are_nameless(message for _, message in rest)
    result = ToolResult(call.id, name if named else "", options.text, is_error=options.is_error == "yes")
    tools = [(at, message) for at, message in rest if message.role == TOOL]
    last, message = tools[-1] if tools else (span.start, Message(TOOL))
    if len(message.results) > 1:
        # the chain stores the results of one turn in one message
        longer = replace(message, parts=(*message.parts, result))
        return Change(splices_for({last: (longer,)}), f"the call of {name} was answered")
    return Change((Splice(last + 1, 0, (Message(TOOL, (result,)),)),), f"the call of {name} was answered")


def _are_nameless(messages: Iterable[Message]) -> bool:
    """Return True if the results of the chain have no names, as in many formats."""
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


NEAR = 40
"""The number of messages on each side whose ids a new id imitates."""
SEQUENCE = 6
"""The most digits of a counted id. A number with more digits is random."""
_ID = re.compile(r"(.*[^A-Za-z0-9])?([A-Za-z0-9]+)", re.DOTALL)
CHARSETS = (string.digits, string.digits + "abcdef", string.ascii_letters + string.digits)


def new_call_id(chain: Chain, at: int, source: random.Random) -> str:
    """Make an id for a new call in the style of its neighbours. `at`: the index of the message that gets the call."""
    near = chain.slice(max(0, at - NEAR), min(len(chain), at + NEAR))
    taken = [call.id for message in near for call in message.calls if call.id]
    found = _ID.fullmatch(taken[-1]) if taken else None
    if found is None:
        return _fresh(lambda: parse_template(DEFAULT_TEMPLATE).generate(source), taken)
    head, tail = found[1] or "", found[2]
    if tail.isdigit() and len(tail) <= SEQUENCE:
        return f"{head}{_highest(taken, head) + 1:0{len(tail)}d}"
    characters = next(each for each in CHARSETS if set(tail) <= set(each))
    return _fresh(lambda: head + "".join(source.choices(characters, k=max(len(tail), SEQUENCE))), taken)


def _fresh(generate: Callable[[], str], taken: list[str]) -> str:
    while (id := generate()) in taken:
        pass
    return id


def _highest(taken: list[str], head: str) -> int:
    tails = (id.removeprefix(head) for id in taken if id.startswith(head))
    return max(int(tail) for tail in tails if tail.isdecimal() and tail.isascii() and len(tail) <= SEQUENCE)
