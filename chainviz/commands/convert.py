"""`chainviz convert`: writes the chains of the files in another format, and says what that format has no place for."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from chainviz.api.chain import Chain, Result, document_of
from chainviz.api.file import ChainFile
from chainviz.api.in_turn import in_turn
from chainviz.api.json_objects import result_object
from chainviz.api.writing import apart, together, whole_document, write_out
from chainviz.commands.io.files import (
    Input,
    Outputs,
    add_choice,
    add_files,
    add_format,
    add_json,
    chosen,
    each_file,
)
from chainviz.commands.io.output import remark, tell, warn
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.operations.convert import SAME
from chainviz.core.operations.convert.verdict import verdict_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    add_format(parser)
    add_choice(parser)
    names = [SAME, *(format.name for format in WRITTEN)]
    parser.add_argument(
        "--to", required=True, metavar="FORMAT", choices=names,
        help=f"one of {', '.join(names)}; same keeps its format: without --provider the file is written unchanged",
    )  # fmt: skip
    parser.add_argument(
        "--provider", default="", metavar="NAME",
        help="switch to a provider: call ids follow its template, other providers' reasoning is dropped",
    )  # fmt: skip
    parser.add_argument("--model", default="", metavar="NAME", help="the model that the new request names")
    parser.add_argument(
        "--fine-tuning", action="store_true", help="with --to openai_chat: write one line of a file for fine-tuning for each chain"
    )
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write, a folder for several files; - is standard output")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    outputs = Outputs(arguments)

    def convert(each: Input, file: ChainFile) -> int:
        target = outputs.path(each)
        if arguments.to == SAME and not (arguments.provider or arguments.fine_tuning):
            write_out(target, whole_document(file, apart(file.chains)))
            return 0
        chains = chosen(file, arguments.chain)
        results, in_file = in_turn(chains, convert_chain)
        if arguments.to == SAME:
            write_out(target, document_of(in_file))
        else:
            write_out(target, together(get_format(arguments.to), [result.chain.to_bytes() for result in results]))
        _tell(chains, results, as_json=arguments.json)
        return 0

    def convert_chain(chain: Chain) -> tuple[Chain, Result]:
        options = {"provider": arguments.provider, "model": arguments.model, "fine_tuning": arguments.fine_tuning}
        result = chain.convert(arguments.to, **options)
        return result.chain, result

    return each_file(arguments, convert)


def _tell(chains: Sequence[Chain], results: Sequence[Result], *, as_json: bool) -> None:
    for before, result in zip(chains, results, strict=True):
        if as_json:
            tell([json.dumps(result_object(before, result))])
            continue
        for warning in result.warnings:
            warn(warning)
        for line in verdict_lines(result.verdicts):
            remark(before.title, line)
