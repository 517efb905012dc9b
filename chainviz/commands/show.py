"""Commands that print chains: `show` prints trees, `diff` what changed between files, `observations` the tool results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from chainviz.api.chain import Chain
from chainviz.api.comparison import Comparison, diff
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import comparison_object, describe, describe_tokens, diff_object, usage_lines
from chainviz.api.tree_text import tree_lines
from chainviz.commands.io import Input, add_choice, add_file, add_files, add_format, add_json, chosen, each_file, opened, tell
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.tree import message_paths
from chainviz.core.counts import count_text
from chainviz.core.diff import ChainDiff, diff_chains
from chainviz.core.diff.text import render
from chainviz.core.errors import excerpt
from chainviz.core.formats import get_format
from chainviz.core.lost import describe_lost
from chainviz.core.observations.contract import UNKNOWN, Observation, ObservedMessage
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.usage.model_catalog import tokens_of


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
            tell([_tree_object(chain, arguments.tokens)] if arguments.json else _tree(chain, arguments.tokens))
        return 0

    return each_file(arguments, show)


def _tree_object(chain: Chain, tokens: bool) -> str:
    return json.dumps({**describe(chain), **(describe_tokens(chain) if tokens else {})})


def _tree(chain: Chain, tokens: bool) -> Iterator[str]:
    yield from tree_lines(chain.messages, (chain.format, chain.request), chain.title, tokens_of if tokens else None, chain.unread)
    if tokens:
        yield from usage_lines(chain)
    yield from (f"  note: {warning}" for warning in chain.warnings)
    yield from (f"  not sent again on resume: {describe_lost(lost)}" for lost in chain.lost_on_resume)


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
                tell([json.dumps(_comparison_object(found))])
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


def _comparison_object(found: Comparison | ChainDiff) -> dict[str, Any]:
    if isinstance(found, ChainDiff):
        return diff_object(found)
    return comparison_object(found.chains, *found.facts, are_runs=found.are_runs)


SHOWN = 70


def add_observations_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    parser.add_argument("--tools", default="", metavar="A,B", help="tools that have results in the chain but no calls")
    texts = parser.add_argument_group("the results as the text that a model reads")
    formats = [each.name for each in TEXT_FORMATS]
    texts.add_argument("--as", dest="text_format", choices=formats, help="one text for each AI message with calls")
    texts.add_argument("--syntax", choices=["json", "yaml"], default="json", help="how a result is written (default json)")
    texts.add_argument("--wrapper", choices=["auto", "none", "section"], default="auto", help="auto wraps XML (default)")
    texts.add_argument("--empty-when-all-failed", action="store_true", help="write no text if every call failed")
    texts.add_argument("--go-compatible", action="store_true", help="JSON with the escapes of Go's encoder")
    add_format(parser)
    add_choice(parser)
    add_json(parser)


def run_observations(arguments: argparse.Namespace) -> int:
    names = [name.strip() for name in arguments.tools.split(",") if name.strip()]

    def work(_: Input, file: ChainFile) -> int:
        for chain in chosen(file, arguments.chain):
            if arguments.text_format:
                tell(_texts(chain, arguments))
                continue
            found = chain.observed(names)
            tell([json.dumps(_results_object(chain, found))] if arguments.json else _result_lines(chain, found))
        return 0

    return each_file(arguments, work)


def _texts(chain: Chain, arguments: argparse.Namespace) -> Iterator[str]:
    options = {name: getattr(arguments, name) for name in ("syntax", "wrapper", "empty_when_all_failed", "go_compatible")}
    results = chain.observations(arguments.text_format, **options)
    if arguments.json:
        texts = [{"text": each.text, "media": len(each.media), "errors": each.raw.errors} for each in results]
        yield json.dumps({"title": chain.title, "texts": texts})
        return
    for each in results:
        yield from each.text.split("\n")
        if each.media:
            yield f"(media after the text: {len(each.media):,})"


def _result_lines(chain: Chain, found: list[ObservedMessage]) -> Iterator[str]:
    results = [result for each in found for result in each.results]
    errors, media = sum(result.is_error for result in results), sum(len(result.media) for result in results)
    yield f"{chain.title or 'chain'}: {count_text(len(results), 'result')}, {count_text(errors, 'error')}, {media:,} media"
    paths = _paths(chain)
    for each in found:
        if each.convention == UNKNOWN:
            yield f"  {paths[each.message]}  unknown: {', '.join(each.names)} named as if a tool; the chain calls none"
        for result in each.results:
            error = "error, " if result.is_error else ""
            place = f"{paths[each.message]}  {each.convention}, {error}{count_text(result.size, 'byte')}, {_call(result, paths)}"
            yield f"  {place}  {result.tool}: {excerpt(result.content, SHOWN)}"


def _call(result: Observation, paths: list[str]) -> str:
    return f"call in {paths[result.call.message]} by {result.call.how}" if result.call else "no single call"


def _results_object(chain: Chain, found: list[ObservedMessage]) -> dict[str, Any]:
    paths = _paths(chain)
    return {"title": chain.title, "observations": [_message(each, paths) for each in found]}


def _message(each: ObservedMessage, paths: list[str]) -> dict[str, Any]:
    told = {"path": paths[each.message], "convention": each.convention, "bytes": each.size}
    if each.convention == UNKNOWN:
        return {**told, "names": each.names}
    return {**told, "results": [_result(result, paths) for result in each.results]}


def _result(result: Observation, paths: list[str]) -> dict[str, Any]:
    return {
        "tool": result.tool,
        "content": result.content,
        "bytes": result.size,
        "is_error": result.is_error,
        "call": {"path": paths[result.call.message], "by": result.call.how} if result.call else None,
        "media": len(result.media),
    }


def _paths(chain: Chain) -> list[str]:
    return [str(path) for path in message_paths(chain.tree)]
