"""The contract of a summary writer: its request, its result and its errors. Knows no writer and no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from chainviz.core.chain.messages import Message
from chainviz.core.errors import ChainError
from chainviz.core.operations.summarize.writers.prompt import guarded
from chainviz.core.usage.recorded import TokenUsage

Case = Literal[0, 1, 2, 3]
"""1: messages with the human messages they answer; 2: messages alone; 3: human messages alone; 0: nothing at all."""


class WriterError(ChainError):
    """A summary that was not written, and why; the chain is as it was. `retryable`: asking again may help."""

    def __init__(self, text: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    key: str
    """Names the piece within its plan: the same piece has the same key in every plan of the same chain."""
    case: Case
    instructions: str
    prompt_body: str
    humans: tuple[Message, ...]
    """What the folded messages answer (cases 1 and 3)."""
    messages: tuple[Message, ...]
    """What is folded (cases 1 and 2)."""
    target_bytes: int
    """How long the summary should be; a longer one is taken while it is smaller than what it replaces."""
    window: int = 0
    """Tokens that its model takes at once, as the person says; 0 leaves it to the writer."""
    exact: bool = False
    """Whether the prompt copies content as the reference does."""
    hint: str = ""
    """What the person who asks wishes, as it stands in the prompt."""

    @property
    def prompt(self) -> str:
        """The one user message a model gets."""
        return f"<instructions>{self.instructions}{self.hint}</instructions>\n\n{self.prompt_body}"

    def with_hint(self, hint: str) -> SummaryRequest:
        """Return the request with a hint from the person who asks again."""
        wish = guarded(hint.strip())
        return replace(self, hint=f"\n\nThe person who asked adds: {wish}\n") if wish else self


@dataclass(frozen=True, slots=True)
class Summary:
    """A text with what it cost."""

    text: str
    usage: TokenUsage | None
    """As the model's server counted it; None where it said nothing."""


def _unheard(done: float, text: str) -> None:
    """Nobody listens to the progress."""


def _never() -> bool:
    return False


class Writer(Protocol):
    @property
    def name(self) -> str:
        """The name in the command line and in stored drafts; never renamed."""

    @property
    def label(self) -> str:
        """The name that people read; it says plainly whether a model is at work."""

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = _never,
        progress: Callable[[float, str], None] = _unheard,
    ) -> str | Summary:
        """Write the summary. Raises WriterError if there is none, or if `cancelled` returns True meanwhile."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A writer's answer for a piece that keeps its original text, with the reason: a person chose that, or no writer
    succeeded."""

    reason: str


WriteSummaries = Callable[[Sequence[SummaryRequest]], Mapping[str, str | Unchanged]]
"""Has several pieces written, one after the other or at the same time; returns a text or a reason for each key."""


@dataclass(frozen=True, slots=True)
class Manual:
    texts: Mapping[str, str] = field(default_factory=dict)
    """By the key of the piece."""
    name: str = field(default="manual", init=False)
    label: str = field(default="written by hand", init=False)

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float, str], None] = lambda done, text: None,
    ) -> str:
        text = self.texts.get(request.key, "")
        if not text.strip():
            raise WriterError("This summary is still empty.")
        return text
