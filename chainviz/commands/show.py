"""`chainviz show`: the tree of each chain of a file, with its sizes and problems."""

from __future__ import annotations

import argparse

from chainviz.commands.chain_files import add_choice, add_file, add_format, add_json, chosen, opened
from chainviz.commands.reports import describe, lines, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file(parser)
    add_format(parser)
    add_choice(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    with opened(arguments.file, arguments) as file:
        for chain in chosen(file, arguments.chain):
            if arguments.json:
                print_json(describe(chain.messages, chain.format, file.title(chain)))
                continue
            for line in lines(chain.messages, chain.format, file.title(chain)):
                print(line)
            for warning in chain.warnings:
                print(f"  note: {warning}")
    return 0
