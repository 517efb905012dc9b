"""The page of a draft: its steps, their changes, their effect on sizes and problems, and undo, redo, discard and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import recorded_together
from chainviz.accounts.permissions import requires
from chainviz.chains.access import version_of
from chainviz.chains.diff.address import DiffQuery, SideLink, query, read_diff_query
from chainviz.chains.diff.changes_page import DiffView, Measure, diff_view, measures_of
from chainviz.chains.diff.compare import Compared, StoredRows, compare
from chainviz.chains.diff.groups import asks_to_unfold, fold_answer
from chainviz.chains.models import Chain
from chainviz.chains.verdicts import VerdictView, provider_of, verdict_view, verdicts_by_provider
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import Side
from chainviz.core.errors import ChainError
from chainviz.core.operations import OPERATIONS
from chainviz.core.providers.contract import Provider
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.steps import ChangeGroup, StepRow, change_groups, changed_nodes, nodes_text, step_answer, step_rows
from chainviz.drafts.stored_draft import snapshot_of, steps_of
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import same_beginning
from chainviz.store.history import drafts as store
from chainviz.store.models import Outline, Snapshot, Step
from chainviz.store.outline.build import outline_of
from chainviz.store.query.windows import row_problems
from chainviz.web.http import own_page, see_other, wants_fragment


@requires("draft")
@require_safe
def draft(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    if found.saved_as is not None:
        return redirect("chains:version", chain_id, found.saved_as)
    if found.discarded_at is not None:
        steps = count_text(len(steps_of(found).all), "step")
        return render(request, "drafts/preview/gone.html", {"draft": found, "chain": found.chain, "steps": steps})
    asked = read_diff_query(request)
    if asks_to_unfold(request, asked):
        return fold_answer(compared_of(found), asked)
    return render(request, "drafts/preview/draft.html", {"page": draft_page(found, asked, one_by_one=bool(request.GET))})


@requires("draft")
@require_POST
@recorded_together
def undo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    return _stepped(request, found, "undo", store.undo(found.stored))


@requires("draft")
@require_POST
@recorded_together
def redo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    return _stepped(request, found, "redo", store.redo(found.stored))


def _stepped(request: HttpRequest, found: Draft, word: str, step: Step | None) -> HttpResponse:
    if wants_fragment(request):
        return step_answer(request, found, word, step)
    if step is None:
        messages.info(request, f"There is nothing to {word}.")
    return see_other(own_page(request, request.POST.get("next", ""), _home(found)))


@requires("draft")
@require_POST
@recorded_together
def discard(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    services.discard(found)
    return _back(found)


@requires("draft")
@require_POST
@recorded_together
def bring_back(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    try:
        services.bring_back(found)
    except ChainError as refused:
        messages.error(request, str(refused))
    return _back(found)


def _back(found: Draft) -> HttpResponse:
    return see_other(_home(found))


def _home(found: Draft) -> str:
    return reverse("drafts:draft", args=[found.chain_id, found.pk])


# The effect of a draft on the problems of a chain and on the verdicts of providers.


MOST_CHANGES = 60
"""The most changes whose nodes are compared for added and cleared problems."""
MOST_SHOWN = 12
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class ProblemRow:
    state: str
    icon: str
    word: str
    place: str
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Problems:
    before: int
    after: int
    rows: tuple[ProblemRow, ...]
    left_out: int
    href: str


@dataclass(frozen=True, slots=True)
class VerdictRow:
    label: str
    before: VerdictView
    after: VerdictView


def problems_of(before: Outline, after: Outline, compared: Compared | None, href: str) -> Problems:
    """Return the problems before and after a draft. Counts are of the whole chain; there are rows only if both contents were compared, and
    `href` leads to all problems."""
    rows = list(_rows(compared)) if compared else []
    old, new = (each.errors + each.warnings for each in (before, after))
    return Problems(old, new, tuple(rows[:MOST_SHOWN]), max(0, len(rows) - MOST_SHOWN), href)


def _rows(compared: Compared) -> Iterator[ProblemRow]:
    """Yield the problems of the changed nodes, the only ones that can appear or disappear."""
    old, new, at = compared.old, compared.new, compared.links.after
    assert isinstance(old, StoredChain) and isinstance(new, StoredChain)
    cleared: list[Problem] = []
    arrived: list[Problem] = []
    still: list[Problem] = []
    changed = (group for group in compared.diff.groups if group.kind != "same")
    for group in islice(changed, MOST_CHANGES):
        before, after = list(_problems_in(old, group.old)), list(_problems_in(new, group.new))
        left = Counter(problem.rule for problem in after)
        for problem in before:
            if left[problem.rule]:
                left[problem.rule] -= 1
            else:
                cleared.append(problem)
        known = Counter(problem.rule for problem in before)
        for problem in after:
            (still if known[problem.rule] else arrived).append(problem)
            known[problem.rule] -= known[problem.rule] > 0
    yield from (ProblemRow("problem", "problem", "new", p.path.number, at(p.path), p.text) for p in arrived)
    yield from (ProblemRow("ok", "ok", "cleared", p.path.number, "", p.text) for p in cleared)
    yield from (ProblemRow("changed", "info", "still", p.path.number, at(p.path), p.text) for p in still)


def _problems_in(chain: StoredChain, side: Side) -> Iterator[Problem]:
    """Yield the problems of the tree; the verdicts cover those of providers."""
    if side.is_empty:
        return
    outline = chain.outline
    first = outline.row_of_message(side.start)
    last = min(outline.row_of_message(side.stop - 1), first + MOST_ROWS)
    sections = outline.listing.section_count
    for number, place in outline.rows(range(first, last + 1)).items():
        if place.row.problems:
            path = outline.section_of_row(number).path_of(number)
            yield from (problem for problem in row_problems(path, place, sections) if not problem.provider)


def verdicts_of(before: Outline, after: Outline, own: Provider) -> tuple[VerdictRow, ...]:
    """Return the verdict of the chain's own provider, then those that the draft changes."""
    old, new = (verdicts_by_provider(unpack(each.verdicts)) for each in (before, after))
    providers = sorted(new, key=lambda provider: provider is not own)
    rows = (VerdictRow(each.label, verdict_view(old[each]), verdict_view(new[each])) for each in providers)
    return tuple(row for place, row in enumerate(rows) if row.before != row.after or not place)


@dataclass(frozen=True, slots=True)
class DraftLinks:
    """Addresses of the nodes that a draft changes."""

    chain: Chain
    base_number: int
    draft_id: int

    @property
    def page(self) -> str:
        return reverse("drafts:draft", args=[self.chain.pk, self.draft_id])

    def before(self, path: Path) -> str:
        base = reverse("chains:version", args=[self.chain.pk, self.base_number])
        return f"{base}at/{path}#{path.node.dom_id}"

    def after(self, path: Path) -> str:
        base = reverse("drafts:explore_version", args=[self.chain.pk, self.draft_id])
        return f"{base}at/{path}#{path.node.dom_id}"

    def edit(self, path: Path) -> str:
        return f"{reverse('drafts:edit', args=[self.chain.pk, path])}?draft={self.draft_id}"

    def comments(self, old: Path | None, new: Path | None) -> tuple[SideLink, ...]:
        return ()

    def restore(self, message: int, part: int | None = None) -> str:
        return ""

    def lines(self, change: int, text: int, row: int) -> str:
        return self.page + query(change=change, text=text or "", row=row or "")


@dataclass(frozen=True, slots=True)
class MenuEntry:
    label: str
    icon: str
    href: str


@dataclass(frozen=True, slots=True)
class DraftPage:
    chain: Chain
    draft: Draft
    base_number: int
    head_number: int
    measures: tuple[Measure, ...]
    diff: DiffView | None
    """The comparison; None if the changes are shown in groups."""
    groups: tuple[ChangeGroup, ...]
    nodes: str
    """The number of nodes that the steps changed, in words."""
    steps: tuple[StepRow, ...]
    can_undo: bool
    can_redo: bool
    problems: Problems
    verdicts: tuple[VerdictRow, ...]
    signed: Path | None
    """The first message with signed reasoning after a change."""
    seen: str
    """Identifies the content, like Target.seen."""
    menu: tuple[MenuEntry, ...]
    note: str
    keep_key: str

    @property
    def next_number(self) -> int:
        return self.head_number + 1

    @property
    def is_behind(self) -> bool:
        return self.head_number != self.base_number

    @property
    def can_save(self) -> bool:
        return self.can_undo


def compared_of(draft: Draft) -> Compared:
    base = version_of(draft.chain, draft.base)
    old, new = StoredChain(base.snapshot), StoredChain(snapshot_of(draft))
    links = DraftLinks(draft.chain, draft.base, draft.pk)
    return Compared(compare(old, new), old, new, StoredRows(old), StoredRows(new), links)


def draft_page(draft: Draft, asked: DiffQuery, *, one_by_one: bool) -> DraftPage:
    """Return the page of a draft. `one_by_one`: show each change, even if there are many. If they are shown in groups,
    nothing is compared."""
    before, after = version_of(draft.chain, draft.base).snapshot, snapshot_of(draft)
    steps = steps_of(draft)
    groups = () if one_by_one else change_groups(steps)
    compared = None if groups else compared_of(draft)
    nodes = changed_nodes(step.snapshot for step in steps.all[: steps.cursor])
    explorer = reverse("drafts:explore_version", args=[draft.chain_id, draft.pk])
    return DraftPage(
        chain=draft.chain,
        draft=draft,
        base_number=draft.base,
        head_number=draft.chain.version,
        measures=measures_of(before, after),
        diff=diff_view(compared, asked, _heading(nodes, compared)) if compared else None,
        groups=groups,
        nodes=nodes_text(nodes),
        steps=tuple(step_rows(draft, before, steps)),
        can_undo=steps.can_undo,
        can_redo=steps.can_redo,
        problems=problems_of(outline_of(before), outline_of(after), compared, f"{explorer}problems"),
        verdicts=verdicts_of(outline_of(before), outline_of(after), provider_of(StoredChain(after))),
        signed=signed_behind(before, after),
        seen=bytes(after.digest).hex(),
        menu=menu_of(draft, steps.cursor),
        note=draft.stored.note,
        keep_key=f"{draft.chain_id}:note:{draft.pk}",
    )


def _heading(nodes: int, compared: Compared) -> str:
    """Return the heading. A node may have several changes; the badges beside the heading count these."""
    changes = len(compared.diff.changes)
    return nodes_text(nodes) if nodes == changes else f"{nodes_text(nodes)} · {count_text(changes, 'change')}"


def signed_behind(before: Snapshot, after: Snapshot) -> Path | None:
    """Return the path of the first signed reasoning after the first change; None if there is none. Providers may refuse it, because
    they bind it to the messages before it."""
    if before.format != after.format:
        return None
    chain = StoredChain(after)
    place = next(chain.signed(same_beginning(pieces_of(before), pieces_of(after))), None)
    return None if place is None else chain.outline.path_at(place)


def menu_of(draft: Draft, cursor: int) -> tuple[MenuEntry, ...]:
    """Return the menu with every operation of the registry. The entry for edits leads to the explorer, where a person chooses a node."""
    entries = []
    for operation in OPERATIONS:
        if operation.name == "edit":
            continue
        address = reverse("drafts:operation", args=[draft.chain_id, operation.name])
        entries.append(MenuEntry(operation.label, operation.badge.icon, f"{address}?draft={draft.pk}&at={cursor}"))
    recipe = f"{reverse('drafts:recipe', args=[draft.chain_id])}?draft={draft.pk}"
    explorer = reverse("drafts:explore_version", args=[draft.chain_id, draft.pk])
    return (*entries, MenuEntry("Run a recipe", "recipe", recipe), MenuEntry("Edit a node", "edit", explorer))
