"""The sections of a version, and which of them a person has viewed."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from chainviz.accounts.models import User
from chainviz.chains.explorer.rendered_window import titled_rows
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path
from chainviz.review.models import Viewed
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import Cursor, Piece, cut, join
from chainviz.store.query.windows import ALL_CLOSED, window

SHOWN = 50
"""Sections on a page."""


@dataclass(frozen=True, slots=True)
class Section:
    number: int
    title: str
    size: int
    is_viewed: bool

    @property
    def path(self) -> str:
        return str(Path(self.number))


def section_marks(chain: StoredChain) -> list[str]:
    """Names the content of each section by where its messages lie: a message never changes there."""
    cursor = Cursor(pieces_of(chain.snapshot))
    sections = chain.outline.sections(1, chain.outline.listing.section_count + 1)
    return [_mark(join(cursor.take(place.measure.messages))) for place in sections]


def section_mark(chain: StoredChain, number: int) -> str:
    """That of one section."""
    place = chain.outline.section(number)
    return _mark(join(cut(pieces_of(chain.snapshot), place.before.messages, place.before.messages + place.measure.messages)))


def _mark(pieces: list[Piece]) -> str:
    return blake2b(repr([tuple(piece) for piece in pieces]).encode(), digest_size=16).hexdigest()


def viewed_marks(chain: Chain, person: User) -> set[str]:
    return set(Viewed.objects.filter(chain=chain, person=person).values_list("mark", flat=True))


def set_viewed(chain: Chain, person: User, mark: str, is_viewed: bool) -> None:
    if is_viewed:
        Viewed.objects.get_or_create(chain=chain, person=person, mark=mark)
    else:
        Viewed.objects.filter(chain=chain, person=person, mark=mark).delete()


def sections_page(chain: StoredChain, first: int, marks: list[str], viewed: set[str]) -> list[Section]:
    """The sections from number `first` on, at most SHOWN of them."""
    if not marks:
        return []
    rows = titled_rows(chain, window(chain, Path(first), "down", SHOWN, ALL_CLOSED).rows)
    return [
        Section(row.path.section, row.name, row.size, marks[row.path.section - 1] in viewed)
        for row in rows
        if row.kind == "section"
    ]
