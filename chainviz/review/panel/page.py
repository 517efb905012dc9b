"""What the panel shows: the threads of a node, whether its section was viewed, and in team mode the state of the review."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.urls import reverse

from chainviz.accounts.models import Membership
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path, parse_path
from chainviz.review.labels.services import LabelRow, labels_of
from chainviz.review.models import Comment, Thread
from chainviz.review.requests.activity import Activity, activity_of
from chainviz.review.requests.page import ReviewerRow, reviewers_of
from chainviz.review.requests.sections import section_mark, section_marks, viewed_marks
from chainviz.review.requests.services import saved_by
from chainviz.review.requests.standing import Check, Standing, standings
from chainviz.review.threads.placed import placed_threads, state_word
from chainviz.review.threads.places import place_threads
from chainviz.review.threads.thread_view import BADGES, title_of

MOST_THREADS = 20
ACTIVITIES = 4


@dataclass(frozen=True, slots=True)
class ThreadLine:
    number: int
    place: str
    """Number of its node, such as 2.1; "" for the whole chain and for what is gone."""
    path: str
    """Of its row; "" for the whole chain and for what is gone."""
    url: str
    title: str
    who: str
    word: str
    state: str
    icon: str


@dataclass(frozen=True, slots=True)
class NodePart:
    """What follows the node that is read."""

    path: str
    number: str
    section: int
    is_viewed: bool
    threads: list[ThreadLine]
    labels: list[LabelRow]


@dataclass(frozen=True)
class Panel:
    subject: Subject
    node: NodePart | None
    threads: list[ThreadLine]
    """Open ones in the order of the chain, at most MOST_THREADS."""
    open_threads: int
    pending: int
    """Comments of the person that were not sent."""
    standing: Standing | None = None
    """None in local mode, and so is the rest."""
    reviewers: tuple[ReviewerRow, ...] = ()
    viewed: tuple[int, ...] = ()
    """Numbers of the sections that the person viewed."""
    sections: int = 0
    saved_it: bool = False
    activity: tuple[Activity, ...] = ()

    @property
    def checks(self) -> list[Check]:
        """Without the search for secrets, which takes long: the page of the review has it."""
        return [] if self.standing is None else [check for check in self.standing.checks if check.name != "secrets"]


def panel(subject: Subject, member: Membership, at: Path | None) -> Panel:
    chain, person = subject.chain, member.user
    place_threads(chain, subject.stored)
    found = placed_threads(subject).filter(resolved_at=None)
    listed = found.order_by(F("place_message").asc(nulls_last=True), "number")[:MOST_THREADS]
    pending = Comment.objects.pending(person, chain).count()
    known = viewed_marks(chain, person)
    common = Panel(subject, node_part(subject, at, known), _lines(subject, listed), found.count(), pending)
    if settings.CHAINVIZ.mode != "team":
        return common
    standing = standings([chain])[chain.pk]
    sections = section_marks(subject.stored)
    return replace(
        common,
        standing=standing,
        reviewers=tuple(reviewers_of(standing)),
        viewed=tuple(number for number, mark in enumerate(sections, 1) if mark in known),
        sections=len(sections),
        saved_it=saved_by(chain, subject.version or 0, person),
        activity=tuple(activity_of(chain, ACTIVITIES)),
    )


def node_part(subject: Subject, at: Path | None, viewed: set[str]) -> NodePart | None:
    """`viewed`: marks of sections. Raises PathError where the version has no such node."""
    if at is None:
        return None
    span = subject.stored.span(at.node)
    here = placed_threads(subject).filter(place_message__gte=span.start, place_message__lt=span.stop)
    threads = [line for line in _lines(subject, here.order_by("number")) if line.path == str(at.node)]
    is_viewed = section_mark(subject.stored, at.section) in viewed
    labels = [row for row in labels_of(subject.chain, subject.stored) if row.path == str(at.node)]
    return NodePart(str(at.node), at.number, at.section, is_viewed, threads, labels)


def next_thread(subject: Subject, at: tuple[Path | None, int], backwards: bool) -> Any | None:
    """Returns the open thread after or before the place `at` (a node, and a thread on it), else the one at the other end."""
    place_threads(subject.chain, subject.stored)
    path, number = at
    message = subject.stored.span(path).start if path is not None else -1
    found = placed_threads(subject).filter(resolved_at=None, place_message__isnull=False)
    order = ("-place_message", "-number") if backwards else ("place_message", "number")
    beyond = (
        Q(place_message__lt=message) | Q(place_message=message, number__lt=number)
        if backwards
        else Q(place_message__gt=message) | Q(place_message=message, number__gt=number)
    )
    return found.filter(beyond).order_by(*order).first() or found.order_by(*order).first()


def _lines(subject: Subject, threads: QuerySet[Any]) -> list[ThreadLine]:
    return [_line(subject, thread) for thread in threads]


def _line(subject: Subject, thread: Any) -> ThreadLine:
    word = state_word(thread)
    row = parse_path(thread.place_path).node if thread.place_path else None
    state, icon = BADGES[word]
    return ThreadLine(
        thread.number,
        row.number if row else "",
        str(row or ""),
        thread_url(subject, thread),
        title_of(thread.first_words),
        thread.first_author,
        word,
        state,
        icon,
    )


def thread_url(subject: Subject, thread: Any) -> str:
    """The place in the chain, or the page of the thread where it has none."""
    if thread.place_path and thread.kind != Thread.Kind.CHAIN:
        return f"{subject.base_url}at/{thread.place_path}#thread-{thread.number}"
    return reverse("review:thread", args=[subject.chain.pk, thread.number])
