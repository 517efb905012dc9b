"""Edits of one value: a text, a role, or a tool's name, arguments, result or call id. Parts keep their origin, and copies of a text
in the message's record are changed with it.
"""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import AI, TOOL, Fragment, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.documents.assemble import units_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import in_words
from chainviz.core.documents.units import Pointer, Unit
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format, Style, unit_form
from chainviz.core.formats.conversion import without_source
from chainviz.core.formats.coverage import KNOWN_FIELDS
from chainviz.core.operations.edit.locate import Change, EditOptions, Place, replaced_part, splices_for


def with_copies(old: Message, new: Message) -> Message:
    """Return the changed message, with each text of its record that repeats a changed text changed as well. Several formats write a text
    twice, such as LiteLLM's `reasoning_content` and `thinking_blocks`. A record with several messages keeps its copies."""
    texts = dict(_changed_texts(old, new))
    if not texts or shares_record(new):
        return new
    return replace(new, source=tuple(_with_texts(fragment, texts) for fragment in new.source))


def shares_record(message: Message) -> bool:
    return any(fragment.blocks is not None for fragment in message.source)


def _changed_texts(old: Message, new: Message) -> Iterator[tuple[str, str]]:
    kept = {_text(part) for part in new.parts}
    if len(old.parts) == len(new.parts):
        pairs = ((_text(before), _text(after)) for before, after in zip(old.parts, new.parts, strict=True))
        yield from ((before, after) for before, after in pairs if before and before not in kept)


def _text(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Thinking() | ToolResult():
            return part.content
    return ""


def _with_texts(fragment: Fragment, texts: dict[str, str]) -> Fragment:
    try:
        copies = [(place, texts[text]) for place, text in _strings(json_edit.parse(fragment.text), ()) if text in texts]
    except (ValueError, RecursionError):
        return fragment
    text = fragment.text
    for place, new in copies:
        text = json_edit.replace_at(text, place, json_edit.spelled_like(new, text))
    return fragment.with_text(text)


def _strings(value: Any, place: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Yield the strings of a decoded record, except those of ids, roles and the like."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in KNOWN_FIELDS:
                yield from _strings(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _strings(item, (*place, index))


def with_role(message: Message, role: str) -> Message:
    """Return the message with another role, in a record of its own if it shares one."""
    new = replace(message, role=role, label="")
    return without_source(new) if shares_record(message) else new


def is_read_again(format: Format, before: Sequence[Message], after: Sequence[Message]) -> bool:
    """Return False if the records of the messages after a change would be read as other messages. A format that reads a record together
    with its surroundings is not judged: it reads other messages even from the records before the change."""
    return _read(format, before) != _turns(before) or _read(format, after) == _turns(after)


def _read(format: Format, messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return what the records of the messages say when they are read without the rest of the document."""
    sources = [message.source and format.write(message, Style(near=message.source[0].text)) for message in messages]
    pairs = enumerate(zip(sources, messages, strict=True))
    written = (source or format.write(message, Style(number=place)) for place, (source, message) in pairs)
    units = []
    for place, text in enumerate(units_of(written, unit_form(format))):
        with suppress(ValueError, RecursionError):
            units.append(Unit(place, "", text, json_edit.parse(text) if format.blocks_at else text, -1))
    return _turns([each for each in format.read(units) if isinstance(each, Message)])


def _turns(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return the role and the texts of each turn. Formats may join messages of one role."""
    found: list[tuple[str, str]] = []
    for message in messages:
        text = "".join(map(_text_in_turn, message.parts))
        if found and found[-1][0] == message.role:
            found[-1] = (message.role, found[-1][1] + text)
        elif text:
            found.append((message.role, text))
    return found


def _text_in_turn(part: Part) -> str:
    match part:
        case ToolCall():
            return part.name
        case Image():
            return part.url
        case Opaque():
            return part.text
    return _text(part)


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
