"""`chainviz convert`: writes the chains of a file in another format, and says what that format has no place for."""

from __future__ import annotations

import argparse
import sys

from chainviz.commands.chain_files import (
    add_choice,
    add_file,
    add_format,
    add_json,
    apart,
    check_outputs,
    check_room,
    chosen,
    in_format,
    opened,
    whole_document,
    write_out,
)
from chainviz.commands.reports import describe, print_json
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.formats import FORMATS, get_format
from chainviz.core.formats.conversion import as_held
from chainviz.core.operations.contract import Context
from chainviz.core.operations.convert import SAME, Convert, ConvertOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_format(parser)
    add_choice(parser)
    names = [SAME, *(format.name for format in FORMATS)]
    parser.add_argument(
        "--to", required=True, metavar="FORMAT", choices=names,
        help=f"one of {', '.join(names)}; same writes the file as it is",
    )  # fmt: skip
    parser.add_argument("--out", required=True, metavar="FILE", help="where to write; - is standard output")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    check_outputs(arguments)
    with opened(arguments.file, arguments) as file:
        if arguments.to == SAME:
            write_out(arguments.out, whole_document(file, apart(file.chains)))
            return 0
        converted = []
        format, chains = get_format(arguments.to), chosen(file, arguments.chain)
        check_room(format, len(chains))
        for chain in chains:
            outcome = Convert().run(MemoryChain(chain.messages, chain.format), ConvertOptions(to=arguments.to), Context())
            converted.append(apply_splices(chain.messages, outcome.changes))
            if arguments.json:
                title = file.title(chain)
                print_json(
                    {
                        "before": describe(chain.messages, chain.format, title),
                        "after": describe([as_held(format, m) for m in converted[-1]], arguments.to, title),
                        "report": [],
                        "warnings": list(outcome.warnings),
                    }
                )
            else:
                for warning in outcome.warnings:
                    print(f"warning: {warning}", file=sys.stderr)
        write_out(arguments.out, in_format(arguments.to, converted))
    return 0
