"""The page of a draft whose base is no longer the newest version: changes that merge automatically, and nodes that need a choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST

from chainviz.accounts.audit import not_recorded, note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import version_of
from chainviz.chains.diff.address import DiffQuery
from chainviz.chains.diff.changes_page import diff_view
from chainviz.chains.diff.compare import Compared, StoredRows, compare
from chainviz.chains.diff.versions_page import VersionLinks
from chainviz.chains.models import Chain
from chainviz.chains.titles import branch_title
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.diff.merge.items import Choice
from chainviz.core.errors import ChainError, PathError
from chainviz.core.operations.mask import MASK
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflict_nodes import ConflictCard, Sides, cards, choices_in, hidden_choices
from chainviz.drafts.preview.draft_page import compared_of
from chainviz.drafts.stored_draft import snapshot_of
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.content.chain import StoredChain
from chainviz.store.errors import Conflict, Overlap
from chainviz.store.history.drafts import steps_of
from chainviz.store.history.merge import SnapshotMerge
from chainviz.store.models import Version
from chainviz.web.http import see_other, small_number

ROOM = 320
"""The most HTML elements shown for each side if there is nothing to choose. A link leads to the whole comparison."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The values of the submitted form."""

    choices: Mapping[str, Choice]
    first: int = 1
    """The first card to show."""
    sentence: str = ""
    asks: bool = False
    """Choices are missing, so the page shows the first missing one."""
    everywhere: Choice | None = None
    """A choice for all nodes at once."""


NOTHING_SENT = Sent({})


@dataclass(frozen=True, slots=True)
class OneSide:
    """A summary of all changes of one side."""

    id: str
    title: str
    icon: str
    words: str
    html: SafeString
    href: str


@dataclass(frozen=True, slots=True)
class ConflictPage:
    chain: Chain
    draft: Draft
    head_number: int
    sentence: str
    words: str
    cards: tuple[ConflictCard, ...]
    total: int
    """The number of cards on all pages."""
    hidden: str
    previous: int
    """The first card of the previous page; 0 if there is none."""
    next: int
    sides: tuple[OneSide, ...]
    """Summaries of both sides; empty if there is something to choose."""
    theirs_href: str
    seen: str
    note: str
    branch_title: str


def seen_by(draft: Draft) -> str:
    """Identifies the content of the page: the newest version and the content of the draft."""
    return f"{draft.chain.version}-{bytes(snapshot_of(draft).digest).hex()[:16]}"


def conflict_page(draft: Draft, sent: Sent = NOTHING_SENT) -> ConflictPage:
    chain = draft.chain
    base, head = version_of(chain, draft.base), version_of(chain, chain.version)
    merge = SnapshotMerge(base.snapshot, snapshot_of(draft), head.snapshot)
    if sent.everywhere is not None:
        sent = replace(sent, choices=dict.fromkeys([each.key for each in merge.conflicts], sent.everywhere))
    total = len(merge.conflicts)
    compared: tuple[Compared | None, Compared | None] = (None, None)
    if not merge.is_whole:
        compared = compared_of(draft), _theirs(draft, base, head)
    sides = Sides(merge, *compared, head.number, sent.choices, sent.asks)
    first = min(max(1, sent.first), max(1, total))
    shown = tuple(cards(sides, first))
    if sent.asks and (missing := _missing(merge, sent)) not in range(first, first + len(shown)):
        first, shown = missing, tuple(cards(sides, missing))
    others = (*merge.conflicts[: first - 1], *merge.conflicts[first - 1 + len(shown) :])
    return ConflictPage(
        chain=chain,
        draft=draft,
        head_number=head.number,
        sentence=sent.sentence,
        words=_words(merge, head.number),
        cards=shown,
        total=total,
        hidden=hidden_choices(sent.choices, others),
        previous=max(1, first - len(shown)) if first > 1 else 0,
        next=first + len(shown) if first + len(shown) <= total else 0,
        sides=() if total else tuple(_sides(head, compared)),
        theirs_href=reverse("chains:diff", args=[chain.pk, draft.base, head.number]),
        seen=seen_by(draft),
        note=draft.stored.note,
        branch_title=branch_title(chain),
    )


def _missing(merge: SnapshotMerge, sent: Sent) -> int:
    """Return the number of the first card without a choice."""
    return next((number for number, each in enumerate(merge.conflicts, 1) if each.key not in sent.choices), 1)


def _theirs(draft: Draft, base: Version, head: Version) -> Compared:
    old, new = StoredChain(base.snapshot), StoredChain(head.snapshot)
    links = VersionLinks(draft.chain, draft.base, head.number)
    return Compared(compare(old, new), old, new, StoredRows(old), StoredRows(new), links)


def _sides(head: Version, compared: tuple[Compared | None, Compared | None]) -> list[OneSide]:
    mine, theirs = compared
    assert mine is not None and theirs is not None, "a side in another format needs a choice"
    note = f" · “{head.note}”" if head.note else ""
    return [
        OneSide(
            id=scope,
            title=title,
            icon=icon,
            words=count_text(len(each.diff.changes), "change") + (note if each is theirs else ""),
            html=diff_view(each, DiffQuery(room=ROOM, scope=f"{scope}-")).html,
            href=each.links.page,
        )
        for scope, icon, title, each in (
            ("theirs", "people", f"What version {head.number} changed", theirs),
            ("mine", "changed", "What your draft changes", mine),
        )
    ]


def _words(merge: SnapshotMerge, head: int) -> str:
    total = len(merge.conflicts)
    if not total:
        return f"Your changes and those of version {head} merge automatically. You see the result before it is saved."
    if merge.is_whole:
        return "One side converted the chain to another format, so the whole chain is one choice."
    what = f"{count_text(total, 'node was', 'nodes were')} changed on both sides."
    others = {0: "", 1: " The other change merges automatically."}.get(merge.merged)
    if others is None:
        others = f" The other {merge.merged:,} changes merge automatically."
    return f"{what}{others} You see the result before it is saved."


# The views after somebody else saved first: both changes side by side, and the ways to continue. Nothing is overwritten.


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
@not_recorded
def conflict(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    """Show the page of conflicts. A submitted form turns the page, or chooses one side for all nodes. Nothing is stored."""
    draft = open_draft_for(request, chain_id, draft_id)
    if draft.chain.version == draft.base:
        return redirect("drafts:draft", chain_id, draft.pk)
    side = request.POST.get("all", "")
    everywhere: Choice | None = "mine" if side == "mine" else "theirs" if side == "theirs" else None
    first = small_number(request.POST.get("from", "")) or 1
    return _page(request, draft, Sent(choices_in(request.POST), first, everywhere=everywhere))


def _page(request: HttpRequest, draft: Draft, sent: Sent, status: int = 200) -> HttpResponse:
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft, sent)}, status=status)


def conflict_answer(request: HttpRequest, draft: Draft) -> HttpResponse:
    """Answer a save after somebody else saved first, with the page of conflicts and 409."""
    draft.chain.refresh_from_db()
    return _page(request, draft, NOTHING_SENT, status=409)


@requires("draft")
@require_POST
@recorded_together
def rebase(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    choices = choices_in(request.POST)
    try:
        services.rebase(draft, choices)
    except Overlap:
        return _ask_again(request, draft, choices)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:draft", chain_id, draft.pk)
    note(request, version=draft.base, chosen=dict(Counter(choices.values())))
    messages.success(request, f"Your changes are now based on version {draft.base}. Review and save them.")
    return see_other("drafts:draft", chain_id, draft.pk)


def _ask_again(request: HttpRequest, draft: Draft, choices: Mapping[str, Choice]) -> HttpResponse:
    """Show the page again after a side changed. Choices for unchanged conflicts stay."""
    draft.chain.refresh_from_db()
    if request.POST.get("seen", "") in ("", seen_by(draft)):
        return _page(request, draft, Sent(choices, sentence="Choose a side for every node first.", asks=True), status=422)
    sentence = "Another version was saved, or your draft changed, while you chose. Your choices are kept; some are still missing."
    return _page(request, draft, Sent(choices, sentence=sentence, asks=True), status=409)


@requires("save")
@require_POST
def branch(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    title = " ".join(request.POST.get("title", "").split())
    try:
        chain = services.branch(draft, title=title, note=request.POST.get("note", ""), by=person_of(request))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:conflict", chain_id, draft.pk)
    note(request, branch=chain.pk)
    messages.success(request, f"Your changes are now a separate chain, a branch of “{draft.chain.title}”.")
    return see_other("chains:chain", chain.pk)


# Saving a draft as the next version. If somebody else saved first, the answer is the page of conflicts (409).


@requires("save")
@require_POST
@recorded_together
def save(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = draft_for(request, chain_id, draft_id)
    if _is_sent_again(request, draft):
        messages.info(request, f"This draft was already saved as version {draft.saved_as}.")
        return see_other("drafts:draft", chain_id, draft.pk)
    draft = open_draft_for(request, chain_id, draft_id)
    try:
        version = services.save(draft, note=request.POST.get("note", ""), by=person_of(request))
    except Conflict:
        return conflict_answer(request, draft)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:draft", chain_id, draft.pk)
    note(request, version=version.number)
    messages.success(request, _saved(request, chain_id, version))
    place = _place(request)
    return see_other("chains:at", chain_id, version.number, place) if place else see_other("chains:version", chain_id, version.number)


def _place(request: HttpRequest) -> Path | None:
    """Return the node that the reader sees in the explorer. The new version contains it, because it has the content of the draft."""
    try:
        return parse_path(request.POST.get("at", ""))
    except PathError:
        return None


def _saved(request: HttpRequest, chain_id: int, version: Version) -> str:
    """Describe the saved version. If the draft masked something, link to the purge of earlier versions."""
    sentence = f"Saved as version {version.number}."
    if not member_of(request).may("purge") or all(step.operation != MASK.name for step in steps_of(version)):
        return sentence
    address = f"{reverse('purge', args=[chain_id])}?masked={version.number}"
    return format_html('{} Earlier versions still contain the masked values. <a href="{}">Purge them</a>', sentence, address)


def _is_sent_again(request: HttpRequest, draft: Draft) -> bool:
    """Return True if the draft was already saved with the note of this form, because the form was sent twice or from another window."""
    return draft.saved_as is not None and request.POST.get("note", "").strip() in ("", draft.stored.note)
