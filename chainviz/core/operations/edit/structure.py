"""Edits of structure: insert, delete, move, split, merge and append messages, and add parts to one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Part, Text, ToolCall, ToolResult, detached
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.locate import Change, EditOptions, Place, neighbour, replaced_part, splices_for
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
    """Raise Refused for values that the message cannot store, so that typed text is never dropped silently."""
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
        return Change((Splice(span.start, len(span)),), f"{count_text(len(span), 'message')} deleted")
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
    """Return the change that replaces the message at `at` with `left` and removes the results of the calls `gone` from its pair."""
    edits: dict[int, tuple[Message, ...]] = {at: left}
    span = place.pair_span
    for i, message in enumerate(place.chain.slice(span.start, span.stop), span.start) if gone else ():
        if i != at and any(result.id in gone for result in message.results):
            parts = tuple(part for part in message.parts if not (isinstance(part, ToolResult) and part.call_id in gone))
            edits[i] = (replace(message, parts=parts),) if parts else ()
    others = f" with its results ({count_text(len(edits) - 1, 'message')})" if len(edits) > 1 else ""
    return Change(splices_for(edits), f"{'a part' if left else 'the message'} was deleted{others}")


def move_up(place: Place, options: EditOptions) -> Change:
    other = _movable(place, -1)
    return Change(_swapped(place.chain, other, place.span), f"moved up {_moved_to(place.path, -1)}")


def move_down(place: Place, options: EditOptions) -> Change:
    other = _movable(place, 1)
    return Change(_swapped(place.chain, place.span, other), f"moved down {_moved_to(place.path, 1)}")


def _moved_to(path: Path, step: int) -> str:
    """Describe the new position of a moved node, as pages show it."""
    if path.message is not None:
        return f"in {path.number}"
    moved = replace(path, pair=path.pair + step) if path.pair else replace(path, section=path.section + step)
    return f"to {moved.number}"


def _movable(place: Place, step: int) -> range:
    """Return the span of the neighbour to swap with. Raises Refused if the move would break a pair or a section."""
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
    """Raise Refused for a move after which a pair would not begin with its AI message, or a section with its header. It would become part
    of the pair or section before it."""
    chain, path = place.chain, place.path
    if path.message is not None:
        if path.pair and chain[upper.start].role == AI:
            raise Refused(f"{path} cannot move before the AI message of its pair; move the pair.")
        return
    if path.pair:
        if chain[upper.start].role != AI:
            raise Refused("The first pair has no AI message; below another pair, its messages would become part of that pair.")
        return
    headers = (SYSTEM, HUMAN)
    if chain[upper.start].role not in headers:
        raise Refused("The first section has no header; below another section, its pairs would become part of that section.")
    if chain[lower.stop - 1].role in headers:
        raise Refused("The last section is not answered yet; above another section, it would become part of that section's header.")


def _swapped(chain: Chain, upper: range, lower: range) -> tuple[Splice, ...]:
    """Swap two neighbouring spans by moving the smaller one to the other side."""
    if len(lower) <= len(upper):
        moved = tuple(chain.slice(lower.start, lower.stop))
        return (Splice(upper.start, 0, moved), Splice(lower.start, len(lower)))
    moved = tuple(chain.slice(upper.start, upper.stop))
    return (Splice(upper.start, len(upper)), Splice(lower.stop, 0, moved))


# Appended messages of a conversation state are stored but not sent, because no model is called.


def split(place: Place, options: EditOptions) -> Change:
    """Split a text message into two of the same role; the first keeps its place in the document, the second is new to it."""
    at, message = place.one_message()
    number, text = place.one_part(message, "text", Text)
    if options.offset > len(text.text):
        raise Refused(f"The text has {len(text.text):,} characters; it cannot be split after {options.offset:,}.")
    first, second = text.text[: options.offset], text.text[options.offset :]
    before: tuple[Part, ...] = message.parts[:number]
    after: tuple[Part, ...] = message.parts[number + 1 :]
    if first or not before:
        before = (*before, replace(text, text=first))
    if second or not after:
        after = (Text(second), *after)
    if not (first or message.parts[:number]) or not (second or message.parts[number + 1 :]):
        raise Refused("Nothing would be left on one side; split inside the text.")
    halves = replace(message, parts=before), Message(message.role, detached(after), label=message.label)
    return Change((Splice(at, 1, halves),), f"split after {options.offset:,} characters")


def merge(place: Place, options: EditOptions) -> Change:
    """Merge a message with the next one, which must have the same role."""
    at, message = place.one_message()
    if at + 1 >= len(place.chain):
        raise Refused(f"{place.path} is the last message; there is none to merge it with.")
    following = place.chain[at + 1]
    if following.role != message.role:
        raise Refused(f"The next message has the role {following.role}; only messages with the same role can be merged.")
    parts = _joined(message.parts, detached(following.parts), options)
    return Change((Splice(at, 2, (replace(message, parts=parts),)),), "the next message was merged into it")


def _joined(first: tuple[Part, ...], second: tuple[Part, ...], options: EditOptions) -> tuple[Part, ...]:
    if not (options.join and first and second):
        return first + second
    last, following = first[-1], second[0]
    if not isinstance(last, Text) or not isinstance(following, Text):
        return first + second
    text = replace(last, text=last.text + options.separator + following.text)
    return (*first[:-1], text, *second[1:])


def append_human(chain: Chain, options: EditOptions) -> Change:
    """Append a human message: a new section or, if the last header has no answer yet, a part of that header."""
    for at, message in _last_header(chain):
        if message.role == HUMAN:
            new = replace(message, parts=(*message.parts, Text(options.text)))
            return Change((Splice(at, 1, (new,)),), "added to the last human message, which is not answered yet")
    return Change((Splice(len(chain), 0, (Message(HUMAN, (Text(options.text),)),)),), "a human message was added")


def append(chain: Chain, options: EditOptions) -> Change:
    """Append a message of any role at the end of the chain."""
    return Change((Splice(len(chain), 0, (new_message(options),)),), f"a message with the role {options.role} was appended")


def add_event(chain: Chain, options: EditOptions) -> Change:
    """Append an event as a separate human message at the end of the chain."""
    return Change((Splice(len(chain), 0, (Message(HUMAN, (Text(options.text),)),)),), "an event was added")


def _last_header(chain: Chain) -> Iterator[tuple[int, Message]]:
    """Yield the messages of the last header, last first, if nothing follows the header."""
    for at in range(len(chain) - 1, -1, -1):
        message = chain[at]
        if message.role not in (SYSTEM, HUMAN):
            return
        yield at, message


def add_part(place: Place, options: EditOptions) -> Change:
    """Add a part after the one that the path names, or at the end of the message."""
    at, message = place.one_message()
    if message.role == TOOL:
        raise Refused("A tool message can only have results; answer a call, or insert another message.")
    number = len(message.parts) if place.path.part is None else place.some_part(message)[0] + 1
    part, noun = _new_part(message.role, options)
    parts = (*message.parts[:number], part, *message.parts[number:])
    return Change(splices_for({at: (replace(message, parts=parts),)}), f"{noun} was added")


def _new_part(role: str, options: EditOptions) -> tuple[Part, str]:
    if options.name:
        if role != AI:
            raise Refused("Only an AI message calls tools.")
        arguments = options.arguments or "{}"
        check_arguments(arguments, options)
        return ToolCall(options.call_id, options.name, arguments), f"a call of {options.name}"
    if options.arguments:
        raise Refused("A call needs the name of its tool.")
    if options.url:
        return Image(options.url), "an image"
    if not options.text:
        raise Refused("Type a text, a tool name or the address of an image for the new part.")
    return Text(options.text), "a text"


def set_image(place: Place, options: EditOptions) -> Change:
    at, message = place.one_message()
    number, image = place.one_part(message, "image", Image)
    if not options.url:
        raise Refused("An image needs an address or its content; delete the part to remove it.")
    parts = replaced_part(message, number, replace(image, url=options.url))
    return Change(splices_for({at: (replace(message, parts=parts),)}), "the image was replaced")
