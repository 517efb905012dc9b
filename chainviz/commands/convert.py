"""Commands that write new files: `convert` writes chains in another format, `generate` a generated chain."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

from chainviz.api.chain import Chain, Result, document_of
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import result_object
from chainviz.api.sessions import hand_off
from chainviz.api.shared_documents import in_turn
from chainviz.api.writing import apart, together, whole_document, write_out
from chainviz.commands.io import Input, Outputs, add_choice, add_files, add_format, add_json, chosen, each_file, remark, tell, warn
from chainviz.core.chain.messages import Message
from chainviz.core.errors import DocumentError, OptionsError, visible
from chainviz.core.formats import WRITTEN, get_format
from chainviz.core.formats.agents.hand_off import TARGETS
from chainviz.core.formats.contract import Format
from chainviz.core.generate import PREDEFINED, generate_complex_chain, generate_messages
from chainviz.core.load import document_in, load_file
from chainviz.core.operations.convert import SAME
from chainviz.core.operations.convert.losses import verdict_lines


def add_convert_arguments(parser: argparse.ArgumentParser) -> None:
    add_files(parser)
    add_format(parser)
    add_choice(parser)
    names = [SAME, *(format.name for format in WRITTEN)]
    agents = [agent for agent in TARGETS if agent not in names]
    parser.add_argument(
        "--to", required=True, metavar="FORMAT", choices=[*names, *agents],
        help=f"one of {', '.join(names)}; same keeps its format: without --provider the file is written unchanged; "
        f"{' and '.join(agents)} write a session that the agent resumes",
    )  # fmt: skip
    parser.add_argument(
        "--provider", default="", metavar="NAME",
        help="switch to a provider: call ids follow its template, other providers' reasoning is dropped",
    )  # fmt: skip
    parser.add_argument("--model", default="", metavar="NAME", help="the model that the new request names")
    parser.add_argument(
        "--fine-tuning", action="store_true", help="with --to openai_chat: write one line of a file for fine-tuning for each chain"
    )
    parser.add_argument("--out", metavar="FILE", help="where to write, a folder for several files; - is standard output")
    parser.add_argument(
        "--install", action="store_true",
        help=f"put the session where the agent looks, and print the command that resumes it ({', '.join(TARGETS)}); replaces no file",
    )  # fmt: skip
    parser.add_argument("--project", default=".", metavar="FOLDER", help="the project of the session, by default the current folder")
    add_json(parser)


def run_convert(arguments: argparse.Namespace) -> int:
    if arguments.install or (arguments.to in TARGETS and arguments.to != TARGETS[arguments.to].format):
        return _hand_off(arguments)
    if not arguments.out:
        raise OptionsError("Name the file to write with --out.")
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


def _hand_off(arguments: argparse.Namespace) -> int:
    """Write the chain that was chosen as a session of another agent."""
    agents = {target.format: agent for agent, target in TARGETS.items()}
    agent = agents.get(arguments.to, arguments.to)
    if bool(arguments.out) == arguments.install:
        raise OptionsError("Choose --install or --out FILE.")

    def write(each: Input, file: ChainFile) -> int:
        chains = chosen(file, arguments.chain)
        if len(chains) > 1:
            raise OptionsError(f"{each.name} holds {len(chains)} chains; choose one with --chain N.")
        made = hand_off(chains[0], agent, folder=arguments.project, model=arguments.model)
        if arguments.install:
            path = made.install()
        else:
            path = Path(arguments.out)
            write_out(arguments.out, iter([made.content]))
        command = made.resume_command(path)
        for warning in made.warnings:
            warn(warning)
        for line in verdict_lines(made.verdicts):
            remark(chains[0].title, line)
        if arguments.json:
            tell([json.dumps({"agent": agent, "session": made.session.id, "file": str(path), "resume": command})])
        elif arguments.install:
            tell([f"{visible(str(path))}", command])
        return 0

    return each_file(arguments, write)


def _tell(chains: Sequence[Chain], results: Sequence[Result], *, as_json: bool) -> None:
    for before, result in zip(chains, results, strict=True):
        if as_json:
            tell([json.dumps(result_object(before, result))])
            continue
        for warning in result.warnings:
            warn(warning)
        for line in verdict_lines(result.verdicts):
            remark(before.title, line)


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
