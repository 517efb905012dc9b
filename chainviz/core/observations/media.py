"""Images and files of a chain, in order, each with the tool that returned it. Loads nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import Binary, Message
from chainviz.core.dialects.patching import split_data_url
from chainviz.core.observations.contract import ObservedMessage
from chainviz.core.pictures import Picture, bytes_and_sides, pictures_in


@dataclass(frozen=True, slots=True)
class Medium:
    message: int
    part: int
    index: int
    """Its place among the media of a tool result; 0 for a part of its own."""
    tool: str
    """The tool whose result it belongs to; "" where there is none."""
    mime: str = ""
    """"" for an address outside the chain, as are size and sides 0."""
    size: int = 0
    """Bytes."""
    width: int = 0
    height: int = 0
    """In pixels; 0 where the content does not say."""
    url: str = ""
    """The address outside the chain; "" for what the chain holds."""


def media_in(place: int, message: Message, observed: Iterable[ObservedMessage]) -> Iterator[Medium]:
    """Of one message, with the results in it."""
    owners = {id(medium): result.tool for each in observed for result in each.results for medium in result.media}
    for part, content in enumerate(message.parts):
        for index, picture in enumerate(pictures_in(content)):
            yield described(Medium(place, part, index, owners.get(id(picture), "")), picture)


def described(medium: Medium, picture: Picture) -> Medium:
    """With what the picture's content says."""
    size, width, height = bytes_and_sides(picture)
    if isinstance(picture, Binary):
        return replace(medium, mime=picture.mime, size=len(picture.content), width=width, height=height)
    embedded = split_data_url(picture.url)
    if embedded is None:
        return replace(medium, url=picture.url)
    mime, text = embedded
    return replace(medium, mime=mime, size=size or len(text) * 3 // 4, width=width, height=height)
