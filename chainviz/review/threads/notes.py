"""Threads in the explorer: marks on rows, and boxes at the end of opened nodes, which are filled when they are opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q
from django.urls import reverse

from chainviz.chains.explorer.row_notes import RowNotes
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.text_marks import TextMark
from chainviz.chains.render.visible_text import safe
from chainviz.core.chain.paths import Path, parse_path
from chainviz.review.models import Thread
from chainviz.review.threads.placed import placed_threads, state_word
from chainviz.review.threads.places import place_threads
from chainviz.review.threads.thread_view import BADGES, title_of
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
    by_row: dict[Path, list[Any]] = {}
    for thread in threads:
        by_row.setdefault(parse_path(thread.place_path).node, []).append(thread)
    return RowNotes(
        {path: _chip(found) for path, found in by_row.items()},
        {path: _state(found) for path, found in by_row.items()},
        {path: _boxes(found) for path, found in by_row.items()},
        _marks(threads),
    )


def _threads(subject: Subject, start: int, stop: int) -> list[Any]:
    """Threads that stand at these messages, and any whose place is not known yet."""
    if not Thread.objects.filter(chain=subject.chain).exists():  # most chains have none, and the query below is a large one
        return []
    here = Q(place_of__message__gte=start, place_of__message__lt=stop)
    return list(placed_threads(subject).filter(here | Q(place_of=None)).order_by("number")[:MOST])


def _marks(threads: Iterable[Any]) -> dict[Path, list[TextMark]]:
    """Of threads on words, by the path of the part."""
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
    """That of the thread that asks for most attention."""
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
