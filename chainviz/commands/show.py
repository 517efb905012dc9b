"""`chainviz show`: the tree of each chain of the files, with its sizes and problems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from chainviz.api.chain import Chain
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import describe, describe_tokens, usage_lines
from chainviz.api.tree_text import tree_lines
from chainviz.commands.io import Input, add_choice, add_files, add_format, add_json, chosen, each_file, tell
from chainviz.core.lost import describe_lost
from chainviz.core.usage.estimate import tokens_of


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    add_format(parser)
    add_choice(parser)
    add_json(parser)
    parser.add_argument(
        "--tokens", action="store_true", help="also print tokens: recorded ones with their cost, and an estimate for each node"
    )


def run_show(arguments: argparse.Namespace) -> int:
    def show(each: Input, file: ChainFile) -> int:
        for chain in chosen(file, arguments.chain):
            tell([_json(chain, arguments.tokens)] if arguments.json else _lines(chain, arguments.tokens))
        return 0

    return each_file(arguments, show)


def _json(chain: Chain, tokens: bool) -> str:
    return json.dumps({**describe(chain), **(describe_tokens(chain) if tokens else {})})


def _lines(chain: Chain, tokens: bool) -> Iterator[str]:
    yield from tree_lines(chain.messages, (chain.format, chain.request), chain.title, tokens_of if tokens else None, chain.unread)
    if tokens:
        yield from usage_lines(chain)
    yield from (f"  note: {warning}" for warning in chain.warnings)
    yield from (f"  not sent again on resume: {describe_lost(lost)}" for lost in chain.lost_on_resume)
