"""The page of a draft: its steps, what they change, and what the change does to sizes, problems and verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from chainviz.chains.diff.compare import StoredRows, compare
from chainviz.chains.diff.groups import Compared, count, number_of
from chainviz.chains.diff.page import Asked, DiffView, Measure, diff_view, query
from chainviz.chains.diff.view import measures_of
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.formats import get_format
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.convert import SAME
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.problems import Problems, VerdictRow, problems_of, verdicts_of
from chainviz.drafts.stored import Steps, snapshot_of, steps_of, stored_draft
from chainviz.drafts.target import version_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.web.formatting.byte_text import byte_text

STATES = {
    "repair": ("repaired", "repaired"),
    "edit": ("changed", "edit"),
    "redact": ("redacted", "redacted"),
    "mask": ("redacted", "shield"),
    "summarize": ("summarised", "summary"),
    "restore": ("changed", "restore"),
}
ICONS = {
    "repair": "repaired",
    "edit": "edit",
    "convert": "convert",
    "redact": "redacted",
    "mask": "shield",
    "summarize": "summary",
    "compact": "compact",
}
EDIT_WORDS = {
    "text": "Text of", "role": "Role of", "name": "Tool name in", "arguments": "Arguments of", "result": "Result in",
    "call_id": "Call id in", "insert": "Insert at", "delete": "Delete", "move_up": "Move up", "move_down": "Move down",
    "split": "Split", "merge": "Merge", "append_human": "Append a human message", "append": "Append",
    "add_event": "Add event", "answer": "Answer",
}  # fmt: skip


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

    def restore(self, message: int, part: int | None = None) -> str:
        return ""

    def lines(self, change: int, text: int, row: int) -> str:
        return self.page + query(change=change, text=text or "", row=row or "")


@dataclass(frozen=True, slots=True)
class StepRow:
    name: str
    detail: str
    sizes: str
    state: str
    icon: str
    is_undone: bool


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
    diff: DiffView
    steps: tuple[StepRow, ...]
    can_undo: bool
    can_redo: bool
    problems: Problems
    verdicts: tuple[VerdictRow, ...]
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


def draft_page(draft: Draft, compared: Compared, asked: Asked) -> DraftPage:
    assert isinstance(compared.old, StoredChain) and isinstance(compared.new, StoredChain)
    before, after = compared.old.snapshot, compared.new.snapshot
    steps = steps_of(draft)
    explorer = reverse("drafts:explore_version", args=[draft.chain_id, draft.pk])
    return DraftPage(
        chain=draft.chain,
        draft=draft,
        base_number=draft.base,
        head_number=draft.chain.version,
        measures=measures_of(before, after),
        diff=diff_view(compared, asked),
        steps=tuple(_step_rows(before, steps)),
        can_undo=steps.can_undo,
        can_redo=steps.can_redo,
        problems=problems_of(
            compared.old, compared.new, compared.diff, at=compared.links.after, all_href=f"{explorer}problems"
        ),
        verdicts=verdicts_of(outline_of(before), outline_of(after)),
        menu=menu_of(draft),
        note=stored_draft(draft).note,
        keep_key=f"note:{draft.pk}",
    )


def menu_of(draft: Draft) -> tuple[MenuEntry, ...]:
    """Every operation of the registry; edits begin at a node, in the explorer."""
    entries = []
    for operation in OPERATIONS:
        if operation.name == "edit":
            continue
        own = operation.name == "repair"
        address = (
            reverse("drafts:repair", args=[draft.chain_id])
            if own
            else reverse("drafts:operation", args=[draft.chain_id, operation.name])
        )
        icon = ICONS.get(operation.name, "settings")
        entries.append(MenuEntry(operation.label, icon, f"{address}?draft={draft.pk}"))
    explorer = reverse("drafts:explore_version", args=[draft.chain_id, draft.pk])
    return (*entries, MenuEntry("Edit a node", "edit", explorer))


def _step_rows(base: Snapshot, steps: Steps) -> list[StepRow]:
    rows = []
    before = base.size
    for i, step in enumerate(steps.all):
        snapshot = step.snapshot
        state, icon = STATES.get(snapshot.operation, ("changed", ICONS.get(snapshot.operation, "settings")))
        name, detail = _told(snapshot)
        change = snapshot.size - before
        sizes = "same size" if not change else f"{'+' if change > 0 else ''}{byte_text(change)}"
        rows.append(StepRow(name, detail, sizes, state, icon, is_undone=i >= steps.cursor))
        before = snapshot.size
    return rows


def _told(snapshot: Snapshot) -> tuple[str, str]:
    """What a step did, in its own words."""
    options, report = unpack(snapshot.options), unpack(snapshot.report)
    label = next((each.label for each in OPERATIONS if each.name == snapshot.operation), snapshot.operation.capitalize())
    if snapshot.operation == "edit":
        words = EDIT_WORDS.get(options.get("action", "text"), "Edit")
        where = options.get("path", "")
        return f"{words} {number_of(parse_path(where))}" if where else words, "".join(
            row["reason"] for row in report[:1]
        )
    if snapshot.operation == "convert" and options.get("to", SAME) != SAME:
        label = f"Convert to {get_format(snapshot.format).label}"
    made = [row for row in report if not str(row.get("action", "")).startswith(("left", "keep"))]
    reason = str(made[0].get("reason", "")) if len(made) == 1 else count(len(made), "change") if made else ""
    return label, reason
