"""What an API accepts of messages that were not written for it."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))
PDF = "application/pdf"
DOCUMENTS = frozenset(
    (PDF, "text/plain", "text/csv", "text/html", "text/markdown", "application/msword", "application/vnd.ms-excel",
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
)  # fmt: skip


class _Any:
    def __contains__(self, _: object) -> bool:
        return True


ANY: Container[str] = _Any()


@dataclass(frozen=True, slots=True)
class Accepts:
    """The parts that an API accepts from another provider's messages. Each part that is not declared here becomes text, or
    is left out, when a message moves into a format of the API (crossing.py)."""

    kinds: Container[str] = frozenset()
    """Kinds of opaque parts that are its own; only messages of another format of the same API bring them."""
    images: Container[str] = IMAGES
    """Media types of pictures that carry their bytes."""
    addresses: Container[str] = frozenset(("http", "https"))
    """Schemes of the addresses of pictures."""
    reasoning: bool = False
    """Reasoning without a signature of its own."""
    files: Container[str] = frozenset()
    """Media types of files, besides those of pictures."""
    media_of_model: bool = False
    """An AI message may hold pictures and files."""
    media_in_results: bool = True
    """A tool result may hold pictures; else they follow the results in a message of the user."""
    free_form_calls: bool = False
    """The arguments of a call may be plain text (OpenAI's custom tools)."""
