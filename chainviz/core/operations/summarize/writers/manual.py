"""Summaries that a person writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from chainviz.core.operations.summarize.writers.contract import SummaryRequest, WriterError


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
