"""Edits at the joints between messages: split one in two, merge two into one, go on at the end of the chain.

What is appended to a conversation state is stored, not sent: nothing calls a model (seed 3, AppendToState).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Part, Text
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.insert_delete_move import new_message
from chainviz.core.operations.edit.locate import Change, Place
from chainviz.core.operations.edit.options import EditOptions


def split(place: Place, options: EditOptions) -> Change:
    """Two messages of the same role; the second is new to the document, the first stays where it was in it."""
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
    halves = replace(message, parts=before), Message(message.role, _without_origin(after), label=message.label)
    return Change((Splice(at, 1, halves),), f"split after {options.offset:,} characters")


def merge(place: Place, options: EditOptions) -> Change:
    """This message and the next of the same role, in the place of the first."""
    at, message = place.one_message()
    if at + 1 >= len(place.chain):
        raise Refused(f"{place.path} is the last message; there is none to merge it with.")
    following = place.chain[at + 1]
    if following.role != message.role:
        raise Refused(f"The next message has the role {following.role}; only messages with the same role can be merged.")
    parts = _joined(message.parts, _without_origin(following.parts), options)
    return Change((Splice(at, 2, (replace(message, parts=parts),)),), "the next message was merged into it")


def _joined(first: tuple[Part, ...], second: tuple[Part, ...], options: EditOptions) -> tuple[Part, ...]:
    if not (options.join and first and second):
        return first + second
    last, following = first[-1], second[0]
    if not isinstance(last, Text) or not isinstance(following, Text):
        return first + second
    text = replace(last, text=last.text + options.separator + following.text)
    return (*first[:-1], text, *second[1:])


def _without_origin(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts for a message that no document holds: their places in another message's source mean nothing there."""
    return tuple(replace(part, origin=-1) for part in parts)


def append_human(chain: Chain, options: EditOptions) -> Change:
    """The four cases of seed 0: a section of its own, or part of a last header that is not answered yet."""
    for at, message in _last_header(chain):
        if message.role == HUMAN:
            new = replace(message, parts=(*message.parts, Text(options.text)))
            return Change((Splice(at, 1, (new,)),), "added to the last human message, which is not answered yet")
    return Change((Splice(len(chain), 0, (Message(HUMAN, (Text(options.text),)),)),), "a human message was added")


def append(chain: Chain, options: EditOptions) -> Change:
    """A message of any role at the end, after any message."""
    return Change((Splice(len(chain), 0, (new_message(options),)),), f"a message with the role {options.role} was appended")


def add_event(chain: Chain, options: EditOptions) -> Change:
    """Something that happened, as a human message of its own at the end."""
    return Change((Splice(len(chain), 0, (Message(HUMAN, (Text(options.text),)),)),), "an event was added")


def _last_header(chain: Chain) -> Iterator[tuple[int, Message]]:
    """The messages of the last header from the end, if nothing follows it."""
    for at in range(len(chain) - 1, -1, -1):
        message = chain[at]
        if message.role not in (SYSTEM, HUMAN):
            return
        yield at, message
