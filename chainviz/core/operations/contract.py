"""The contract of an operation, which changes a chain, and of its options and report. Forms are built from the options."""

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
"""Values that switch redaction off, in lower case, upper case or capitalized. Any other value leaves it on, which is safer."""


@dataclass(frozen=True, slots=True)
class RedactionSwitch:
    is_on: bool = True
    warning: str = ""
    """A sentence if redaction is off, or if the value is unknown; otherwise ""."""


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
    """The base of the options of all operations. Options are frozen, and unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def without_secrets(self) -> Self:
        """Return the options that may be stored. A pattern may contain the very value that it masks, so it is left out."""
        return self


O_contra = TypeVar("O_contra", bound=Options, contravariant=True)


WARNING = "warning"
"""The action of rows in a stored report that contain a warning of the outcome."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of a report. `path`, `until` and `becomes` are paths as text (`str(path)`); "" means the whole chain."""

    path: str
    action: str
    reason: str
    bytes_before: int = 0
    bytes_after: int = 0
    until: str = ""
    """The last node of the row, if it has several; `path` is the first."""
    becomes: str = ""
    """The path, in the changed chain, of the node that replaced these nodes."""
    kind: str = ""
    """The kind of content that changed, such as “result”; "" if the action says it."""


@dataclass(frozen=True, slots=True)
class NewFormat:
    """The document that a converted chain is written to."""

    name: str
    """The name of the format."""
    document: str = ""
    """The document with an empty message list; "" for the template of the format."""
    provider: str = ""
    """The name of the provider that the document is for; "" for every provider of the format."""


@dataclass(frozen=True, slots=True)
class Outcome:
    changes: tuple[Splice, ...]
    report: tuple[Decision, ...] = ()
    warnings: tuple[str, ...] = ()
    target: NewFormat | None = None
    """The new format. Only the conversion sets it."""
    around: Rewrite | None = None
    """Rewrites the JSON beside the messages, so that it contains nothing that was removed from the messages."""
    surroundings: Surroundings | None = None
    """The surroundings after `around`, set by `execute`; None if they do not change."""
    kept_options: Mapping[str, Any] | None = None
    """The options that the history stores, as JSON values; None for those that differ from their defaults."""
    audit: Mapping[str, Any] | None = None
    """The record for the audit log, as JSON values: places and sizes, never contents."""

    @property
    def is_empty(self) -> bool:
        """Whether the chain and its surroundings stay the same."""
        return not self.changes and self.surroundings is None and self.target is None


@dataclass(frozen=True, slots=True)
class Context:
    """The impure inputs of an operation, provided by the caller."""

    random: random.Random = field(default_factory=lambda: random.Random(0))
    """The source of new tool-call ids."""
    progress: Progress = ignore_progress
    cancelled: Callable[[], bool] = lambda: False
    writer: Writer | None = None
    """Writes summaries; None for the extractive writer, which needs no model."""
    write_summaries: WriteSummaries | None = None
    """Writes several summaries in parallel; used instead of `writer`."""
    summaries: Mapping[str, str | Unchanged] | None = None
    """Existing summaries by the key of their piece. With these, nothing is written, and pieces without a summary stay."""
    redaction: RedactionSwitch = field(default_factory=RedactionSwitch)
    """Whether the environment allows redaction."""
    word_lists: Mapping[str, WordList] = field(default_factory=dict)
    """Word lists by name, for options that name one."""
    redacted: Callable[[], Container[tuple[int, int]]] = frozenset
    """Returns the parts (message, part) that an earlier step redacted, if the history of the chain is known."""


AnyOptions = Options


@dataclass(frozen=True, slots=True)
class Badge:
    """The badge on pages for changes by an operation."""

    text: str
    """The past tense of the operation, such as “Repaired”."""
    icon: str
    """The name of an icon."""
    state: str
    """The name of a colour."""


class Operation(Protocol, Generic[O_contra]):
    name: str
    """The name in addresses, commands and stored steps."""
    label: str
    """The label on pages and buttons, an imperative: “Repair”."""
    doing: str
    """The label while the operation runs: “Repairing”."""
    badge: Badge
    nothing: str
    """The sentence that a person reads if the options change nothing."""

    @property
    def Options(self) -> type[AnyOptions]:  # noqa: N802 - a class, and named as one
        """The class of the operation's options."""

    def run(self, chain: Chain, options: O_contra, context: Context) -> Outcome:
        """Apply the operation to a chain without changing its input. Raises Refused if it cannot be done."""
