"""Pages of one thread: begin, read, answer, edit and delete; and suggested texts as steps of a person's draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import User, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.models import Chain
from chainviz.chains.secrets.export_scan import SecretNotice, before_written
from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError, Refused
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.review import part_text
from chainviz.core.secrets.scan import scan_text
from chainviz.drafts.operations.run import propose
from chainviz.drafts.services import add_step, open_draft
from chainviz.drafts.target import Target, target_of_draft, target_of_version
from chainviz.review.csv_and_jsonl import comment_texts, exported
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads import writing
from chainviz.review.threads.notes import place_threads, places_of
from chainviz.review.threads.thread_view import ThreadView, members_like, suggestions_in, thread_views
from chainviz.review.threads.writing import about, choices, set_resolved
from chainviz.store.content.chain import StoredChain
from chainviz.web.http import page_or_fragment, see_other, small_number, wants_fragment

NO_LONGER = "The text has changed since, so the suggestion no longer applies."
MOST = 50
"""The most suggestions that are accepted together."""


@requires("draft")
@require_POST
def take(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Apply suggestions in order. `pick=81.0` names a comment and the number of the suggestion in it."""
    chain, person = chain_for(request, chain_id), person_of(request)
    taken, refused = take_all(chain, person, request.POST.getlist("pick")[:MOST])
    note(request, taken=taken)
    for reason in refused:
        messages.warning(request, reason)
    draft = open_draft(chain, person, chain.version)
    if not taken or draft is None:
        if not refused:
            messages.warning(request, "Tick the suggestions to take.")
        return see_other("review:threads", chain_id)
    messages.success(request, f"{taken} suggestion{'' if taken == 1 else 's'} added to your draft.")
    return see_other("drafts:draft", chain_id, draft.pk)


def take_all(chain: Chain, person: User, picks: Sequence[str]) -> tuple[int, list[str]]:
    """Return how many became steps of the person's draft, and why the others did not."""
    taken, refused = 0, []
    for pick in picks:
        comment_key, _, number = pick.partition(".")
        comments = Comment.objects.visible_to(person).filter(thread__chain=chain).select_related("thread")
        comment = get_object_or_404(comments, pk=small_number(comment_key) or 0)
        found = suggestions_in(comment.body)
        place = small_number(number)
        if place is None or place >= len(found):
            continue
        try:
            _take(chain, person, comment, found[place].text)
            taken += 1
        except Refused as error:
            refused.append(f"Thread {comment.thread.number}: {error}")
    return taken, refused


def _take(chain: Chain, person: User, comment: Comment, text: str) -> None:
    """Add the text to the draft in a step that names its author and thread, and resolve the thread."""
    target, thread = _target(chain, person), comment.thread
    place = next(places_of(chain, target.stored, [thread]))
    if thread.kind == Thread.Kind.CHAIN:
        raise Refused("This thread is about the whole chain; a suggestion replaces only one text.")
    if place.state != Place.State.CARRIED:
        raise Refused(NO_LONGER)
    path = _text_under(target.stored, parse_path(place.path))
    part = _part(target.stored, path)
    if place.start is not None:
        whole = part_text(part)
        # a purge may have changed the text before the words
        if whole[place.start : place.end] != thread.quote:
            raise Refused(NO_LONGER)
        text = whole[: place.start] + text + whole[place.end :]
    proposal = propose(target, Edit(), EditOptions(path=str(path), **_new_text(part, text)))
    source = f"suggested by {comment.author_name} in thread {thread.number}"
    report = tuple(replace(each, reason=f"{each.reason.rstrip('.')}, {source}") for each in proposal.step.report if each.path)
    with add_step(target, replace(proposal, step=replace(proposal.step, report=report))):
        if not thread.is_resolved:
            set_resolved(thread, person, True)


def _target(chain: Chain, person: User) -> Target:
    draft = open_draft(chain, person, chain.version)
    return target_of_draft(draft) if draft is not None else target_of_version(chain, chain.version, person)


def _text_under(chain: StoredChain, path: Path) -> Path:
    """Return the only part of a node whose text can be replaced. Raises Refused if there are several or none."""
    if path.part is not None:
        return path
    span = chain.span(path)
    parts = chain.at(path)[0].parts if len(span) == 1 else ()
    found = [number for number, part in enumerate(parts) if isinstance(part, Text | ToolCall | ToolResult)]
    if len(found) != 1:
        raise Refused(f"{path} does not contain exactly one text. Start a thread on the text to replace.")
    message = chain.outline.path_at(span.start)
    return Path(message.section, message.pair, message.message, found[0])


def _part(chain: StoredChain, path: Path) -> Part:
    assert path.part is not None
    return chain.at(Path(path.section, path.pair, path.message))[0].parts[path.part]


def _new_text(part: Part, text: str) -> dict[str, Any]:
    match part:
        case Text():
            return {"action": "text", "text": text}
        case ToolCall():
            return {"action": "arguments", "arguments": text}
        case ToolResult():
            return {"action": "result", "text": text}
    raise Refused("This part has no text to replace.")


ACTS = ("reply", "pending", "resolve", "reopen", "reopen_and_reply")


@requires("comment")
@recorded_together
def new(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Show the form of a new thread. `?path=` is the node or part, and empty for the whole chain; `?quote=` is a quote in it, at its
    occurrence `?nth=` (from 0)."""
    subject = version_subject(request, chain_id, number)
    asked = request.POST if request.method == "POST" else request.GET
    text, quote, where = asked.get("body", ""), asked.get("quote", ""), asked.get("path", "")
    path = _path_in(subject.stored, where) if where else None
    nth = small_number(asked.get("nth", "")) or 0
    error = ""
    if request.method == "POST":
        try:
            anchor = about(subject.stored, number, path, quote, nth)
            is_pending = request.POST.get("send") == "pending"
            comment = writing.begin(subject.chain, person_of(request), anchor, text, is_pending=is_pending)
        except Refused as refused:
            error = str(refused)
        else:
            note(request, thread=comment.thread.number, version=number, did="pending" if is_pending else "comment")
            shown = _view_of(request, subject.chain, comment.thread.number)
            if wants_fragment(request):
                return _answer(request, subject.chain, shown)
            return see_other(shown.chain_url) if path is not None else see_other("review:threads", chain_id)
    context = {
        "chain": subject.chain, "number": number, "path": path, "body": text, "quote": quote, "nth": nth, "error": error,
        "choices": choices(subject.stored, path) if path is not None else [],
        "back": f"{subject.base_url}at/{path}#{path.node.dom_id}" if path is not None else subject.base_url,
    }  # fmt: skip
    return page_or_fragment(request, "review/new.html", "review/_new.html", context, status=422 if error else 200)


def _path_in(chain: StoredChain, where: str) -> Path:
    """Raise Http404 if the chain has no such node."""
    try:
        path = parse_path(where)
        chain.span(Path(path.section, path.pair, path.message))
    except PathError as error:
        raise Http404(str(error)) from error
    return path


@requires("read", to_post="comment")
@recorded_together
def thread(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Show a thread. POST replies to it, resolves it or reopens it."""
    chain = chain_for(request, chain_id)
    shown = _view_of(request, chain, number)
    if request.method != "POST":
        return _answer(request, chain, shown)
    found, body = shown.thread, request.POST.get("body", "")
    act, was_resolved = request.POST.get("act", ""), request.POST.get("resolved") == "1"
    act = act if act in ACTS else "reply"
    if found.is_resolved and not was_resolved and act in ("reply", "pending"):
        return _answer(request, chain, shown, body=body, has_conflict=True, status=409)
    try:
        comment = _do(found, request, act, body)
    except Refused as refused:
        return _answer(request, chain, shown, body=body, error=str(refused), status=422)
    note(request, did=act)
    return _done(request, chain, number, comment)


def _do(found: Thread, request: HttpRequest, act: str, body: str) -> Comment | None:
    person = person_of(request)
    comment = None
    if act in ("reply", "pending", "reopen_and_reply") or body.strip():
        comment = writing.reply(found, person, body, is_pending=act == "pending")
    if act in ("resolve", "reopen", "reopen_and_reply"):
        writing.set_resolved(found, person, act == "resolve")
    return comment


@requires("read")
@require_safe
def comment(request: HttpRequest, chain_id: int, comment_id: int) -> HttpResponse:
    """Redirect from the link of a comment, which stays the same in later versions."""
    found = _comment(request, chain_for(request, chain_id), comment_id)
    return see_other(f"{reverse('review:thread', args=[chain_id, found.thread.number])}#comment-{found.pk}")


@requires("comment", team_mode=True)
@require_safe
def mentions(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Offer members to mention: `?q=` is the text typed after the @."""
    people = members_like(request.GET.get("q", ""), chain_for(request, chain_id).team_id)
    return render(request, "review/_mentions.html", {"people": people})


@requires("comment")
@recorded_together
def edit_comment(request: HttpRequest, chain_id: int, comment_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = _own(request, chain, comment_id)
    if request.method != "POST":
        return _answer(request, chain, _view_of(request, chain, found.thread.number), editing=found.pk)
    try:
        writing.edit(found, request.POST.get("body", ""))
    except Refused as refused:
        shown = _view_of(request, chain, found.thread.number)
        context: dict[str, Any] = {"editing": found.pk, "edited": request.POST.get("body", ""), "error": str(refused)}
        return _answer(request, chain, shown, **context, status=422)
    note(request, thread=found.thread.number)
    return _done(request, chain, found.thread.number, found)


@requires("comment")
@require_POST
@recorded_together
def delete_comment(request: HttpRequest, chain_id: int, comment_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = _own(request, chain, comment_id)
    number = found.thread.number
    writing.delete(found)
    note(request, thread=number)
    if Thread.objects.filter(chain=chain, number=number).exists():
        return _done(request, chain, number, None)
    messages.success(request, "The pending comment was discarded.")
    return HttpResponse("") if wants_fragment(request) else see_other("review:threads", chain_id)


@requires("comment")
@require_POST
@recorded_together
def pending(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Send or discard the person's pending comments on the chain."""
    chain, person = chain_for(request, chain_id), person_of(request)
    if request.POST.get("act") == "discard":
        count = writing.discard_pending(person, chain)
        note(request, discarded=count)
        messages.success(request, f"{count} pending comment{'' if count == 1 else 's'} discarded.")
    else:
        count = len(writing.send_pending(person, chain))
        note(request, sent=count)
        messages.success(request, f"{count} comment{'' if count == 1 else 's'} sent.")
    return see_other("review:threads", chain_id)


def _comment(request: HttpRequest, chain: Chain, comment_id: int) -> Comment:
    comments = Comment.objects.visible_to(person_of(request)).select_related("thread__chain")
    return get_object_or_404(comments, pk=comment_id, thread__chain=chain)


def _own(request: HttpRequest, chain: Chain, comment_id: int) -> Comment:
    found = _comment(request, chain, comment_id)
    if found.author_id != person_of(request).pk or found.deleted_at:
        raise Http404
    return found


def _view_of(request: HttpRequest, chain: Chain, number: int) -> ThreadView:
    subject = version_subject(request, chain.pk)
    place_threads(chain, subject.stored)
    places = Place.objects.filter(snapshot_key=subject.snapshot.pk, thread__chain=chain, thread__number=number)
    shown = thread_views(chain, chain.version, places.select_related("thread__chain"), person_of(request))
    if not shown:
        raise Http404
    return shown[0]


def _done(request: HttpRequest, chain: Chain, number: int, comment: Comment | None) -> HttpResponse:
    if wants_fragment(request):
        return _answer(request, chain, _view_of(request, chain, number))
    target = f"#comment-{comment.pk}" if comment is not None else ""
    return see_other(f"{reverse('review:thread', args=[chain.pk, number])}{target}")


def _answer(request: HttpRequest, chain: Chain, shown: ThreadView, status: int = 200, **more: Any) -> HttpResponse:
    context = {"chain": chain, "view": shown, **more}
    return page_or_fragment(request, "review/thread.html", "review/_thread.html", context, status=status)


# The page of all threads of a chain.


SHOWN = 50
FILTERS = {
    "open": Q(thread__resolved_at=None),
    "resolved": ~Q(thread__resolved_at=None),
    "outdated": Q(state=Place.State.OUTDATED),
    "removed": Q(state=Place.State.REMOVED),
    "folded": Q(state=Place.State.FOLDED),
    "all": Q(),
}


MOST_SCANNED = 200_000
"""The most characters of comments that are searched for secrets while the person waits."""


def threads_with_secrets(views: Sequence[ThreadView]) -> list[int]:
    """Return the numbers of threads whose comments or quoted text contain something that looks like a secret."""
    found, left = [], MOST_SCANNED
    for view in views:
        texts = [view.thread.quote, *(each.comment.body for each in view.comments)]
        text = "\n".join(texts)[:left]
        left -= len(text)
        if scan_text(text):
            found.append(view.thread.number)
    return found


@requires("read")
@require_safe
def threads(request: HttpRequest, chain_id: int) -> HttpResponse:
    """List the threads of the newest version. `?show=`: a filter; `?after=12`: threads with larger numbers."""
    subject, person = version_subject(request, chain_id), person_of(request)
    place_threads(subject.chain, subject.stored)
    visible = Thread.objects.filter(chain=subject.chain).visible_to(person)
    places = Place.objects.filter(snapshot_key=subject.snapshot.pk, thread__in=visible)
    chosen = request.GET.get("show", "")
    chosen = chosen if chosen in FILTERS else "open"
    after = small_number(request.GET.get("after", "")) or 0
    wanted = places.filter(FILTERS[chosen], thread__number__gt=after).select_related("thread__chain")
    found = list(wanted.order_by("thread__number")[: SHOWN + 1])
    views = thread_views(subject.chain, subject.chain.version, found[:SHOWN], person)
    context = {
        "chain": subject.chain,
        "number": subject.version,
        "views": views,
        "with_secrets": threads_with_secrets(views),
        "held": _secret_notice(subject) if "export" in subject.permissions else None,
        "has_suggestions": any(view.has_suggestions for view in views),
        "filters": [(name, places.filter(which).count(), name == chosen) for name, which in FILTERS.items()],
        "chosen": chosen,
        "next": found[SHOWN - 1].thread.number if len(found) > SHOWN else None,
        "pending": Comment.objects.pending(person, subject.chain).count(),
    }
    return render(request, "review/threads.html", context)


@requires("export")
@require_safe
def comments_export(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    """Export the comments of the whole library, or of one chain: `?chain=4`."""
    return exported(request, "comments", kind)


def _secret_notice(subject: Subject) -> SecretNotice | None:
    """Scan the files that the page offers, and return a notice of the secrets found."""
    return before_written("comments", [subject.chain.title, *comment_texts(subject.chain)], subject)
