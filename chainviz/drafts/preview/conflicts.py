"""The conflict page: what the newer version changed, what the draft changes, and where both touched the same node."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.safestring import SafeString

from chainviz.chains.diff.address import Asked
from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.groups import Compared
from chainviz.chains.diff.page import diff_view
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.diff.view import VersionLinks
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.core.diff.chains import ChainDiff
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.page import compared_of
from chainviz.drafts.stored_draft import stored_draft
from chainviz.drafts.target import version_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.rebase import overlap

ROOM = 320
"""Elements of each side; all of it is a link away."""
MOST_OVERLAPS = 8


@dataclass(frozen=True, slots=True)
class ConflictPage:
    chain: Chain
    draft: Draft
    base_number: int
    head_number: int
    sentence: str
    rebase_words: str
    is_blocked: bool
    """Both sides changed the same nodes, so a rebase would be refused."""
    overlaps: tuple[str, ...]
    theirs_words: str
    theirs_html: SafeString
    theirs_href: str
    mine_words: str
    mine_html: SafeString
    note: str
    branch_title: str


def conflict_page(draft: Draft, sentence: str = "") -> ConflictPage:
    chain = draft.chain
    base, head = version_of(chain, draft.base), version_of(chain, chain.version)
    mine = compared_of(draft)
    old, new = StoredChain(base.snapshot), StoredChain(head.snapshot)
    links = VersionLinks(chain, draft.base, head.number)
    theirs = Compared(compare(old, new), old, new, StoredRows(old), StoredRows(new), links)
    found = overlap(stored_draft(draft), head)
    overlaps = [f"{path.number} was changed on both sides." for path in found.paths] if found else []
    return ConflictPage(
        chain=chain,
        draft=draft,
        base_number=draft.base,
        head_number=head.number,
        sentence=sentence,
        rebase_words=_rebase_words(len(overlaps) if found else None, head.number),
        is_blocked=found is not None,
        overlaps=tuple(overlaps[:MOST_OVERLAPS]),
        theirs_words=_words(theirs.diff, head.note),
        theirs_html=diff_view(theirs, Asked(room=ROOM, scope="theirs-")).html,
        theirs_href=reverse("chains:diff", args=[chain.pk, draft.base, head.number]),
        mine_words=_words(mine.diff, ""),
        mine_html=diff_view(mine, Asked(room=ROOM, scope="mine-")).html,
        note=stored_draft(draft).note,
        branch_title=f"{chain.title} (branch)"[:200],
    )


def _words(diff: ChainDiff, note: str) -> str:
    words = count_text(len(diff.changes), "change")
    return f"{words} · “{note}”" if note else words


def _rebase_words(overlaps: int | None, head: int) -> str:
    if overlaps is not None:
        what = f"the same {count_text(overlaps, 'node')}" if overlaps > 1 else "the same node"
        return f"Both sides changed {what}, so they cannot be merged automatically. Save a branch, or redo your change on version {head}."
    return f"Your changes and those of version {head} merge automatically. You see the result before it is saved."
