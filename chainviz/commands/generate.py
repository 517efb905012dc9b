"""`chainviz generate`: write a generated chain: a small predefined one, one with given numbers, or a long one with realistic sizes."""

from __future__ import annotations

import argparse
import random

from chainviz.api.writing import write_out
from chainviz.core.chain.messages import Message
from chainviz.core.errors import DocumentError, OptionsError
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.formats.contract import Format
from chainviz.core.generate import PREDEFINED, generate_complex_chain, generate_messages
from chainviz.core.load import document_in, load_file

OPENING = 200
"""The number of messages by which the format of a file is detected."""


def add_generate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", choices=list(PREDEFINED), metavar="NAME", help=f"one of {', '.join(PREDEFINED)}")
    parser.add_argument("--messages", type=int, metavar="N", help="a valid chain of N messages with real sizes")
    parser.add_argument("--sections", type=int, default=2, metavar="N", help="otherwise: sections (default 2)")
    parser.add_argument("--tool-calls", type=int, default=2, metavar="N", help="tool calls per section (default 2)")
    parser.add_argument("--missing", type=int, default=0, metavar="N", help="results left out at the end (default 0)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the chain (default 0)")
    parser.add_argument("--to", default="neutral", choices=[format.name for format in WRITTEN], metavar="FORMAT")
    parser.add_argument("--out", default="-", metavar="FILE", help="where to write; - is standard output")


def run_generate(arguments: argparse.Namespace) -> int:
    format, messages = get_format(arguments.to), _messages(arguments)
    _check_opens(format, messages[:OPENING])
    write_out(arguments.out, document_in(format, messages))
    return 0


def _check_opens(format: Format, messages: tuple[Message, ...]) -> None:
    """Raise OptionsError if chainviz could not detect the format of the file, as for a chain of only system messages."""
    try:
        load_file(b"".join(document_in(format, messages)))
    except DocumentError as error:
        raise OptionsError(f"This chain cannot be written as {format.name}, since chainviz could not open the file: {error}") from None


def _messages(arguments: argparse.Namespace) -> tuple[Message, ...]:
    if arguments.name:
        return PREDEFINED[arguments.name]
    if arguments.messages is not None:
        if arguments.messages < 0:
            raise OptionsError("A chain cannot have a negative number of messages.")
        return tuple(generate_messages(arguments.messages, random.Random(arguments.seed)))
    return generate_complex_chain(arguments.sections, arguments.tool_calls, arguments.missing)
