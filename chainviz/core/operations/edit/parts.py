"""Edits of which parts a message has: one more text, call or image, and another image in the place of one."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import AI, TOOL, Image, Part, Text, ToolCall
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.locate import Change, Place, replaced_part, splices_for
from chainviz.core.operations.edit.options import EditOptions
from chainviz.core.operations.edit.values import check_arguments


def add_part(place: Place, options: EditOptions) -> Change:
    """Behind the part that the path names, else at the end of the message."""
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
