"""`chainviz observations`: list the tool results of each chain with their calls, in any form. With `--as`, print the results of each
AI message with calls as one text, as a model would read them.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from chainviz.api.chain import Chain
from chainviz.api.file import ChainFile
from chainviz.commands.io import Input, add_choice, add_files, add_format, add_json, chosen, each_file, tell
from chainviz.core.chain.tree import message_paths
from chainviz.core.counts import count_text
from chainviz.core.errors import excerpt
from chainviz.core.observations.contract import UNKNOWN, Observation, ObservedMessage
from chainviz.core.text_formats import TEXT_FORMATS

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
            tell([json.dumps(_object(chain, found))] if arguments.json else _lines(chain, found))
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


def _lines(chain: Chain, found: list[ObservedMessage]) -> Iterator[str]:
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
