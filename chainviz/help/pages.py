"""The pages of the help, and the one that explains each page of the product.

Each is a Markdown file of this folder, so it reads as well without the product.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from chainviz.help.tables import TABLES, Table

OF_NAMESPACES: Mapping[str, str] = {
    "chains": "start", "drafts": "explorer", "review": "team", "bulk": "redaction", "recipes": "redaction", "accounts": "team",
    "api": "api", "webhooks": "webhooks",
}  # fmt: skip
OF_VIEWS: Mapping[str, str] = {
    **dict.fromkeys(("chain", "version", "at", "versions", "compare", "diff", "report", "bytes", "raw", "compare_chosen", "compare_two"),
                    "explorer"),
    **dict.fromkeys(("observations", "parse", "simulation", "state", "state_import", "state_step"), "state"),
    **dict.fromkeys(("export", "shares", "share", "secrets", "purge", "purge_of_run", "certify", "certificate"), "redaction"),
    **dict.fromkeys(("fix_session", "fix_sessions", "error", "fixed_session", "problems"), "fix"),
    **dict.fromkeys(("summaries", "summary", "summary_prompt"), "summaries"),
    "tokens": "api",
}  # fmt: skip
"""Pages that differ from the others of their namespace."""
OF_OPERATIONS: Mapping[str, str] = {
    "repair": "fix", "summarize": "summaries", "redact": "redaction", "mask": "redaction", "convert": "formats",
    "compact": "state", "observations": "state",
}  # fmt: skip


def help_page_of(namespace: str, view: str, operation: str = "") -> str:
    """Return the name of the help page for a view; "" if only the index fits."""
    return OF_OPERATIONS.get(operation) or OF_VIEWS.get(view) or OF_NAMESPACES.get(namespace, "")


def help_page(request: HttpRequest) -> Mapping[str, object]:
    """Give templates `help_page`: the page that the `?` of this request leads to, or None. Read only where it is shown."""

    def read() -> Page | None:
        match = request.resolver_match
        name = help_page_of(match.namespace, match.url_name or "", match.kwargs.get("name", "")) if match else ""
        return all_pages().get(name)

    return {"help_page": SimpleLazyObject(read)}


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
