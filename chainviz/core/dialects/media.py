"""Images and files in content blocks, as the several dialects spell them: address, base64 text beside a media type, data: URL."""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.messages import Binary, Image
from chainviz.core.dialects.leaves import Leaf, Located, Spell
from chainviz.core.dialects.patching import Speller, data_url, decode_base64, encode_base64, split_data_url
from chainviz.core.documents.units import Pointer


def carried_bytes(mime: str, encoded: str) -> Image | Binary | None:
    """A picture as a data: URL, another file as its bytes; None where the text is no base64."""
    if mime.startswith("image/"):
        return Image(f"data:{mime};base64,{encoded}")
    content = decode_base64(encoded)
    return None if content is None else Binary(mime, content)


def encoded_of(part: Image | Binary) -> tuple[str, str] | None:
    """Media type and base64 text; None for a picture elsewhere."""
    return (part.mime, encode_base64(part.content)) if isinstance(part, Binary) else split_data_url(part.url)


def located_media(item: dict[str, Any], place: Pointer, mime_key: str, data_key: str) -> Located | None:
    """A block that carries its bytes as base64 text under one key and the media type under another."""
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
    """A block that carries a file as a data: URL; None for every other address."""
    split = split_data_url(url)
    content = decode_base64(split[1]) if split else None
    return Located(Binary(split[0], content), place) if split and content is not None else None


def _encoded_as(mime: str) -> Spell:
    """The base64 text of a data: URL of that media type."""

    def encoded(url: str, raw: str, speller: Speller) -> str | None:
        found = split_data_url(url)
        return speller.quote(found[1]) if found and found[0] == mime else None

    return encoded


def as_url(part: Image | Binary) -> str:
    return part.url if isinstance(part, Image) else data_url(part.mime, part.content)
