"""Threads in the explorer: marks on rows, and boxes at the end of opened nodes, which are filled when they are opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr
from django.urls import reverse

from chainviz.chains.explorer.row_views import RowNotes
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.models import Chain
from chainviz.chains.render.text_marks import TextMark
from chainviz.chains.render.visible_text import safe
from chainviz.core.chain.paths import Path, parse_path
from chainviz.review.labels import standings
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads.thread_view import BADGES, FIRST_WORDS, title_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.prepared_query import PreparedQuery
from chainviz.web.templatetags.chainviz import icon

MOST = 300
"""The most threads that are read for a window."""
ORDER = ("pending", "open", "outdated", "folded", "removed", "resolved")


def notes_in(subject: Subject, start: int, stop: int) -> RowNotes:
    """Return the notes of threads on rows; see settings.ROW_NOTES."""
    threads = _threads(subject, start, stop)
    if any(thread.place_key is None for thread in threads):
        place_threads(subject.chain, subject.stored)
        threads = _threads(subject, start, stop)
    by_row: dict[Path, list[Any]] = {}
    for thread in threads:
        by_row.setdefault(parse_path(thread.place_path).node, []).append(thread)
    return RowNotes(
        {path: _chip(found) for path, found in by_row.items()},
        {path: _state(found) for path, found in by_row.items()},
        {path: _boxes(found) for path, found in by_row.items()},
        _marks(threads),
    )


_first_thread = PreparedQuery(lambda chain: Thread.objects.filter(chain=chain).only("pk")[:1])


def _threads(subject: Subject, start: int, stop: int) -> list[Any]:
    """Return threads on these messages, and any whose place is not known yet."""
    if not _first_thread(subject.chain.pk):  # most chains have none, and the query below is a large one
        return []
    here = Q(place_of__message__gte=start, place_of__message__lt=stop)
    return list(threads_with_places(subject).filter(here | Q(place_of=None)).order_by("number")[:MOST])


def _marks(threads: Iterable[Any]) -> dict[Path, list[TextMark]]:
    """Return marks for threads on words, by the path of the part."""
    found: dict[Path, list[TextMark]] = {}
    for thread in threads:
        if thread.place_start is not None:
            word = state_word(thread)
            mark = TextMark(
                start=thread.place_start,
                end=thread.place_end,
                quote=thread.quote,
                href=f"#thread-{thread.number}",
                label=f"Thread {thread.number}, {word}",
                state=BADGES[word][0],
            )
            found.setdefault(parse_path(thread.place_path), []).append(mark)
    return found


def _state(threads: Iterable[Any]) -> str:
    """Return the state of the thread that needs most attention."""
    words = {state_word(thread) for thread in threads}
    return BADGES[next(word for word in ORDER if word in words)][0]


def _chip(threads: Sequence[Any]) -> str:
    count = f'{len(threads)}<span class="for-readers"> thread{"" if len(threads) == 1 else "s"}</span>'
    return f'<span class="thread-chip" data-state="{_state(threads)}">{icon("comment")}{count}</span>'


def _boxes(threads: Iterable[Any]) -> str:
    return f'<div class="node-threads">{"".join(_box(thread) for thread in threads)}</div>'


def _box(thread: Any) -> str:
    word = state_word(thread)
    state, name = BADGES[word]
    url = reverse("review:thread", args=[thread.chain_id, thread.number])
    title = safe(title_of(thread.first_words))
    return (
        f'<details class="thread" id="thread-{thread.number}" data-lazy="{url}"><summary>{icon("chevron", "chevron")}'
        f'<span class="badge" data-state="{state}">{icon(name)}{word}</span><span class="thread-title">{title}</span>'
        f'</summary><div data-lazy-body><a href="{url}">Show the thread</a></div></details>'
    )


# Threads with their place in a snapshot, in one query, for lists without comments.


def threads_with_places(subject: Subject) -> QuerySet[Any]:
    """Return the threads that the person may see. `place_key` is None for a thread whose place is not known yet."""
    shown = Comment.objects.visible_to(subject.person).filter(thread=OuterRef("pk"))
    here = FilteredRelation("places", condition=Q(places__snapshot_key=subject.snapshot.pk))
    first = shown.order_by("pk")
    return (
        Thread.objects.filter(Exists(shown), chain=subject.chain)
        .annotate(place_of=here)
        .annotate(
            place_key=F("place_of__pk"), place_path=F("place_of__path"), place_state=F("place_of__state"),
            place_message=F("place_of__message"), place_start=F("place_of__start"), place_end=F("place_of__end"),
            first_words=Subquery(first.values(words=Substr("body", 1, 4 * FIRST_WORDS))[:1]),
            first_author=Subquery(first.values("author_name")[:1]),
            is_pending=~Exists(shown.exclude(sent_at=None)),
        )
    )  # fmt: skip


def state_word(thread: Any) -> str:
    """Return one of the words of BADGES for a thread of `threads_with_places`."""
    if thread.is_pending:
        return "pending"
    if thread.is_resolved:
        return "resolved"
    return "open" if thread.place_state == Place.State.CARRIED else str(thread.place_state)


# The places of a chain's threads in a snapshot: computed once, then stored as Place.


def place_threads(chain: Chain, stored: StoredChain) -> None:
    """Store the places that are not known yet. Needs only one query if all are known."""
    key = stored.snapshot.pk
    missing = Thread.objects.filter(chain=chain).exclude(places__snapshot_key=key).order_by("version", "pk")
    threads = list(missing)
    if threads:
        Place.objects.bulk_create(places_of(chain, stored, threads), ignore_conflicts=True)


def places_of(chain: Chain, stored: StoredChain, threads: Sequence[Thread]) -> Iterator[Place]:
    """Yield the places of the threads, in the order of their versions; stores nothing."""
    for thread, standing, path in standings(chain, stored, threads):
        place = Place(thread=thread, snapshot_key=stored.snapshot.pk, state=standing.state, message=standing.index)
        place.path = path
        if standing.range is not None:
            place.start, place.end = standing.range.start, standing.range.end
        yield place
