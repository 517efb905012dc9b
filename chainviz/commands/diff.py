"""`chainviz diff`: what changed from one file's chains to another's, or how two runs of one task differ."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from chainviz.api.comparison import Comparison, diff
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import comparison_object, diff_object
from chainviz.commands.io import add_choice, add_file, add_format, add_json, chosen, opened, tell
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.diff import ChainDiff, diff_chains
from chainviz.core.diff.text import render
from chainviz.core.formats import get_format


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser, "old")
    add_file(parser, "new")
    add_format(parser)
    add_choice(parser)
    add_json(parser)


def run_diff(arguments: argparse.Namespace) -> int:
    if arguments.format:
        get_format(arguments.format)
    with opened(arguments.old, arguments) as old, opened(arguments.new, arguments) as new:
        several = max(len(chosen(old, arguments.chain)), len(chosen(new, arguments.chain))) > 1
        for number, found in enumerate(_comparisons(old, new, arguments.chain), 1):
            if arguments.json:
                tell([json.dumps(_object(found))])
                continue
            tell([f"chain {number}"] if several else [])
            tell(str(found).split("\n") if isinstance(found, Comparison) else render(found))
    return 0


def _comparisons(old: ChainFile, new: ChainFile, number: int | None) -> Iterator[Comparison | ChainDiff]:
    """Compare the chains of two files by number. A chain without a counterpart is compared with an empty one."""
    for before, after in zip_longest(chosen(old, number), chosen(new, number)):
        if before and after:
            yield diff(before, after)
        else:
            yield diff_chains(before.core if before else MemoryChain(()), after.core if after else MemoryChain(()))


def _object(found: Comparison | ChainDiff) -> dict[str, Any]:
    if isinstance(found, ChainDiff):
        return diff_object(found)
    return comparison_object(found.chains, *found.facts, are_runs=found.are_runs)
