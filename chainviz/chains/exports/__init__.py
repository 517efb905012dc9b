"""A chain as one file for another use: HTML or Markdown for people, a line for fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chainviz.chains.exports.documents import DocumentContent, html_page, markdown_text
from chainviz.core.formats import get_format
from chainviz.store.transfer import exports


@dataclass(frozen=True, slots=True)
class Form:
    scope: str
    """The name of the scope in an address."""
    icon: str
    label: str
    hint: str
    suffix: str
    write: Callable[[DocumentContent], Iterator[bytes]]
    is_copied: bool = False
    """True if people usually copy and paste it."""


def _html(content: DocumentContent) -> Iterator[bytes]:
    return (piece.encode("utf-8", "replace") for piece in html_page(content))


def _markdown(content: DocumentContent) -> Iterator[bytes]:
    return (piece.encode("utf-8", "replace") for piece in markdown_text(content))


def _training_line(content: DocumentContent) -> Iterator[bytes]:
    return exports.export_in(content.chain.snapshot, get_format("openai_chat"), is_line=True)


FORMS: tuple[Form, ...] = (
    Form("html", "panel", "Web page", "One HTML file that opens offline, collapses without scripts and loads nothing.", ".html", _html),
    Form("markdown", "file", "Markdown", "For an issue, a wiki or a review.", ".md", _markdown, is_copied=True),
    Form("training", "chart", "Data set for fine-tuning", "One line of OpenAI’s JSONL: the messages and the tools. Reasoning is left out.",
         ".jsonl", _training_line),
)  # fmt: skip
