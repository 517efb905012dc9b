"""`chainviz help`: the pages of the help as Markdown, with their tables."""

from __future__ import annotations

import argparse

from chainviz.commands.io import tell
from chainviz.help.pages import GROUPS, NAMES, all_pages


def add_help_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("page", metavar="PAGE", nargs="?", choices=NAMES, help="the page; without one, all pages are listed")


def run_help(arguments: argparse.Namespace) -> int:
    pages = all_pages()
    tell(pages[arguments.page].markdown().splitlines() if arguments.page else _contents())
    return 0


def _contents() -> list[str]:
    pages = all_pages()
    return [line for title, names in GROUPS.items() for line in (title, *(f"  {name:15} {pages[name].summary}" for name in names))]
