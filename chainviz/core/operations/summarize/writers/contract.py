"""The contract of a summary writer: its request, its result and its errors. Imports no writer and uses no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from chainviz.core.chain.messages import Message
from chainviz.core.errors import ChainError
from chainviz.core.operations.summarize.writers.prompt import guarded, prompt_body
from chainviz.core.usage.recorded import TokenUsage

Case = Literal[0, 1, 2, 3]
"""1: messages with the human messages that they answer; 2: only messages; 3: only human messages; 0: nothing."""


class WriterError(ChainError):
    """Raised if a summary was not written; the chain is unchanged. `retryable` means that another request may succeed."""

    def __init__(self, text: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.retryable = retryable


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    key: str
    """Identifies the piece: it has the same key in every plan of the same chain."""
    case: Case
    instructions: str
    humans: tuple[Message, ...]
    """The human messages that the folded messages answer (case 1), or that are folded (case 3)."""
    messages: tuple[Message, ...]
    """The folded messages (cases 1 and 2)."""
    target_bytes: int
    """The desired length of the summary. A longer one is accepted if it is smaller than the nodes it replaces."""
    window: int = 0
    """The model's context window in tokens as the person gave it, or 0 to leave it to the writer."""
    exact: bool = False
    """True if the prompt copies content unchanged, as the reference does."""
    hint: str = ""
    """The person's hint, as it appears in the prompt."""

    @property
    def prompt_body(self) -> str:
        """The messages as tagged text. It is as long as they are, so it is made for the writers that send it."""
        return prompt_body(self.humans, self.messages, exact=self.exact)

    @property
    def prompt(self) -> str:
        """The user message that is sent to a model."""
        return f"<instructions>{self.instructions}{self.hint}</instructions>\n\n{self.prompt_body}"

    def with_hint(self, hint: str) -> SummaryRequest:
        """Return the request with a hint from the person."""
        wish = guarded(hint.strip())
        return replace(self, hint=f"\n\nThe person who asked adds: {wish}\n") if wish else self


@dataclass(frozen=True, slots=True)
class Summary:
    """A text and the tokens that it cost."""

    text: str
    usage: TokenUsage | None
    """The usage that the model's server reported, or None if it reported none."""


def _unheard(done: float, text: str) -> None:
    """Ignore the progress."""


def _never() -> bool:
    return False


class Writer(Protocol):
    @property
    def name(self) -> str:
        """The name on the command line and in stored drafts. It must never change."""

    @property
    def label(self) -> str:
        """The name that users see; it says whether a model is used."""

    def write(
        self, request: SummaryRequest, *, cancelled: Callable[[], bool] = _never, progress: Callable[[float, str], None] = _unheard
    ) -> str | Summary:
        """Write the summary. Raises WriterError if that fails or `cancelled` returns True meanwhile."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A writer's answer for a piece that keeps its original text, with the reason: a person chose that, or no writer
    succeeded."""

    reason: str


WriteSummaries = Callable[[Sequence[SummaryRequest]], Mapping[str, str | Unchanged]]
"""Requests the texts of several pieces, in sequence or in parallel, and returns a text or a reason for each key."""


@dataclass(frozen=True, slots=True)
class Manual:
    texts: Mapping[str, str] = field(default_factory=dict)
    """Texts by the key of the piece."""
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
