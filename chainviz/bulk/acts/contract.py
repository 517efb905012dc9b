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
    """Raises Cancelled where somebody asked to stop."""


@dataclass(frozen=True, slots=True)
class Result:
    outcome: BulkRow.Outcome
    text: str = ""
    before: int | None = None
    after: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


Finish = Callable[[], Result]
"""The last part of the work, in the transaction that writes the row."""


class Act:
    """Base of the acts."""

    name: str
    label: str
    """As an order: “Mask secrets”."""
    doing: str
    done: str
    """What became of a chain, such as “masked”."""
    icon: str
    permission: Permission
    hint: str
    """What happens to each chain, and how it is undone."""
    first: tuple[str, ...]
    """Options that the form shows; the others are advanced."""
    Options: type[Options]

    def title_of(self, run: BulkRun) -> str:
        return self.label

    def adapt(self, form: OptionsForm[Any], member: Membership) -> None:
        """Offers in the form of the options what the team has."""

    def prepare(self, work: Work) -> Finish:
        """Does what takes long. Raises ChainError where it cannot be done on this chain."""
        raise NotImplementedError

    def undo(self, work: Work, made: BulkRow) -> Finish:
        """Undo the act that a row reports. Raises ChainError."""
        raise NotImplementedError
