"""What an operation is: chain to chain, with options a form can be made from and a report a person can read (DESIGN 4.5)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict

from chainviz.core.chain.chain import Chain, Splice

if TYPE_CHECKING:
    from chainviz.core.operations.summarize.writers import Writer


class Options(BaseModel):
    """Base of every operation's options: frozen, unknown names refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


O_contra = TypeVar("O_contra", bound=Options, contravariant=True)


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of a report."""

    path: str
    action: str
    reason: str
    bytes_before: int = 0
    bytes_after: int = 0
    until: str = ""
    """The last of several neighbouring nodes of which `path` is the first."""
    becomes: str = ""
    """Path, in the changed chain, of what stands for these nodes now."""


@dataclass(frozen=True, slots=True)
class Outcome:
    changes: tuple[Splice, ...]
    report: tuple[Decision, ...] = ()
    warnings: tuple[str, ...] = ()
    target: tuple[str, Any] | None = None
    """(format, template); set by convert only."""
    around: Callable[[str], str] | None = None
    """Writes a piece of JSON beside the messages anew, so that it holds nothing of what was taken out of them."""


@dataclass(frozen=True, slots=True)
class Context:
    """What is not pure, given by the caller."""

    random: random.Random = field(default_factory=lambda: random.Random(0))
    """Source of new tool-call ids."""
    progress: Callable[[float, str], None] = lambda done, text: None
    cancelled: Callable[[], bool] = lambda: False
    writer: Writer | None = None
    """Writes summaries; chosen beside the options. None: the one that needs nothing."""


AnyOptions = Options


class Operation(Protocol, Generic[O_contra]):
    name: str
    label: str

    @property
    def Options(self) -> type[AnyOptions]:  # noqa: N802 - a class, and named as one
        """The model of its options."""

    def run(self, chain: Chain, options: O_contra, context: Context) -> Outcome:
        """Refused where it cannot be done; never changes its input."""
