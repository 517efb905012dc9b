"""The pages of the help, in reading order. Each is a Markdown file of this folder; its first line is the title."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from chainviz.core.providers import PROVIDERS
from chainviz.help.rule_tables import rule_table
from chainviz.help.table import Table

NAMES = ("provider-rules",)

TABLES: Mapping[str, Callable[[], Table]] = {
    f"rules-{provider.name.replace('.', '-')}": partial(rule_table, provider.name) for provider in PROVIDERS
}
"""Tables that the code knows, by the name that a page gives in a line of its own: `<!-- table: NAME -->`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the help: its name in the address, its title, and its Markdown below the title."""

    name: str
    title: str
    text: str


@cache
def all_pages() -> Mapping[str, Page]:
    """Read the pages, by name, in reading order."""
    folder = Path(__file__).parent
    return {name: _read(name, (folder / f"{name}.md").read_text(encoding="utf-8")) for name in NAMES}


def _read(name: str, text: str) -> Page:
    title, _, rest = text.partition("\n")
    return Page(name, title.removeprefix("# ").strip(), rest)


def pages_with(words: str) -> list[Page]:
    """Return the pages that contain every word, in reading order; all pages for no word."""
    wanted = words.casefold().split()
    return [
        page for page in all_pages().values() if all(word in f"{page.title} {page.text}".casefold() for word in wanted)
    ]
