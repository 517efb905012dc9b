"""The images and files of a chain as rows of a list. Remote ones are named, never loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.observations.cards import Contents
from chainviz.chains.render.pictures import host_of, picture
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.chain.paths import Path
from chainviz.core.observations.index import Medium, MediumRow, ObservationIndex, described
from chainviz.core.pictures import Picture, pictures_in
from chainviz.web.formatting import byte_text

BESIDE, ON_PAGE = 8, 60
"""The number of rows in the list beside the results, and on a separate page."""


@dataclass(frozen=True, slots=True)
class MediumView:
    name: str
    of: str
    is_tool: bool
    place: str
    facts: str
    url: str
    thumbnail: str
    """The address of the image; "" if it is not shown."""
    is_remote: bool


@dataclass(frozen=True, slots=True)
class MediaList:
    rows: tuple[MediumView, ...]
    total: int
    start: int
    next: int | None


def media_list(subject: Subject, index: ObservationIndex, start: int, count: int) -> MediaList:
    numbers = range(min(start, len(index.media)), min(start + count, len(index.media)))
    rows = [index.media[number] for number in numbers]
    contents = Contents(subject.stored, index, [])
    contents.add(subject.stored, {row.message for row in rows})
    views = tuple(_view(subject, index, contents, row) for row in rows)
    following = numbers.stop if numbers.stop < len(index.media) else None
    return MediaList(views, len(index.media), numbers.start, following)


def _view(subject: Subject, index: ObservationIndex, contents: Contents, row: MediumRow) -> MediumView:
    node = subject.stored.outline.path_at(row.message)
    path = Path(node.section, node.pair, node.message, row.part)
    part = contents.part(row.message, row.part)
    found = _picture(pictures_in(part), row.at) if part is not None else None
    is_in_result = part is not None and pictures_in(part) != (part,)
    medium = Medium(row.message, row.part, row.at, "")
    medium = described(medium, found) if found is not None else medium
    shape = subject.stored.rows(row.message, row.message + 1)[0].shape
    shown = picture(found) if found is not None else None
    address = f"{subject.base_url}image/{path}" + (f"?media={row.at}" if is_in_result else "")
    return MediumView(
        name=marks(one_line(host_of(medium.url) or medium.mime or "No type", 60)),
        of=marks(one_line(index.tools[row.tool], 60)) if row.tool >= 0 else ROLE_NAMES.get(shape.role, shape.role),
        is_tool=row.tool >= 0,
        place=path.number,
        facts=_facts(medium),
        url=f"{subject.base_url}at/{path}#{path.dom_id}",
        thumbnail=address if shown else "",
        is_remote=bool(medium.url),
    )


def _picture(pictures: Sequence[Picture], place: int) -> Picture | None:
    return pictures[place] if place < len(pictures) else None


def _facts(medium: Medium) -> str:
    if medium.url:
        return "remote · not loaded"
    sides = [f"{medium.width:,} × {medium.height:,}"] if medium.width else []
    return " · ".join([*sides, byte_text(medium.size)])
