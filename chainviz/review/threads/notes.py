"""Threads in the explorer: marks on rows, and boxes at the end of opened nodes, which are filled when they are opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, Subquery
from django.db.models.functions import Substr
from django.urls import reverse

from chainviz.chains.explorer.row_notes import RowNotes
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.visible_text import one_line, safe
from chainviz.core.chain.paths import Path, parse_path
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads.places import place_threads
from chainviz.review.threads.thread_view import BADGES, FIRST_WORDS
from chainviz.web.templatetags.chainviz import icon

MOST = 300
"""Threads read for one window."""
ORDER = ("pending", "open", "outdated", "folded", "removed", "resolved")


def notes_in(subject: Subject, start: int, stop: int) -> RowNotes:
    """As settings.ROW_NOTES asks for them."""
    threads = _threads(subject, start, stop)
    if any(thread.place_key is None for thread in threads):
        place_threads(subject.chain, subject.stored)
        threads = _threads(subject, start, stop)
    by_row = {path: list(group) for path, group in groupby(sorted(threads, key=_row), _row)}
    return RowNotes(
        {path: _chip(found) for path, found in by_row.items()},
        {path: _state(found) for path, found in by_row.items()},
        {path: _boxes(found) for path, found in by_row.items()},
    )


def _row(thread: Any) -> Path:
    return parse_path(thread.place_path).node


def _threads(subject: Subject, start: int, stop: int) -> list[Any]:
    """Threads that stand at these messages, and any whose place is not known yet."""
    shown = Comment.objects.visible_to(subject.person).filter(thread=OuterRef("pk"))
    here = Q(place_of__message__gte=start, place_of__message__lt=stop)
    found = (
        Thread.objects.filter(Exists(shown), chain=subject.chain)
        .annotate(place_of=FilteredRelation("places", condition=Q(places__snapshot_key=subject.snapshot.pk)))
        .filter(here | Q(place_of=None))
        .annotate(
            place_key=F("place_of__pk"), place_path=F("place_of__path"), place_state=F("place_of__state"),
            first_words=Subquery(shown.order_by("pk").values(words=Substr("body", 1, 4 * FIRST_WORDS))[:1]),
            is_pending=~Exists(shown.exclude(sent_at=None)),
        )
    )  # fmt: skip
    return list(found.order_by("number")[:MOST])


def _word(thread: Any) -> str:
    if thread.is_pending:
        return "pending"
    if thread.is_resolved:
        return "resolved"
    return "open" if thread.place_state == Place.State.CARRIED else str(thread.place_state)


def _state(threads: Iterable[Any]) -> str:
    """That of the thread that asks for most attention."""
    words = {_word(thread) for thread in threads}
    return BADGES[next(word for word in ORDER if word in words)][0]


def _chip(threads: Sequence[Any]) -> str:
    count = f'{len(threads)}<span class="for-readers"> thread{"" if len(threads) == 1 else "s"}</span>'
    return f'<span class="thread-chip" data-state="{_state(threads)}">{icon("comment")}{count}</span>'


def _boxes(threads: Iterable[Any]) -> str:
    return f'<div class="node-threads">{"".join(_box(thread) for thread in threads)}</div>'


def _box(thread: Any) -> str:
    word = _word(thread)
    state, name = BADGES[word]
    url = reverse("review:thread", args=[thread.chain_id, thread.number])
    title = safe(one_line(thread.first_words, FIRST_WORDS)) or "Deleted comment"
    return (
        f'<details class="thread" id="thread-{thread.number}" data-lazy="{url}"><summary>{icon("chevron", "chevron")}'
        f'<span class="badge" data-state="{state}">{icon(name)}{word}</span><span class="thread-title">{title}</span>'
        f'</summary><div data-lazy-body><a href="{url}">Show the thread</a></div></details>'
    )
