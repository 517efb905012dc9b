"""Comments: the threads of a chain as they stand in its newest version, new ones, replies, resolved or open again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views.chain import version_subject
from chainviz.core.chain.paths import parse_path
from chainviz.http_api.errors import NotPossible
from chainviz.http_api.shapes import (
    LARGEST,
    REFUSALS,
    CommentCall,
    CommentShape,
    Error,
    NewThreadCall,
    ResolveCall,
    ThreadList,
    ThreadQuery,
    ThreadShape,
)
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads import writing
from chainviz.review.threads.anchor_form import about
from chainviz.review.threads.places import place_threads

router = Router(tags=["comments"])
THREAD = "/chains/{int:chain_id}/threads/{int:number}"


@router.get("/chains/{int:chain_id}/threads", response={200: ThreadList, REFUSALS: Error})
@requires("read")
def threads(request: HttpRequest, chain_id: int, asked: Query[ThreadQuery]) -> ThreadList:
    """The threads of a chain, with the place where each stands in the newest version."""
    subject = version_subject(request, chain_id)
    visible = Thread.objects.filter(chain=subject.chain, number__gt=asked.after).visible_to(person_of(request))
    found = list(visible.order_by("number")[: asked.limit + 1])
    page = found[: asked.limit]
    return ThreadList(
        threads=_shapes(request, subject, page), next=page[-1].number if len(found) > asked.limit else None
    )


@router.post("/chains/{int:chain_id}/versions/{int:number}/threads", response={201: ThreadShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def new_thread(request: HttpRequest, chain_id: int, number: int, call: NewThreadCall) -> Status[ThreadShape]:
    """Begins a thread on the whole chain, a node, a part, or words in it."""
    subject = version_subject(request, chain_id, number or LARGEST)
    anchor = about(subject.stored, number, parse_path(call.path) if call.path else None, call.quote)
    comment = writing.begin(subject.chain, person_of(request), anchor, call.text)
    note(request, thread=comment.thread.number, version=number)
    return Status(201, _shape(request, chain_id, comment.thread))


@router.post(f"{THREAD}/replies", response={201: ThreadShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def reply_to_thread(request: HttpRequest, chain_id: int, number: int, call: CommentCall) -> Status[ThreadShape]:
    """Answers a thread; 409 where it is resolved."""
    thread = _thread(request, chain_id, number)
    if thread.is_resolved:
        raise NotPossible(f"Thread {number} is resolved; reopen it first.")
    writing.reply(thread, person_of(request), call.text)
    return Status(201, _shape(request, chain_id, thread))


@router.post(f"{THREAD}/resolved", response={200: ThreadShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def resolve_thread(request: HttpRequest, chain_id: int, number: int, call: ResolveCall) -> ThreadShape:
    """Resolves a thread, or opens it again."""
    thread = _thread(request, chain_id, number)
    writing.set_resolved(thread, person_of(request), call.resolved)
    note(request, resolved=call.resolved)
    return _shape(request, chain_id, thread)


def _thread(request: HttpRequest, chain_id: int, number: int) -> Thread:
    visible = Thread.objects.filter(chain=chain_for(request, chain_id)).visible_to(person_of(request))
    found = visible.filter(number=number).first()
    if found is None:
        raise Http404
    return found


def _comment(comment: Comment) -> CommentShape:
    return CommentShape(
        id=comment.pk,
        author=comment.author_name,
        text=comment.body,
        created_at=comment.created_at,
        edited_at=comment.edited_at,
        deleted_at=comment.deleted_at,
    )


def _shape(request: HttpRequest, chain_id: int, thread: Thread) -> ThreadShape:
    return _shapes(request, version_subject(request, chain_id), [thread])[0]


def _shapes(request: HttpRequest, subject: Subject, found: Iterable[Thread]) -> list[ThreadShape]:
    place_threads(subject.chain, subject.stored)
    shown = list(found)
    places = {each.thread_id: each for each in Place.objects.filter(snapshot_key=subject.snapshot.pk, thread__in=shown)}
    comments: dict[int, list[CommentShape]] = defaultdict(list)
    visible = Comment.objects.visible_to(person_of(request)).filter(thread__in=shown).order_by("pk")
    for comment in visible:
        comments[comment.thread_id].append(_comment(comment))
    return [
        ThreadShape(
            number=thread.number,
            version=thread.version,
            kind=thread.kind,
            path=places[thread.pk].path,
            state=places[thread.pk].state,
            quote=thread.quote,
            resolved=thread.is_resolved,
            url=request.build_absolute_uri(reverse("review:thread", args=[subject.chain.pk, thread.number])),
            comments=comments[thread.pk],
        )
        for thread in shown
    ]
