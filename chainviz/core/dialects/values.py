"""Values in the JSON of a unit: reading members that may be anything, and spelling a changed value as its neighbours are
spelled.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from mimetypes import guess_extension
from typing import Any

from chainviz.core.chain.messages import Binary, Image, Message, Part, Reasoning, Text, Thinking, ToolCall
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Pointer


def matched(old: Sequence[Part], new: Sequence[Part]) -> list[int | None]:
    """Return for each new part the index of its old part, or None. Parts of another message may have the same origins
    after a merge; equal parts are matched first."""
    claims: list[int | None] = [None] * len(new)
    taken: set[int] = set()
    for strict in (True, False):
        for place, part in enumerate(new):
            origin = part.origin
            if claims[place] is not None or not 0 <= origin < len(old) or origin in taken:
                continue
            if (part == old[origin]) if strict else type(part) is type(old[origin]):
                claims[place] = origin
                taken.add(origin)
    return claims


_FIRST = re.compile(r'\{(\s*\n\s*)"')
_LAST = re.compile(r"(\s*\n\s*)\}$")


class Speller:
    """Spells new JSON in the manner of the text around it."""

    def __init__(self, near: str, ascii_only: bool) -> None:
        self.ascii_only = ascii_only and near.isascii()
        self.compact = bool(near) and '": ' not in near[:4096]
        self._first, self._last = _FIRST.match(near), _LAST.search(near[-200:])

    def quote(self, text: str) -> str:
        return json_edit.quote(text, self.ascii_only)

    def dump(self, value: object) -> str:
        return json_edit.dump(value, self.ascii_only, self.compact)

    def object(self, members: dict[str, str]) -> str:
        """Return an object whose members are already JSON text."""
        colon, comma = (":", ",") if self.compact else (": ", ", ")
        return "{" + comma.join(self.quote(key) + colon + text for key, text in members.items()) + "}"

    def unit(self, members: dict[str, str]) -> str:
        """A whole message: where its neighbour has its members on lines of their own, so has this."""
        if not (self._first and self._last):
            return self.object(members)
        colon = ":" if self.compact else ": "
        lines = [self._first[1] + self.quote(key) + colon + text for key, text in members.items()]
        return "{" + ",".join(lines) + self._last[1] + "}"

    def list(self, items: Sequence[str]) -> str:
        return "[" + ("," if self.compact else ", ").join(items) + "]"


def is_json(text: str) -> bool:
    try:
        json.loads(text, strict=True)
    except (ValueError, RecursionError):
        return False
    return True


def is_object(text: str) -> bool:
    return text.lstrip()[:1] == "{" and is_json(text)


def string_or_raw(item: dict[str, Any], text: str, place: Pointer, key: str) -> str:
    """Return the string under a key of the object at `place`; of another value, its JSON as the source spells it."""
    value = item.get(key)
    if value is None:
        return ""
    return value if type(value) is str else json_edit.member_at(text, place, key)


def decode_base64(text: str) -> bytes | None:
    """Decode base64. Return None for a text that would not be written the same again."""
    try:
        content = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    return content if encode_base64(content) == text else None


def encode_base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def data_url(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{encode_base64(content)}"


def file_name(mime: str) -> str:
    """Return a name for a file of this type. OpenAI's APIs refuse a file without one."""
    return f"file{guess_extension(mime) or '.bin'}"


def split_data_url(url: str) -> tuple[str, str] | None:
    """Media type and base64 text of a data: URL."""
    head, comma, content = url.partition(",")
    if comma and head.startswith("data:") and head.endswith(";base64"):
        return head[len("data:") : -len(";base64")], content
    return None


def reasoning_of(message: Message) -> list[Reasoning]:
    """Return all reasoning of a message in order, whether it is a part of its own or attached to one."""
    found: list[Reasoning] = []
    for part in message.parts:
        if isinstance(part, Thinking):
            found.append(Reasoning(part.content, part.signature))
        elif isinstance(part, Text | ToolCall) and part.reasoning is not None and not part.reasoning.is_empty:
            found.append(part.reasoning)
    return found


def image_of(part: Image | Binary) -> Image:
    return part if isinstance(part, Image) else Image(data_url(part.mime, part.content))


def text_or_json(value: object, unit: str, at: Pointer) -> str:
    """Return the text or, if the leaf contains other JSON, the JSON as the unit spells it; "" if the leaf is absent."""
    return value if isinstance(value, str) else json_edit.raw_at(unit, at) or ""


def spelled_like_before(text: str, before: str, speller: Speller) -> str:
    """Return the new value of a leaf with a text or JSON: JSON if it contained JSON and `text` is JSON, else a string."""
    was_json = bool(before) and not before.startswith('"')
    return text if was_json and is_json(text) and not text.lstrip().startswith('"') else speller.quote(text)


def input_text(arguments: str, speller: Speller) -> str:
    """Return the JSON of a call's arguments for an API that takes any value; text that is not JSON goes under `_raw`."""
    if is_json(arguments):
        return arguments
    return speller.object({"_raw": speller.quote(arguments)}) if arguments.strip() else "{}"


def string_of(value: Any, key: str, default: str = "") -> str:
    """Return the string under a key of an object, or `default` if there is no object, no such member or no string."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else default


def text_or_null(block: dict[str, Any]) -> str | None:
    """Return the text of a block, which is empty if it is null; None if the block has no text."""
    text = block.get("text", 0)
    return text if type(text) is str else "" if text is None else None


def objects_of(value: Any, key: str) -> list[dict[str, Any]]:
    """Return the objects in the list that an object holds under a key."""
    found = value.get(key) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
