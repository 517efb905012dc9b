"""Edits of what there is and in which order: insert, delete, move."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.locate import Change, Place, neighbour, splices_for
from chainviz.core.operations.edit.options import EditOptions
from chainviz.core.operations.edit.values import check_arguments


def insert(place: Place, options: EditOptions) -> Change:
    span = place.span
    at = span.start if options.where == "before" else span.stop
    return Change((Splice(at, 0, (new_message(options),)),), f"a message with the role {options.role} was inserted")


def new_message(options: EditOptions) -> Message:
    _check_place_for_all(options)
    parts: tuple[Part, ...] = (Text(options.text),)
    if options.role == TOOL:
        parts = (ToolResult(options.call_id, options.name, options.text),)
    elif options.role == AI and options.name:
        arguments = options.arguments or "{}"
        check_arguments(arguments, options)
        call = ToolCall(options.call_id, options.name, arguments)
        parts = (*parts, call) if options.text else (call,)
    return Message(options.role, parts)


def _check_place_for_all(options: EditOptions) -> None:
    """Refuses what the message could not hold: typed text is never left out without a word."""
    if options.role == TOOL and not options.call_id:
        raise Refused("A tool message needs the id of the call it answers.")
    if options.role == TOOL and options.arguments:
        raise Refused("A tool message has no arguments. Clear them, or choose the role AI to add a call.")
    if options.role == AI and not options.name and (options.arguments or options.call_id):
        raise Refused("A call needs the name of its tool.")
    if options.role in (SYSTEM, HUMAN) and (options.name or options.arguments or options.call_id):
        raise Refused("Only an AI message has a call. Choose the role AI, or clear the call id, tool name and arguments.")


def delete(place: Place, options: EditOptions) -> Change:
    if place.path.part is not None:
        return _delete_part(place, options)
    span = place.span
    if place.path.message is None or place.path.pair == 0 or not options.with_results:
        return Change((Splice(span.start, len(span)),), f"{_count(len(span))} deleted")
    gone = {call.id for call in place.chain[span.start].calls}
    return _deleted_with_results(place, span.start, (), gone)


def _delete_part(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    number, part = place.some_part(message)
    parts = message.parts[:number] + message.parts[number + 1 :]
    left = (replace(message, parts=parts),) if parts else ()
    gone: set[str] = set()
    if isinstance(part, ToolCall) and options.with_results:
        gone = {part.id} - {other.id for other in parts if isinstance(other, ToolCall)}
    return _deleted_with_results(place, at, left, gone)


def _deleted_with_results(place: Place, at: int, left: tuple[Message, ...], gone: set[str]) -> Change:
    """The message at `at` gives way to `left`, and results of the ids `gone` go from its pair."""
    edits: dict[int, tuple[Message, ...]] = {at: left}
    span = place.pair_span
    for i, message in enumerate(place.chain.slice(span.start, span.stop), span.start) if gone else ():
        if i != at and any(result.id in gone for result in message.results):
            parts = tuple(part for part in message.parts if not (isinstance(part, ToolResult) and part.call_id in gone))
            edits[i] = (replace(message, parts=parts),) if parts else ()
    others = f" with its results ({_count(len(edits) - 1)})" if len(edits) > 1 else ""
    return Change(splices_for(edits), f"{'a part' if left else 'the message'} was deleted{others}")


def _count(number: int) -> str:
    return "1 message" if number == 1 else f"{number:,} messages"


def move_up(place: Place, options: EditOptions) -> Change:
    other = _movable(place, -1)
    return Change(_swapped(place.chain, other, place.span), f"moved up {_moved_to(place.path, -1)}")


def move_down(place: Place, options: EditOptions) -> Change:
    other = _movable(place, 1)
    return Change(_swapped(place.chain, place.span, other), f"moved down {_moved_to(place.path, 1)}")


def _moved_to(path: Path, step: int) -> str:
    """Where the node is now, as pages show it."""
    if path.message is not None:
        return f"in {path.number}"
    moved = replace(path, pair=path.pair + step) if path.pair else replace(path, section=path.section + step)
    return f"to {moved.number}"


def _movable(place: Place, step: int) -> range:
    """The neighbour to change places with; Refused where the tree would fall apart."""
    path = place.path
    if path.part is not None:
        raise Refused("Parts cannot be moved; move the message.")
    if path.pair == 0 and path.message is None:
        raise Refused(f"{path} is a header; move its section, or one of its messages.")
    if path.message == 0 and path.pair:
        raise Refused(f"{path} is the AI message of its pair; move the pair.")
    span, other = place.span, neighbour(place.chain, path, step)
    if other is None:
        raise Refused(f"{path} is already {'first' if step < 0 else 'last'} there.")
    _check_neighbours(place, *(sorted((span, other), key=lambda each: each.start)))
    return other


def _check_neighbours(place: Place, upper: range, lower: range) -> None:
    """Pairs begin with their AI message and sections with their header, or they would join what comes before them."""
    chain, path = place.chain, place.path
    if path.message is not None:
        if path.pair and chain[upper.start].role == AI:
            raise Refused(f"{path} cannot move before the AI message of its pair; move the pair.")
        return
    if path.pair:
        if chain[upper.start].role != AI:
            raise Refused(
                "The first pair has no AI message; below another pair, its messages would become part of that pair."
            )
        return
    headers = (SYSTEM, HUMAN)
    if chain[upper.start].role not in headers:
        raise Refused("The first section has no header; below another section, its pairs would become part of that section.")
    if chain[lower.stop - 1].role in headers:
        raise Refused("The last section is not answered yet; above another section, it would become part of that section's header.")


def _swapped(chain: Chain, upper: range, lower: range) -> tuple[Splice, ...]:
    """Two neighbouring spans change places: the smaller one is taken out and put on the other side."""
    if len(lower) <= len(upper):
        moved = tuple(chain.slice(lower.start, lower.stop))
        return (Splice(upper.start, 0, moved), Splice(lower.start, len(lower)))
    moved = tuple(chain.slice(upper.start, upper.stop))
    return (Splice(upper.start, len(upper)), Splice(lower.stop, 0, moved))
