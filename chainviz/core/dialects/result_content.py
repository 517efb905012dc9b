"""What a tool result says whose content is a text or a list of blocks. Each dialect knows its own pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainviz.core.chain.messages import Binary, Image
from chainviz.core.documents.json_edit import dump, raw_at
from chainviz.core.documents.units import Pointer

Picture = Callable[[dict[str, Any]], Image | Binary | None]


def read_result_content(
    content: Any, text: str, place: Pointer, picture: Picture
) -> tuple[str, tuple[Image | Binary, ...]]:
    """A result's text and its pictures; what is neither shows as its JSON text."""
    if type(content) is str:
        return content, ()
    if content is None:
        return "", ()
    if type(content) is not list:
        return raw_at(text, place) or dump(content), ()
    texts: list[str] = []
    media: list[Image | Binary] = []
    for index, item in enumerate(content):
        found = picture(item) if type(item) is dict else None
        if found is not None:
            media.append(found)
        elif type(item) is dict and item.get("type") == "text" and type(item.get("text")) is str:
            texts.append(item["text"])
        else:
            texts.append(item if type(item) is str else raw_at(text, (*place, index)) or "")
    return "\n".join(texts), tuple(media)
