"""Threads with the place where each stands in a snapshot, in one query: for lists of them that hold no comments."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Substr

from chainviz.chains.explorer.subject import Subject
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads.thread_view import FIRST_WORDS


def placed_threads(subject: Subject) -> QuerySet[Any]:
    """Threads that the person may see. `place_key` is None for one whose place is not known yet."""
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
    """One of the words of BADGES for a thread of `placed_threads`."""
    if thread.is_pending:
        return "pending"
    if thread.is_resolved:
        return "resolved"
    return "open" if thread.place_state == Place.State.CARRIED else str(thread.place_state)
