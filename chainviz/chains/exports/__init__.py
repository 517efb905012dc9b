"""A chain as one file for people: HTML that opens offline and runs nothing, or Markdown. One file a form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chainviz.chains.exports.html_page import html_page
from chainviz.chains.exports.markdown import markdown_text
from chainviz.chains.exports.walk import Told


@dataclass(frozen=True, slots=True)
class Form:
    scope: str
    """How an address asks for it."""
    label: str
    hint: str
    suffix: str
    write: Callable[[Told], Iterator[str]]


FORMS: tuple[Form, ...] = (
    Form("html", "A page to read", "One HTML file that opens offline, collapses without scripts and loads nothing.", ".html", html_page),
    Form("markdown", "Markdown", "One text file for an issue, a wiki or a review.", ".md", markdown_text),
)  # fmt: skip
