"""The labels and comments of a team as rows of a file, for evaluation work."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC

from django.db.models import Q

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.review.export_lock import locked_reason
from chainviz.review.models import Comment, Label
from chainviz.web.formatting import csv_lines as csv

FIELDS = ("chain", "title", "version", "path", "what", "label", "value", "text", "state", "who", "at")
Row = Mapping[str, object]


def export_chains(member: Membership, only: int | None) -> ChainQuerySet:
    """Without those whose content may not leave: comments quote it, and titles are taken from it."""
    chains = Chain.objects.visible_to(member).in_library()
    chains = chains if only is None else chains.filter(pk=only)
    return chains.filter(pk__in=[chain.pk for chain in chains if not locked_reason(chain, chain.version)])


def rows_of(chains: ChainQuerySet) -> Iterator[Row]:
    """Chain by chain: its labels, then its comments, oldest first. Pending comments are their authors' only."""
    for chain in chains.order_by("pk"):
        yield from (_label(chain, each) for each in Label.objects.filter(chain=chain).order_by("pk"))
        sent = Comment.objects.filter(Q(deleted_at=None) & ~Q(sent_at=None), thread__chain=chain)
        yield from (_comment(chain, each) for each in sent.select_related("thread").order_by("pk"))


def _label(chain: Chain, label: Label) -> Row:
    said = {"label": label.name or label.kind, "value": label.value, "text": "", "state": ""}
    who = {"who": label.person_name, "at": label.at.astimezone(UTC).isoformat()}
    return {**_place(chain, label.version, label.path), "what": label.kind, **said, **who}


def _comment(chain: Chain, comment: Comment) -> Row:
    thread = comment.thread
    said = {"label": f"thread {thread.number}", "value": None, "text": comment.body}
    state = {"state": "resolved" if thread.is_resolved else "open"}
    who = {"who": comment.author_name, "at": comment.created_at.astimezone(UTC).isoformat()}
    return {**_place(chain, thread.version, thread.path), "what": "comment", **said, **state, **who}


def _place(chain: Chain, version: int, path: str) -> Row:
    return {"chain": chain.pk, "title": chain.title, "version": version, "path": path}


def csv_lines(rows: Iterable[Row]) -> Iterator[str]:
    return csv.csv_lines(FIELDS, ([row[name] for name in FIELDS] for row in rows))


def json_lines(rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(dict(row)) + "\n" for row in rows)
