"""The texts that people wrote about a chain, for the scan of the library (settings.WRITTEN_TEXTS)."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Exists, OuterRef

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.review.models import Comment, Label, ReviewRequest, Thread, Verdict


def texts_of(chain: Chain) -> Iterator[str]:
    yield from comment_texts(chain)
    yield from label_texts(chain)
    yield from ReviewRequest.objects.filter(chain=chain).values_list("purpose", flat=True)
    for texts in Verdict.objects.filter(chain=chain).values_list("summary", "dismissal"):
        yield from texts


def comment_texts(chain: Chain) -> Iterator[str]:
    """Yield comments and the texts that they quote; without pending comments, which are their authors' only."""
    sent = Comment.objects.filter(thread__chain=chain, deleted_at=None).exclude(sent_at=None)
    yield from sent.values_list("body", flat=True)
    quoted = Thread.objects.filter(Exists(sent.filter(thread=OuterRef("pk"))), chain=chain)
    yield from quoted.values_list("quote", flat=True)


def label_texts(chain: Chain) -> Iterator[str]:
    yield from Label.objects.filter(chain=chain).values_list("name", flat=True)


# Names of people, copied beside what they said. In local mode that is “You”, which everybody else would read as
# themselves.


def rename(person: User) -> None:
    """Put the name of the account on everything that its person wrote in local mode."""
    name = person.display_name
    Comment.objects.filter(author=person).update(author_name=name)
    Thread.objects.filter(resolved_by=person).update(resolved_by_name=name)
    Label.objects.filter(person=person).update(person_name=name)
