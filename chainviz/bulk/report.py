"""The page of a run: counts, and a window of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.core.paginator import Page, Paginator
from django.db.models import Count

from chainviz.bulk.acts.contract import Act
from chainviz.bulk.models import PURGE_JOB, PURGES, UNPURGED, BulkRow, BulkRun
from chainviz.core.counts import count_text
from chainviz.jobs.models import Job

ROWS = 100
Outcome = BulkRow.Outcome
LOOKS = {
    Outcome.CHANGED: ("ok", "ok"),
    Outcome.UNCHANGED: ("quiet", "quiet"),
    Outcome.REFUSED: ("problem", "failed"),
    Outcome.WAITING: ("quiet", "clock"),
}
"""The state and icon of each outcome."""


@dataclass(frozen=True, slots=True)
class Tab:
    outcome: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Purge:
    """The purge at the end of a recipe, which an owner must confirm: the chains without confirmation, and the others."""

    waiting: int
    confirmed: int
    failed: int
    """The number of failed purges among the confirmed ones."""
    under_way: int
    """Likewise."""
    unpurged: int
    """The number of chains in which no value could be searched for."""


@dataclass(frozen=True)
class Report:
    run: BulkRun
    act: Act
    shown: str = ""
    """The outcome whose rows are shown; "" for all."""
    page_number: str = "1"

    @cached_property
    def counts(self) -> dict[str, int]:
        found = self.run.rows.order_by().values_list("outcome").annotate(Count("pk"))
        return {**dict.fromkeys(Outcome.values, 0), **dict(found)}

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def title(self) -> str:
        label = self.act.title_of(self.run)
        label = f"Undo: {label}" if self.run.undoes_id else label
        return f"{label}, {count_text(self.total, 'chain')}"

    @property
    def done(self) -> str:
        return "undone" if self.run.undoes_id else self.act.done

    @property
    def tabs(self) -> list[Tab]:
        labels = {
            Outcome.CHANGED: self.done,
            Outcome.UNCHANGED: "unchanged",
            Outcome.REFUSED: "refused",
            Outcome.WAITING: "waiting" if self.is_running else "not reached",
        }
        return [Tab(name.value, label, self.counts[name]) for name, label in labels.items() if self.counts[name]]

    @property
    def sentence(self) -> str:
        """The heading, such as “38 of 40 chains masked, 2 refused”."""
        first = f"{self.counts[Outcome.CHANGED]:,} of {count_text(self.total, 'chain')} {self.done}"
        return ", ".join((first, *(f"{tab.count:,} {tab.label}" for tab in self.tabs if tab.outcome != Outcome.CHANGED)))

    @property
    def is_running(self) -> bool:
        return self.run.job is not None and not self.run.job.is_finished

    @property
    def stopped(self) -> str:
        """The reason why some chains were not reached; "" if all were, or while the run is running."""
        job = self.run.job
        if self.is_running or not self.counts[Outcome.WAITING]:
            return ""
        if job is None or job.state == Job.State.CANCELLED:
            return "It was stopped."
        return job.message

    @property
    def can_undo(self) -> bool:
        changes = self.act.name != "export" and self.run.undoes_id is None
        return changes and not self.is_running and bool(self.counts[Outcome.CHANGED])

    @cached_property
    def undone_by(self) -> BulkRun | None:
        return self.run.undone_by.first()

    @property
    def undo_label(self) -> str:
        """The progress of the run that undoes this one."""
        outcomes = set(self.undone_by.rows.values_list("outcome", flat=True)) if self.undone_by else set()
        if Outcome.CHANGED not in outcomes:
            return "Undo" if Outcome.WAITING in outcomes else "Not undone"
        return "Undone" if len(outcomes) == 1 else "Partly undone"

    @cached_property
    def has_masked(self) -> bool:
        """Whether earlier versions still contain the masked values."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED).only("facts")
        return any(row.facts.get("masked") for row in rows.iterator())

    @cached_property
    def purge(self) -> Purge | None:
        """The state of the purges that the run started, or None if its recipe has no such step, nothing was masked, or
        the run was undone."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED).only("facts")
        asked = [row.facts for row in rows.iterator() if PURGES in row.facts]
        if not asked or self.undone_by:
            return None
        begun = [facts[PURGE_JOB] for facts in asked if PURGE_JOB in facts]
        unpurged = sum(UNPURGED in facts for facts in asked)
        jobs = Job.objects.filter(pk__in=begun)
        failed, under_way = jobs.filter(state=Job.State.FAILED).count(), jobs.unfinished().count()
        return Purge(len(asked) - len(begun) - unpurged, len(begun), failed, under_way, unpurged)

    @cached_property
    def secrets(self) -> int:
        """The number of chains in an export in which the scan found something."""
        rows = self.run.rows.filter(outcome=Outcome.CHANGED) if self.act.name == "export" else BulkRow.objects.none()
        return sum(bool(row.facts.get("secrets")) for row in rows.only("facts"))

    @cached_property
    def page(self) -> Page[BulkRow]:
        rows = self.run.rows.select_related("chain").order_by("pk")
        return Paginator(rows.filter(outcome=self.shown) if self.shown else rows, ROWS).get_page(self.page_number)

    @property
    def rows(self) -> list[tuple[BulkRow, str, str, str]]:
        """Each row, with the colour, icon and word of its outcome."""
        labels = {tab.outcome: tab.label for tab in self.tabs}
        return [(row, *LOOKS[Outcome(row.outcome)], labels[row.outcome]) for row in self.page]
