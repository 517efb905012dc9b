"""The contract of an act, which is done to one chain at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chainviz.accounts.models import Membership
from chainviz.accounts.permissions import Permission
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.chains.models import Chain
from chainviz.core.operations.contract import Options
from chainviz.core.progress import Progress
from chainviz.web.forms import OptionsForm

Outcome = BulkRow.Outcome


class NoOptions(Options):
    """The options of an act without a choice."""


@dataclass(frozen=True, slots=True)
class Work:
    """One chain of a run."""

    row: BulkRow
    chain: Chain
    member: Membership
    options: Options
    progress: Progress
    """Reports the progress from 0 to 1. Raises Cancelled if somebody stopped the run."""


@dataclass(frozen=True, slots=True)
class Result:
    outcome: BulkRow.Outcome
    text: str = ""
    before: int | None = None
    after: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Finish = Callable[[], Result]
"""The last part of the work, which runs in the transaction that writes the row."""


class Act:
    """The base class of acts."""

    name: str
    label: str
    """The label of the button, an imperative: “Mask secrets”."""
    doing: str
    done: str
    """The past participle for a changed chain, such as “masked”."""
    icon: str
    permission: Permission
    hint: str
    """A sentence about the effect on each chain, and about the undo."""
    first: tuple[str, ...]
    """The options that the form shows. All others are under Advanced."""
    Options: type[Options]

    def title_of(self, run: BulkRun) -> str:
        return self.label

    def adapt(self, form: OptionsForm[Any], member: Membership) -> None:
        """Fill the form of the options with the values of the team, such as its recipes."""

    def prepare(self, work: Work) -> Finish:
        """Do the slow part of the work. Raises ChainError if the act is not possible on this chain."""
        raise NotImplementedError

    def undo(self, work: Work, made: BulkRow) -> Finish:
        """Undo the act that a row reports. Raises ChainError."""
        raise NotImplementedError
