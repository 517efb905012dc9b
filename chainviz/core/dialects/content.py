"""Contents that are a text or a list of elements, as of tool results, and the images and files in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.messages import Binary, Image, ToolResult
from chainviz.core.dialects.leaf import Leaf, Located, Spell
from chainviz.core.dialects.values import Speller, data_url, decode_base64, encode_base64, split_data_url
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object, dump, raw_at
from chainviz.core.documents.units import Pointer

ReadElement = Callable[[dict[str, Any]], str | Image | Binary | None]
"""Returns the text or the image of an element, or None for another kind, which is shown as JSON."""


def set_text(element: Object, text: str, speller: Speller) -> None:
    element.set("text", speller.quote(text))


@dataclass(frozen=True, slots=True)
class ResultElements:
    """The elements a dialect puts into a result's list."""

    read: ReadElement
    new_text: Callable[[str, Speller], str]
    new_media: Callable[[Image | Binary, Speller], str | None]
    set_text: Callable[[Object, str, Speller], None] = set_text
    """Changes the text of an element."""


def read_result_content(content: Any, text: str, place: Pointer, read: ReadElement) -> tuple[str, tuple[Image | Binary, ...]]:
    """Return a result's text and its images. `place` is the place of the content in `text`."""
    if type(content) is str:
        return content, ()
    if content is None:
        return "", ()
    if type(content) is not list:
        return raw_at(text, place) or dump(content), ()
    texts: list[str] = []
    media: list[Image | Binary] = []
    for index, item in enumerate(content):
        found = read(item) if type(item) is dict else item
        if isinstance(found, Image | Binary):
            media.append(found)
        else:
            texts.append(found if type(found) is str else raw_at(text, (*place, index)) or "")
    return "\n".join(texts), tuple(media)


def new_result_content(new: ToolResult, elements: ResultElements, speller: Speller) -> str:
    """Return a text, or a list where there are pictures."""
    if not new.media:
        return speller.quote(new.content)
    made = [elements.new_media(item, speller) for item in new.media]
    texts = [elements.new_text(new.content, speller)] if new.content else []
    return speller.list([*texts, *[item for item in made if item is not None]])


def patched_result_list(raw: str, old: ToolResult, new: ToolResult, elements: ResultElements, speller: Speller) -> str:
    """Return the list with the new result's text in its first text element. Other texts are removed, unchanged images
    stay."""
    array = json_edit.load_array(raw)
    found = [elements.read(item) if isinstance(item, dict) else item for item in json_edit.parse(raw)]
    images = [at for at, item in enumerate(found) if isinstance(item, Image | Binary)]
    row: list[int | str] = []
    first = next((at for at, item in enumerate(found) if isinstance(item, str)), None)
    if new.content == old.content:
        row += [at for at in range(len(found)) if at not in images]
    elif first is not None:
        item = array.raw(first)
        if item.startswith("{"):
            unit = json_edit.load_object(item)
            elements.set_text(unit, new.content, speller)
            array.set(first, str(unit))
        else:
            array.set(first, speller.quote(new.content))
        row.append(first)
    elif new.content:
        row.append(elements.new_text(new.content, speller))
    for at, part in enumerate(new.media):
        same = at < len(images) and part == old.media[at]
        made = images[at] if same else elements.new_media(part, speller)
        row += [] if made is None else [made]
    array.rebuild(sorted(row, key=lambda at: at if isinstance(at, int) else len(found)))
    return str(array)


def content_leaves(place: Pointer, elements: ResultElements) -> tuple[Leaf, Leaf]:
    """Return the text and the images of a result whose content is at `place`, for formats that locate their parts."""

    def spell(field: str) -> Spell:
        def with_value(value: Any, raw: str, speller: Speller) -> str:
            content, media = read_result_content(json_edit.parse(raw) if raw else None, raw, (), elements.read)
            old = ToolResult("", "", content, media=media)
            new = replace(old, **{field: value})
            if raw.startswith("["):
                return patched_result_list(raw, old, new, elements, speller)
            return new_result_content(new, elements, speller)

        return with_value

    return Leaf("content", place, spell("content")), Leaf("media", place, spell("media"))


def carried_bytes(mime: str, encoded: str) -> Image | Binary | None:
    """Return a picture as a data: URL, another file as its bytes, or None if the text is no base64."""
    if mime.startswith("image/"):
        return Image(f"data:{mime};base64,{encoded}")
    content = decode_base64(encoded)
    return None if content is None else Binary(mime, content)


def encoded_of(part: Image | Binary) -> tuple[str, str] | None:
    """Media type and base64 text; None for a picture elsewhere."""
    return (part.mime, encode_base64(part.content)) if isinstance(part, Binary) else split_data_url(part.url)


def located_media(item: dict[str, Any], place: Pointer, mime_key: str, data_key: str) -> Located | None:
    """Locate a block that has its bytes as base64 text under one key and the media type under another."""
    mime, encoded = item.get(mime_key), item.get(data_key)
    if type(encoded) is not str:
        return None
    part = carried_bytes(mime if type(mime) is str else "application/octet-stream", encoded)
    if part is None:
        return None
    if isinstance(part, Binary):
        leaves = (
            Leaf("mime", (*place, mime_key)),
            Leaf("content", (*place, data_key), lambda value, raw, speller: speller.quote(encode_base64(value))),
        )
        return Located(part, place, leaves)
    return Located(part, place, (Leaf("url", (*place, data_key), _encoded_as(str(mime))),))


def located_file(url: str, place: Pointer) -> Located | None:
    """Locate a block that contains a file as a data: URL; None for every other address."""
    split = split_data_url(url)
    content = decode_base64(split[1]) if split else None
    return Located(Binary(split[0], content), place) if split and content is not None else None


def _encoded_as(mime: str) -> Spell:
    """Return the base64 text of a data: URL of that media type."""

    def encoded(url: str, raw: str, speller: Speller) -> str | None:
        found = split_data_url(url)
        return speller.quote(found[1]) if found and found[0] == mime else None

    return encoded


def as_url(part: Image | Binary) -> str:
    return part.url if isinstance(part, Image) else data_url(part.mime, part.content)
