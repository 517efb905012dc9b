"""Suggested texts as steps of a person's draft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from chainviz.accounts.audit import note
from chainviz.accounts.models import User, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import Refused
from chainviz.core.operations.edit import Edit
from chainviz.core.operations.edit.locate import EditOptions
from chainviz.core.review import part_text
from chainviz.drafts.operations.run import propose
from chainviz.drafts.services import add_step, open_draft
from chainviz.drafts.target import Target, target_of_draft, target_of_version
from chainviz.review.models import Comment, Place, Thread
from chainviz.review.threads.notes import places_of
from chainviz.review.threads.thread_view import suggestions_in
from chainviz.review.threads.writing import set_resolved
from chainviz.store.content.chain import StoredChain
from chainviz.web.http import see_other, small_number

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
