"""The page of a draft: its steps, what they change, and what the change does to sizes, problems and verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from chainviz.chains.diff.address import Asked, SideLink, query
from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.compared import Compared
from chainviz.chains.diff.measures import Measure, measures_of
from chainviz.chains.diff.page import DiffView, diff_view
from chainviz.chains.diff.stored_rows import StoredRows
from chainviz.chains.models import Chain
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.paths import Path
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.problems import Problems, VerdictRow, problems_of, verdicts_of
from chainviz.drafts.preview.steps import ChangeGroup, StepRow, change_groups, changed_nodes, nodes_text, step_rows
from chainviz.drafts.stored_draft import snapshot_of, steps_of, stored_draft
from chainviz.drafts.target import version_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import same_beginning
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of


@dataclass(frozen=True, slots=True)
class DraftLinks:
    """Where the changes of a draft lead."""

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
    """None where the changes are shown in groups."""
    groups: tuple[ChangeGroup, ...]
    nodes: str
    """How many the steps changed, as the strip in the explorer says it."""
    steps: tuple[StepRow, ...]
    can_undo: bool
    can_redo: bool
    problems: Problems
    verdicts: tuple[VerdictRow, ...]
    signed: Path | None
    """The first message behind a change with reasoning that its provider signed."""
    seen: str
    """Names the content, as Target.seen does."""
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


def draft_page(draft: Draft, asked: Asked, *, one_by_one: bool) -> DraftPage:
    """`one_by_one`: show each change, however many there are. Where they are shown in groups, nothing is compared."""
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
        verdicts=verdicts_of(outline_of(before), outline_of(after), after.format),
        signed=signed_behind(before, after),
        seen=bytes(after.digest).hex(),
        menu=menu_of(draft, steps.cursor),
        note=stored_draft(draft).note,
        keep_key=f"{draft.chain_id}:note:{draft.pk}",
    )


def _heading(nodes: int, compared: Compared) -> str:
    """A node may hold several changes; the badges beside the heading count these."""
    changes = len(compared.diff.changes)
    return nodes_text(nodes) if nodes == changes else f"{nodes_text(nodes)} · {count_text(changes, 'change')}"


def signed_behind(before: Snapshot, after: Snapshot) -> Path | None:
    """Where signed reasoning begins that follows the first change; providers that bind it to what was before refuse it."""
    if before.format != after.format:
        return None
    chain = StoredChain(after)
    place = next(chain.signed(same_beginning(pieces_of(before), pieces_of(after))), None)
    return None if place is None else chain.outline.path_at(place)


def menu_of(draft: Draft, cursor: int) -> tuple[MenuEntry, ...]:
    """Every operation of the registry; edits begin at a node, in the explorer."""
    entries = []
    for operation in OPERATIONS:
        if operation.name == "edit":
            continue
        address = reverse("drafts:operation", args=[draft.chain_id, operation.name])
        entries.append(MenuEntry(operation.label, operation.badge.icon, f"{address}?draft={draft.pk}&at={cursor}"))
    recipe = f"{reverse('drafts:recipe', args=[draft.chain_id])}?draft={draft.pk}"
    explorer = reverse("drafts:explore_version", args=[draft.chain_id, draft.pk])
    return (*entries, MenuEntry("Run a recipe", "paste", recipe), MenuEntry("Edit a node", "edit", explorer))

