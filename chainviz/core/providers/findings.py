"""Find facts about the contents of messages, once for all providers. Each provider has its own rule for a finding; if
it has none, it accepts what was found."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from chainviz.core.chain.arguments import is_json, is_json_object
from chainviz.core.chain.messages import (
    AI,
    FREE_FORM,
    HUMAN,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_blank,
)
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, place_in_words
from chainviz.core.chain.reasoning import is_emptied, is_unsigned
from chainviz.core.chain.surrogates import has_escaped_surrogate, has_lone_surrogate
from chainviz.core.chain.tree import Section, section_paths
from chainviz.core.pictures import LONGEST_OF_MANY, Picture, bytes_and_sides, file_of, is_empty, is_odd, is_too_large, pictures_in
from chainviz.core.providers.contract import IMAGE_ADDRESS, OPAQUE
from chainviz.core.providers.server_blocks import lone_calls

_WORD = re.compile(r"[a-zA-Z0-9_-]+")
_DATA = re.compile(r"data:[^,]*;base64,[A-Za-z0-9+/_\s-]+={0,2}\s*")
_BROKEN = {
    "base64": "has an image whose data is not valid base64",
    "unknown": "has an image whose data is not an image",
    "cut": "has an image whose data breaks off",
}
_BEGINNING = 200
"""The number of characters of a data: URL that show whether it contains an image or other text."""
SCHEMES = frozenset(("http", "https", "gs", "s3"))
"""The schemes of addresses that some of the APIs fetch."""
SAFE_ID, LONGEST_ID, LONGEST_NAME = 40, 64, 64

Found = tuple[str, int | None, str]
"""The name of a finding, the part, and what the message does."""


def content_findings(section: Section[Message], number: int, first_message: int, before: Role) -> Iterator[Problem]:
    """Yield findings in the contents of a section. `before`: the role of the message right before it, "" if it begins
    the chain."""
    paths: list[Path] = []
    for place, message in enumerate(section.messages):
        for name, part, what in _in_message(message, before):
            paths = paths or list(section_paths(section, number))
            path, index = paths[place], first_message + place
            at = Path(path.section, path.pair, path.message, part)
            yield Problem(name, "info", at, index, part, f"{place_in_words(path)} {what}.")
        before = message.role


def _in_message(message: Message, before: Role) -> Iterator[Found]:
    role = message.role
    if not message.parts and role in (HUMAN, AI):
        yield "no-parts", None, "has no content"
    if role == AI:
        yield from _in_answer(message, before)
    elif role == HUMAN == before:
        yield "human-after-human", None, "is a human message directly after another human message"
    text_before = False
    for part, each in enumerate(message.parts):
        for name, what in () if _is_usual(each, role) else _in_part(each, role):
            yield name, part, what
        if isinstance(each, Text):
            text_before = text_before or bool(each.text.strip()) or is_blank(each)
        elif text_before and role == TOOL and isinstance(each, ToolResult):
            yield "text-before-result", part, "has text before a tool result"


def form_of_contents(message: Message) -> tuple[Hashable, ...] | None:
    """Return a value that is equal for messages with the same findings; None for a message with unusual contents."""
    role = message.role
    form: list[Hashable] = [role]
    for part in message.parts:
        if not _is_usual(part, role) and next(_in_part(part, role), None) is not None:
            return None
        if isinstance(part, ToolResult) and not part.media:
            form += (ToolResult, part.content != "" and not part.content.isspace(), part.content != "", part.name != "", part.is_error)
        elif isinstance(part, Thinking):
            form += (Thinking, part.content != "", part.signature != "", part.redacted)
        elif isinstance(part, Text) and part.reasoning is None:
            form.append(Text)
        elif isinstance(part, ToolCall) and part.reasoning is None:
            form += (ToolCall, part.type, part.has_function)
        else:
            return None
    return tuple(form) if len(form) > 1 else None


def _is_usual(part: Part, role: Role) -> bool:
    """Return True, cheaply, for nearly every text, result and call: ASCII, and nothing in it to be found."""
    if isinstance(part, Text):
        return part.text.isascii() and part.text != "" and not part.text.isspace()
    if isinstance(part, ToolResult):
        return role == TOOL and not part.media and part.content.isascii()
    return isinstance(part, ToolCall) and role == AI and part.has_function and _is_usual_call(part)


def _is_usual_call(call: ToolCall) -> bool:
    id, name, arguments = call.id, call.name, call.arguments
    if len(id) > SAFE_ID or len(name) > LONGEST_NAME or id == "null" or not (_WORD.fullmatch(id) and _WORD.fullmatch(name)):
        return False
    return arguments.isascii() and "\\u" not in arguments and is_json_object(arguments)


def _in_answer(message: Message, before: Role) -> Iterator[Found]:
    if all(isinstance(part, Thinking) for part in message.parts):
        yield "says-nothing", None, "has neither text nor tool calls"
    if message.parts and isinstance(message.parts[-1], Thinking):
        yield "thinking-last", len(message.parts) - 1, "ends with thinking"
    for part, each in enumerate(message.parts):
        if isinstance(each, Image | Binary):
            yield "answer-media", part, "is an AI message and contains an image or a file"
    for part, call in lone_calls(message):
        yield "server-call-alone", part, f"has a {call.kind} without its result"
    if before == AI:
        yield "double-ai", None, "is an AI message directly after another AI message"


def _in_part(part: Part, role: Role) -> Iterator[tuple[str, str]]:
    yield from _in_kind(part, role)
    if has_lone_surrogate(part):
        yield "lone-surrogate", "has half of a character, which JSON cannot represent"
    elif has_escaped_surrogate(part):
        yield "escaped-surrogate", "calls a tool with half of a character in its arguments"


def _in_kind(part: Part, role: Role) -> Iterator[tuple[str, str]]:
    if isinstance(part, Text):
        if is_blank(part) and part.text:
            yield "blank-text", "has a text of only white space"
        elif is_blank(part):
            yield "empty-text", "has an empty text"
    elif isinstance(part, ToolCall):
        if part.has_function:
            yield from _in_call(part, role)
    elif isinstance(part, Thinking):
        if role == AI and is_unsigned(part):
            cut = ("cut-signature", "has thinking whose signature is shorter than it says")
            yield cut if part.signature else ("unsigned-thinking", "has thinking without a signature")
        elif role == AI and is_emptied(part):
            yield "emptied-thinking", "has signed thinking without text"
    elif isinstance(part, Opaque):
        yield OPAQUE, f"contains a part of the kind “{part.kind[:40]}”, which is not checked"
    else:
        yield from _in_media(part, role)


def _in_call(call: ToolCall, role: Role) -> Iterator[tuple[str, str]]:
    if role != AI:
        yield "call-by-other", f"has the role {role} and calls a tool"
    else:
        yield from _in_id_and_name(call)
    if not call.arguments.strip():
        yield "no-arguments", f"calls {call.name or 'a tool'} without arguments"
    elif not is_json_object(call.arguments):
        is_other = is_json(call.arguments)
        name = "free-form-arguments" if call.type == FREE_FORM else "no-object-arguments" if is_other else "no-json-arguments"
        yield name, f"calls {call.name or 'a tool'} with arguments that are not {'an object' if is_other else 'valid JSON'}"


def _in_id_and_name(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Yield what some API refuses in an id or a name."""
    id, name = call.id, call.name
    if id in ("", "null"):
        yield "no-id", f"has the empty call id “{id}”"
    elif not _WORD.fullmatch(id):
        yield "odd-id", f"has the call id “{id[:80]}”, which is not allowed"
    if len(id) > SAFE_ID:
        yield "very-long-id" if len(id) > LONGEST_ID else "long-id", f"has a call id of {len(id)} characters"
    if not _WORD.fullmatch(name):
        yield "odd-name", f"calls the tool “{name[:80]}”, whose name is not allowed"
    elif len(name) > LONGEST_NAME:
        what = "very-long-name" if len(name) > 2 * LONGEST_NAME else "long-name"
        yield what, f"calls the tool “{name[:80]}”, whose name has {len(name)} characters"


def _in_media(part: Image | Binary | ToolResult, role: Role) -> Iterator[tuple[str, str]]:
    if isinstance(part, ToolResult) and role == HUMAN:
        yield "call-by-other", "has the role human and contains a tool result"
    if isinstance(part, ToolResult) and part.media:
        yield "result-media", "has an image or a file in a tool result"
    for picture in pictures_in(part):
        url = picture.url if isinstance(picture, Image) else ""
        scheme, found, _ = url.partition("://")
        if url.startswith("data:"):
            if not _DATA.fullmatch(url[:_BEGINNING]):
                yield IMAGE_ADDRESS, "has an image whose data is not base64"
        elif found and scheme.lower() not in SCHEMES:
            yield IMAGE_ADDRESS, f"has an image at a {scheme}:// address, which only the program that wrote it can open"
        _, width, height = bytes_and_sides(picture)
        size = f"has an image of {width:,} × {height:,} pixels"
        if is_too_large(picture):
            yield "huge-image", size
        elif max(width, height) > LONGEST_OF_MANY:
            yield "large-image", size
        yield from _in_picture(picture)


def _in_picture(picture: Picture) -> Iterator[tuple[str, str]]:
    if is_empty(picture):
        yield "image-empty", "has an empty image"
        return
    found = file_of(picture)
    if found is None:
        return
    if found.fault:
        yield "image-broken", _BROKEN[found.fault]
    elif found.is_mislabelled:
        yield "image-mislabelled", f"has an image that is {found.mime} but is marked as {found.named[:40]}"
    if is_odd(picture):
        yield "image-odd-type", f"has an image of the type {found.type[:40]}"
