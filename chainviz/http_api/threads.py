"""Comments: list the threads of a chain's newest version, start new ones, reply, edit, delete and resolve."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.core.chain.paths import parse_path
from chainviz.http_api.errors import NotPossible, note_created, repeatable
from chainviz.http_api.shapes import (
    LARGEST,
    REFUSALS,
    CommentCall,
    CommentShape,
    Error,
    NewThreadCall,
    ResolveCall,
    RowsQuery,
    ThreadList,
    ThreadShape,
)
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads import writing
from chainviz.review.threads.notes import place_threads
from chainviz.review.threads.writing import about

router = Router(tags=["comments"])
THREAD = "/chains/{int:chain_id}/threads/{int:number}"
COMMENT = "/chains/{int:chain_id}/comments/{int:comment_id}"


@router.get("/chains/{int:chain_id}/threads", response={200: ThreadList, REFUSALS: Error})
@requires("read")
def threads(request: HttpRequest, chain_id: int, asked: Query[RowsQuery]) -> ThreadList:
    """The threads of a chain, with their places in the newest version."""
    subject = version_subject(request, chain_id)
    visible = Thread.objects.filter(chain=subject.chain, number__gt=asked.after).visible_to(person_of(request))
    found = list(visible.order_by("number")[: asked.limit + 1])
    page = found[: asked.limit]
    return ThreadList(threads=_shapes(request, subject, page), next=page[-1].number if len(found) > asked.limit else None)


@router.get(THREAD, response={200: ThreadShape, REFUSALS: Error})
@requires("read")
def thread(request: HttpRequest, chain_id: int, number: int) -> ThreadShape:
    """One thread, with its place in the newest version."""
    return _shape(request, chain_id, _thread(request, chain_id, number))


def _written_before(request: HttpRequest, ids: dict[str, int], chain_id: int, **path: object) -> Status[ThreadShape]:
    return Status(201, _shape(request, chain_id, _thread(request, chain_id, ids["thread"])))


@router.post("/chains/{int:chain_id}/versions/{int:number}/threads", response={201: ThreadShape, REFUSALS: Error})
@repeatable(_written_before)
@decorate_view(recorded_together)
@requires("comment")
def new_thread(request: HttpRequest, chain_id: int, number: int, call: NewThreadCall) -> Status[ThreadShape]:
    """Starts a thread on the whole chain, a node, a part, or words in it."""
    subject = version_subject(request, chain_id, number or LARGEST)
    anchor = about(subject.stored, number, parse_path(call.path) if call.path else None, call.quote, call.nth)
    comment = writing.begin(subject.chain, person_of(request), anchor, call.text)
    note(request, thread=comment.thread.number, version=number)
    note_created(request, thread=comment.thread.number)
    return Status(201, _shape(request, chain_id, comment.thread))


@router.post(f"{THREAD}/replies", response={201: ThreadShape, REFUSALS: Error})
@repeatable(_written_before)
@decorate_view(recorded_together)
@requires("comment")
def reply_to_thread(request: HttpRequest, chain_id: int, number: int, call: CommentCall) -> Status[ThreadShape]:
    """Replies in a thread; 409 if it is resolved."""
    thread = _thread(request, chain_id, number)
    if thread.is_resolved:
        raise NotPossible(f"Thread {number} is resolved; reopen it first.")
    writing.reply(thread, person_of(request), call.text)
    note_created(request, thread=number)
    return Status(201, _shape(request, chain_id, thread))


@router.post(f"{THREAD}/resolved", response={200: ThreadShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def resolve_thread(request: HttpRequest, chain_id: int, number: int, call: ResolveCall) -> ThreadShape:
    """Resolves or reopens a thread."""
    thread = _thread(request, chain_id, number)
    writing.set_resolved(thread, person_of(request), call.resolved)
    note(request, resolved=call.resolved)
    return _shape(request, chain_id, thread)


@router.post(f"{COMMENT}/text", response={200: CommentShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def edit_comment(request: HttpRequest, chain_id: int, comment_id: int, call: CommentCall) -> CommentShape:
    """Edits one of your comments."""
    comment = _own(request, chain_id, comment_id)
    writing.edit(comment, call.text)
    note(request, thread=comment.thread.number)
    return _comment(comment)


@router.post(f"{COMMENT}/delete", response={200: CommentShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("comment")
def delete_comment(request: HttpRequest, chain_id: int, comment_id: int) -> CommentShape:
    """Deletes one of your comments. Its place in the thread stays."""
    comment = _own(request, chain_id, comment_id)
    number, deleted = comment.thread.number, _comment(comment)
    writing.delete(comment)
    note(request, thread=number)
    return deleted.model_copy(update={"text": "", "deleted_at": comment.deleted_at or timezone.now()})


def _own(request: HttpRequest, chain_id: int, comment_id: int) -> Comment:
    """Return the person's comment. Answers 404 for the comment of somebody else, and for a deleted one."""
    own = Comment.objects.filter(author=person_of(request), deleted_at=None, thread__chain=chain_for(request, chain_id))
    return get_object_or_404(own.select_related("thread__chain"), pk=comment_id)


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
            kind=thread.kind,  # type: ignore[arg-type]
            path=places[thread.pk].path,
            state=places[thread.pk].state,  # type: ignore[arg-type]
            quote=thread.quote,
            resolved=thread.is_resolved,
            url=request.build_absolute_uri(reverse("review:thread", args=[subject.chain.pk, thread.number])),
            comments=comments[thread.pk],
        )
        for thread in shown
    ]
