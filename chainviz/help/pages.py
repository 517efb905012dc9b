"""The pages of the help, in reading order. Each is a Markdown file of this folder, so it reads as well without the product."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from chainviz.help.tables import TABLES, Table

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Use chainviz": ("start", "explorer", "fix", "summaries", "redaction", "state"),
    "Connect it": ("agents", "mcp", "pipelines"),
    "Look up": ("formats", "provider-rules", "command-line", "python", "api", "settings"),
    "Run it for a team": ("team", "webhooks", "deployment", "speed"),
    "Change it": ("architecture", "extending", "deviations"),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)
_TABLE = re.compile(r"^.*<!-- table: ([a-z-]+) -->\n", re.MULTILINE)
_FENCE = re.compile(r"^(?:```|~~~)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the help: its name in the address, its title, and its Markdown below the title.

    A line of the Markdown that ends with `<!-- table: NAME -->` stands for a table of `tables.TABLES`.
    """

    name: str
    title: str
    text: str

    @property
    def summary(self) -> str:
        """The first paragraph, which says what the page is for."""
        return " ".join(self.text.strip().partition("\n\n")[0].split())

    @property
    def headings(self) -> list[str]:
        """The headings of the second level, those of tables included."""
        return [heading for block in self.blocks() if isinstance(block, str) for heading in _headings(block)]

    def blocks(self) -> Iterator[str | Table]:
        """Yield the Markdown and the tables in their order."""
        pieces = _TABLE.split(self.text)
        for index, piece in enumerate(pieces):
            if index % 2:
                yield from TABLES[piece]()
            elif piece.strip():
                yield piece

    def markdown(self) -> str:
        """Return the page as Markdown, with its tables written out."""
        blocks = (block.strip("\n") if isinstance(block, str) else block.markdown() for block in self.blocks())
        return f"# {self.title}\n\n" + "\n\n".join(blocks) + "\n"


def _headings(markdown: str) -> list[str]:
    outside_code = _FENCE.split(markdown)[::2]
    return [heading for piece in outside_code for heading in re.findall(r"^## (.+)$", piece, re.MULTILINE)]


@cache
def all_pages() -> Mapping[str, Page]:
    """Read the pages, by name, in reading order."""
    folder = Path(__file__).parent
    return {name: _read(name, (folder / f"{name}.md").read_text(encoding="utf-8")) for name in NAMES}


def _read(name: str, text: str) -> Page:
    title, _, rest = text.partition("\n")
    return Page(name, title.removeprefix("# ").strip(), rest)
