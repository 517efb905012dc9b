"""The contract of an operation: it changes a chain, takes options from which a form can be made, and returns a report."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.surroundings import Rewrite, Surroundings
from chainviz.core.errors import visible
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.secrets.word_lists import WordList

VARIABLE = "STREAM_REDACTION_ENABLED"
ON = ("", "true", "t", "1", "on", "yes", "enabled")
OFF = ("false", "f", "0", "off", "no", "disabled")
"""Spellings, each also in capitals or with one. Every other value leaves redaction on: it protects."""


@dataclass(frozen=True, slots=True)
class RedactionSwitch:
    is_on: bool = True
    warning: str = ""
    """A sentence where redaction is off, or where the value has no known meaning."""


def read_redaction_switch(environment: Mapping[str, str]) -> RedactionSwitch:
    """Read the switch. Redaction is on unless the value is one of `OFF`, without white space around it."""
    value = environment.get(VARIABLE, "")
    if value in _spellings(OFF):
        return RedactionSwitch(False, f"{VARIABLE}={value} turns redaction off: nothing is redacted.")
    if value in _spellings(ON):
        return RedactionSwitch()
    return RedactionSwitch(True, f"{VARIABLE} is “{visible(value[:40])}”, which is neither true nor false: redaction is on.")


def _spellings(words: Iterable[str]) -> set[str]:
    return {spelling for word in words for spelling in (word, word.capitalize(), word.upper())}


if TYPE_CHECKING:
    from chainviz.core.operations.summarize.writers.contract import Unchanged, Writer, WriteSummaries


class Options(BaseModel):
    """Base of every operation's options: frozen, unknown names refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def without_secrets(self) -> Self:
        """Returns what may be stored when the operation has run: a pattern may spell out the very value that is masked."""
        return self


O_contra = TypeVar("O_contra", bound=Options, contravariant=True)


WARNING = "warning"
"""The action of a row of a stored report that is one of the outcome's warnings."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of a report. `path`, `until` and `becomes` are texts of `Path` (`str(path)`), or "" for the whole chain."""

    path: str
    action: str
    reason: str
    bytes_before: int = 0
    bytes_after: int = 0
    until: str = ""
    """The last of several neighbouring nodes of which `path` is the first."""
    becomes: str = ""
    """Path, in the changed chain, of what replaced these nodes."""
    kind: str = ""
    """What was changed, in a word such as “result”; empty where the action says it."""


@dataclass(frozen=True, slots=True)
class NewFormat:
    """The document into which a chain moves."""

    name: str
    """The format's."""
    document: str = ""
    """The document with an empty list of messages; "" for the format's own template."""
    provider: str = ""
    """The name of the provider that is to take it; "" for those whose format it is."""


@dataclass(frozen=True, slots=True)
class Outcome:
    changes: tuple[Splice, ...]
    report: tuple[Decision, ...] = ()
    warnings: tuple[str, ...] = ()
    target: NewFormat | None = None
    """Set by convert only."""
    around: Rewrite | None = None
    """Rewrites a piece of JSON beside the messages, so that it holds nothing of what was taken out of them."""
    surroundings: Surroundings | None = None
    """The surroundings as `around` rewrites them, filled in by `execute`; None where they stay the same."""
    kept_options: Mapping[str, Any] | None = None
    """What a step keeps of the options, as JSON values; None: those that differ from their defaults."""
    audit: Mapping[str, Any] | None = None
    """What the audit log keeps, as JSON values: places and sizes, never contents."""

    @property
    def is_empty(self) -> bool:
        """Whether the chain and its surroundings stay the same."""
        return not self.changes and self.surroundings is None and self.target is None


@dataclass(frozen=True, slots=True)
class Context:
    """What is not pure, given by the caller."""

    random: random.Random = field(default_factory=lambda: random.Random(0))
    """Source of new tool-call ids."""
    progress: Progress = ignore_progress
    cancelled: Callable[[], bool] = lambda: False
    writer: Writer | None = None
    """Writes summaries; chosen beside the options. None: the one that needs nothing."""
    write_summaries: WriteSummaries | None = None
    """Has several summaries written at the same time; it is used instead of `writer`."""
    summaries: Mapping[str, str | Unchanged] | None = None
    """Summaries that were written before, by the key of their piece; then nothing is written, and other pieces stay."""
    redaction: RedactionSwitch = field(default_factory=RedactionSwitch)
    """Whether the environment allows redaction."""
    word_lists: Mapping[str, WordList] = field(default_factory=dict)
    """Those that options may name."""
    redacted: Callable[[], Container[tuple[int, int]]] = frozenset
    """The parts (message, part) that an earlier step redacted, where the history of the chain is known."""


AnyOptions = Options


@dataclass(frozen=True, slots=True)
class Badge:
    """The badge with which pages mark what an operation did."""

    text: str
    """What was done, such as “Repaired”."""
    icon: str
    """The name of an icon."""
    state: str
    """The name of a colour: what became of the content."""


class Operation(Protocol, Generic[O_contra]):
    name: str
    """In addresses, commands and stored steps."""
    label: str
    """On pages and buttons, as an order: “Repair”."""
    doing: str
    """While it runs: “Repairing”."""
    badge: Badge
    nothing: str
    """What a person reads where the options change nothing."""

    @property
    def Options(self) -> type[AnyOptions]:  # noqa: N802 - a class, and named as one
        """The model of its options."""

    def run(self, chain: Chain, options: O_contra, context: Context) -> Outcome:
        """Apply the operation to a chain without changing its input. Raises Refused if it cannot be done."""
