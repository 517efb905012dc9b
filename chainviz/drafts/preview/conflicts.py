"""The page of a draft whose base is no longer the newest version: what merges automatically, and the nodes to choose in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from django.urls import reverse
from django.utils.safestring import SafeString

from chainviz.chains.diff.address import Asked
from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.page import diff_view
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.diff.view import VersionLinks
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.chains.titles import branch_title
from chainviz.core.diff.merge.merged import Choice
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflict_form import hidden_choices
from chainviz.drafts.preview.conflict_nodes import ConflictCard, Sides, cards
from chainviz.drafts.preview.page import compared_of
from chainviz.drafts.stored_draft import snapshot_of, stored_draft
from chainviz.drafts.target import version_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.merge import SnapshotMerge
from chainviz.store.models import Version

ROOM = 320
"""Elements of each side where nothing is to be chosen; all of it is a link away."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What the form of the page said."""

    choices: Mapping[str, Choice]
    first: int = 1
    """The first card to show."""
    sentence: str = ""
    asks: bool = False
    """Choices are missing: the first missing one is shown."""
    everywhere: Choice | None = None
    """Chosen for all nodes at once."""


NOTHING_SENT = Sent({})


@dataclass(frozen=True, slots=True)
class OneSide:
    """All changes of one side, in short."""

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
    """Cards on all pages."""
    hidden: str
    previous: int
    """The first card of the page before; 0 for none."""
    next: int
    sides: tuple[OneSide, ...]
    """Empty where there is something to choose."""
    theirs_href: str
    seen: str
    note: str
    branch_title: str


def seen_by(draft: Draft) -> str:
    """Names what the page was made for: the newest version and the content of the draft."""
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
        sides=() if total else tuple(_sides(draft, head, compared)),
        theirs_href=reverse("chains:diff", args=[chain.pk, draft.base, head.number]),
        seen=seen_by(draft),
        note=stored_draft(draft).note,
        branch_title=branch_title(chain),
    )


def _missing(merge: SnapshotMerge, sent: Sent) -> int:
    """The number of the first card without a choice."""
    return next((number for number, each in enumerate(merge.conflicts, 1) if each.key not in sent.choices), 1)


def _theirs(draft: Draft, base: Version, head: Version) -> Compared:
    old, new = StoredChain(base.snapshot), StoredChain(head.snapshot)
    links = VersionLinks(draft.chain, draft.base, head.number)
    return Compared(compare(old, new), old, new, StoredRows(old), StoredRows(new), links)


def _sides(draft: Draft, head: Version, compared: tuple[Compared | None, Compared | None]) -> list[OneSide]:
    mine, theirs = compared
    assert mine is not None and theirs is not None, "a side that moved to another format is something to choose"
    note = f" · “{head.note}”" if head.note else ""
    return [
        OneSide(
            id=scope,
            title=title,
            icon=icon,
            words=count_text(len(each.diff.changes), "change") + (note if each is theirs else ""),
            html=diff_view(each, Asked(room=ROOM, scope=f"{scope}-")).html,
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
