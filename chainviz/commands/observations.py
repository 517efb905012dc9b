"""`chainviz observations`: the tool results of each chain, in whatever form it holds them, beside their calls."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from chainviz.api.chain import Chain
from chainviz.api.file import ChainFile
from chainviz.commands.io.files import Input, add_choice, add_files, add_format, add_json, chosen, each_file, tell
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.observations.contract import UNKNOWN, Observation, ObservedMessage
from chainviz.core.terminal import excerpt, visible

SHOWN = 70


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    parser.add_argument("--tools", default="", metavar="A,B", help="tools that a chain does not call but has results of")
    add_format(parser)
    add_choice(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    names = [name.strip() for name in arguments.tools.split(",") if name.strip()]

    def work(_: Input, file: ChainFile) -> int:
        for chain in chosen(file, arguments.chain):
            found = chain.observed(names)
            tell([json.dumps(_object(chain, found))] if arguments.json else _lines(chain, found))
        return 0

    return each_file(arguments, work)


def _lines(chain: Chain, found: list[ObservedMessage]) -> Iterator[str]:
    results = [result for each in found for result in each.results]
    errors, media = sum(result.is_error for result in results), sum(len(result.media) for result in results)
    yield f"{visible(chain.title or 'chain')}: {len(results):,} results, {errors:,} errors, {media:,} media"
    paths = _paths(chain)
    for each in found:
        if each.convention == UNKNOWN:
            yield f"  {paths[each.message]}  unknown: {visible(', '.join(each.names))} named as if a tool; the chain calls none"
        for result in each.results:
            error = "error, " if result.is_error else ""
            place = f"{paths[each.message]}  {each.convention}, {error}{result.size:,} bytes, {_call(result, paths)}"
            yield f"  {place}  {visible(result.tool)}: {excerpt(result.content, SHOWN)}"


def _call(result: Observation, paths: list[str]) -> str:
    return f"call in {paths[result.call.message]} by {result.call.how}" if result.call else "no single call"


def _object(chain: Chain, found: list[ObservedMessage]) -> dict[str, Any]:
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
