"""The labels and comments of a team as rows of a file for evaluation work, and the texts that people wrote, for scans.

Where the rules of a team ask for it, content leaves only after its version was signed off. `locked_reason` is the one function that
decides, for pages, downloads, share links, command line and API alike. The rule of a chain in the library is meant: local mode has no
rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from chainviz.accounts.models import Membership, User, member_of
from chainviz.chains.exports.downloads import ExportLocked, require_unlocked
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.review.labels import label_places
from chainviz.review.models import Comment, Label, LabelPlace, Place, ReviewRequest, SignOff, Thread, Verdict, rules_of
from chainviz.review.threads.notes import place_threads
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import History, Version
from chainviz.web import formatting as csv
from chainviz.web.http import small_number
from chainviz.web.middleware import Middleware


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


def locked_reason(chain: Chain, version: int | None) -> str:
    """Return the reason why this content may not be exported; empty if it may. `version`: None for content that is not
    exactly a version."""
    if settings.CHAINVIZ.mode != "team" or not rules_of(chain.team_id).locks_export:
        return ""
    if version is None:
        return "Only a signed-off version can be exported; this is not exactly one."
    if is_signed_off(chain, version):
        return ""
    return f"Version {version} is not signed off. Only a signed-off version can be exported."


def is_signed_off(chain: Chain, version: int) -> bool:
    """Return True if the version is signed off. A purge changes the content, so earlier sign-offs no longer count."""
    edition = History.objects.filter(pk=chain.history).values("edition")
    found = SignOff.objects.sign_offs().filter(team=chain.team_id, chain_key=chain.pk, version=version)
    return found.filter(edition__in=edition).exists()


class ExportLockMiddleware(Middleware):
    """Answers ExportLocked, whichever view raises it."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, ExportLocked):
            return None
        context = {"chain": exception.chain, "reason": str(exception)}
        return render(request, "review/export_locked.html", context, status=403)


OF_CHAIN = ("chain", "title", "version", "path", "now", "place")
"""`version` and `path` name the node that its author commented on; `now` is its path in the newest version, and `place`
says whether that is carried, outdated, removed or folded into a summary."""
LABEL_FIELDS = (*OF_CHAIN, "kind", "label", "value", "who", "at")
COMMENT_FIELDS = (*OF_CHAIN, "thread", "quote", "text", "state", "who", "at")
Row = Mapping[str, object]


def export_chains(member: Membership, only: int | None) -> ChainQuerySet:
    """Return the chains without those under an export lock, since comments quote content and titles come from it.
    Raises ExportLocked if that is the only chain asked for."""
    chains = Chain.objects.visible_to(member).in_library()
    if only is not None:
        chains = chains.filter(pk=only)
        for chain in chains:
            require_unlocked(chain, chain.version)
    return chains.filter(pk__in=[chain.pk for chain in chains if not locked_reason(chain, chain.version)])


def label_rows(chains: ChainQuerySet) -> Iterator[Row]:
    """Yield labels chain by chain, oldest first."""
    for chain in chains.filter(labels__isnull=False).distinct().order_by("pk"):
        places = label_places(chain, _newest(chain))
        for label in Label.objects.filter(chain=chain).order_by("pk"):
            said = {"kind": label.kind, "label": label.name or label.kind, "value": label.value}
            yield {**_place(chain, label, places.get(label.pk)), **said, "who": label.person_name, "at": _utc(label.at)}


def comment_rows(chains: ChainQuerySet) -> Iterator[Row]:
    """Yield comments chain by chain, oldest first. Pending comments are left out, because only their authors see them,
    and so are those that quote a version which may not be exported."""
    for chain in chains.filter(threads__isnull=False).distinct().order_by("pk"):
        stored = _newest(chain)
        place_threads(chain, stored)
        places = {each.thread_id: each for each in Place.objects.filter(snapshot_key=stored.snapshot.pk, thread__chain=chain)}
        sent = Comment.objects.filter(thread__chain=chain, deleted_at=None).exclude(sent_at=None)
        locked = cache(partial(locked_reason, chain))
        for comment in sent.select_related("thread").order_by("pk"):
            if not locked(comment.thread.version):
                yield _comment(chain, comment, places.get(comment.thread_id))


def _comment(chain: Chain, comment: Comment, place: Place | None) -> Row:
    thread = comment.thread
    said = {"thread": thread.number, "quote": thread.quote, "text": comment.body}
    state = {"state": "resolved" if thread.is_resolved else "open"}
    return {**_place(chain, thread, place), **said, **state, "who": comment.author_name, "at": _utc(comment.created_at)}


def _place(chain: Chain, written: Label | Thread, place: LabelPlace | Place | None) -> Row:
    here = {"now": place.path, "place": place.state} if place is not None else {"now": "", "place": "carried"}
    return {"chain": chain.pk, "title": chain.title, "version": written.version, "path": written.path, **here}


def _newest(chain: Chain) -> StoredChain:
    version = Version.objects.select_related("snapshot__history").get(history=chain.history, number=chain.version)
    return StoredChain(version.snapshot)


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


def csv_lines(fields: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    return csv.csv_lines(fields, ([row[name] for name in fields] for row in rows))


def json_lines(fields: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(dict(row)) + "\n" for row in rows)


FILES = {"csv": (csv_lines, "text/csv; charset=utf-8"), "jsonl": (json_lines, "application/x-ndjson")}


def exported(request: HttpRequest, name: str, kind: str) -> StreamingHttpResponse:
    """Export labels or comments, as `name` says, of the whole library, or of one chain with `?chain=4`."""
    if kind not in FILES:
        raise Http404
    rows_of, fields = (label_rows, LABEL_FIELDS) if name == "labels" else (comment_rows, COMMENT_FIELDS)
    lines, content_type = FILES[kind]
    chains = export_chains(member_of(request), small_number(request.GET.get("chain", "")))
    response = StreamingHttpResponse(lines(fields, rows_of(chains)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response
