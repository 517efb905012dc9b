"""`chainviz apply`: runs one operation on each chain of a file; shows what it did, or writes the result."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from itertools import takewhile
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from chainviz.commands.chain_files import (
    ChainFile,
    add_choice,
    add_file,
    add_format,
    add_json,
    check_outputs,
    chosen,
    in_format,
    opened,
    whole_document,
    write_out,
)
from chainviz.commands.reports import describe, print_json
from chainviz.commands.summary_writer import asking, writers_in_words
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.documents.context import Rewrite
from chainviz.core.errors import ChainError, OptionsError, PathError, Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.conversion import as_held
from chainviz.core.load import LoadedChain, restyle
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Context, Decision, Operation, Options, Outcome
from chainviz.core.operations.convert import Convert, ConvertOptions
from chainviz.core.operations.summarize import SUMMARIZE, SummarizeOptions, summarized
from chainviz.core.operations.summarize.operation import Asked

AVAILABLE: tuple[Operation[Any], ...] = tuple({each.name: each for each in (*OPERATIONS, SUMMARIZE)}.values())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = "\n".join(["operations and their options:", *map(_usage, AVAILABLE)])
    parser.add_argument("operation", metavar="OPERATION", choices=[operation.name for operation in AVAILABLE])
    add_file(parser)
    add_format(parser)
    add_choice(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="an option of the operation; lists with commas"
    )
    parser.add_argument("--writer", metavar="NAME", help=f"who writes summaries: {writers_in_words()}")
    add_json(parser)
    parser.add_argument("--out", metavar="FILE", help="write the file with the changed chains; - is standard output")
    parser.add_argument("--to", metavar="FORMAT", help="write the changed chains in this format instead of their own")


def _usage(operation: Operation[Any]) -> str:
    names = " ".join(operation.Options.model_fields)
    return f"  {operation.name}: {names}"


def run(arguments: argparse.Namespace) -> int:
    check_outputs(arguments)
    operation = next(operation for operation in AVAILABLE if operation.name == arguments.operation)
    options = parse_options(operation.Options, arguments.set)
    ask = _asked(operation, arguments.writer)
    if arguments.to and arguments.to != "same":
        get_format(arguments.to)
    with opened(arguments.file, arguments) as file:
        results = [_applied(operation, chain, options, ask) for chain in chosen(file, arguments.chain)]
        for result in results:
            _tell(file, result, arguments)
        done = [result for result in results if isinstance(result, Applied)]
        refused = len(done) < len(results)
        if arguments.out and not refused:
            _write(file, done, arguments)
    return 1 if refused else 0


def parse_options(model: type[Options], settings: Sequence[str]) -> Options:
    """Options from `key=value` words; OptionsError, in one sentence, where they are none."""
    values: dict[str, Any] = {}
    for setting in settings:
        key, sign, value = setting.partition("=")
        if not sign:
            raise OptionsError(f"--set needs key=value, not “{setting[:40]}”.")
        if key not in model.model_fields:
            raise OptionsError(f"There is no option “{key[:40]}”; there are {', '.join(model.model_fields)}.")
        values[key] = _words(value) if _is_list(model.model_fields[key].annotation) else value
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ").rstrip(".")
        place = ".".join(map(str, first["loc"]))
        raise OptionsError(f"The option {place} is wrong: {said}." if place else f"{said}.") from None


def _is_list(annotation: Any) -> bool:
    if get_origin(annotation) in (tuple, list, set, frozenset):
        return True
    return any(_is_list(inner) for inner in get_args(annotation))


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _asked(operation: Operation[Any], writer: str | None) -> Asked | None:
    if writer is not None and operation.name != SUMMARIZE.name:
        raise OptionsError(f"--writer is for {SUMMARIZE.name}; {operation.name} writes no summaries.")
    return asking(writer) if writer is not None else None


@dataclass(frozen=True, slots=True)
class Applied:
    chain: LoadedChain
    outcome: Outcome
    after: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class NotApplied:
    chain: LoadedChain
    why: ChainError


def _applied(
    operation: Operation[Any], chain: LoadedChain, options: Options, ask: Asked | None
) -> Applied | NotApplied:
    given = MemoryChain(chain.messages, chain.format)
    try:
        if ask is not None and isinstance(options, SummarizeOptions):
            outcome = summarized(given, options, ask, Context().random)
        else:
            outcome = operation.run(given, options, Context())
    except (Refused, PathError) as refused:
        return NotApplied(chain, refused)
    return Applied(chain, outcome, changed_messages(chain, outcome))


def changed_messages(chain: LoadedChain, outcome: Outcome) -> tuple[Message, ...]:
    """The chain after the outcome as its format, or the one it moves to, holds it; with sources of its own format."""
    if outcome.target:
        format = get_format(outcome.target[0])
        return tuple(as_held(format, message) for message in apply_splices(chain.messages, outcome.changes))
    known = {id(message) for message in chain.messages}
    messages = apply_splices(chain.messages, outcome.changes)
    leading = sum(1 for _ in takewhile(_is_in_slot, messages))
    return tuple(
        message
        if id(message) in known and (index < leading or not _is_in_slot(message))
        else restyle(messages, index, _out_of_slot(message, index < leading), chain.format, chain.envelope)
        for index, message in enumerate(messages)
    )


def _is_in_slot(message: Message) -> bool:
    """Its source is the member beside the list, which holds only what the chain begins with."""
    return any(fragment.ordinal == SLOT for fragment in message.source)


def _out_of_slot(message: Message, is_leading: bool) -> Message:
    return message if is_leading or not _is_in_slot(message) else replace(message, source=())


def _tell(file: ChainFile, result: Applied | NotApplied, arguments: argparse.Namespace) -> None:
    chain = result.chain
    title = file.title(chain)
    if isinstance(result, NotApplied):
        print(f"chainviz: {title}: {result.why}", file=sys.stderr)
        if arguments.json:
            print_json({"before": describe(chain.messages, chain.format, title), "error": str(result.why)})
    elif arguments.json:
        outcome = result.outcome
        format = outcome.target[0] if outcome.target else chain.format
        print_json(
            {
                "before": describe(chain.messages, chain.format, title),
                "after": describe(result.after, format, title),
                "report": [_row(row) for row in outcome.report],
                "warnings": list(outcome.warnings),
            }
        )
    elif arguments.out != "-":
        _print_report(result, title)


def _row(row: Decision) -> dict[str, Any]:
    """Without what only some operations say."""
    return {name: value for name, value in asdict(row).items() if value or name not in ("until", "becomes")}


def _print_report(result: Applied, title: str) -> None:
    messages, outcome = result.chain.messages, result.outcome
    before = sum(message.size for message in messages)
    size = sum(message.size for message in result.after)
    print(f"{title}: {len(messages):,} → {len(result.after):,} messages, {before:,} → {size:,} bytes")
    for row in outcome.report:
        grown = f" ({row.bytes_after - row.bytes_before:+,} bytes)" if row.bytes_after != row.bytes_before else ""
        place = f"{row.path}{f' to {row.until}' if row.until else ''}: " if row.path else ""
        print(f"  {place}{row.action}: {row.reason}{grown}")
    for warning in outcome.warnings:
        print(f"  warning: {warning}")


def _write(file: ChainFile, done: Sequence[Applied], arguments: argparse.Namespace) -> None:
    targets = {result.outcome.target[0] for result in done if result.outcome.target}
    to = arguments.to if arguments.to and arguments.to != "same" else next(iter(targets), None)
    if to is None:
        changed = [(result.chain, result.after) for result in done if result.outcome.changes]
        rewrite = _around([result.outcome for result in done if result.outcome.changes])
        if rewrite is not None:
            _tell_copies(file, changed, rewrite)
        write_out(arguments.out, whole_document(file, changed, rewrite))
        return
    converted = []
    for result in done:
        messages = apply_splices(result.chain.messages, result.outcome.changes)
        moved = Convert().run(MemoryChain(messages, result.chain.format), ConvertOptions(to=to), Context())
        for warning in moved.warnings:
            print(f"warning: {warning}", file=sys.stderr)
        converted.append(apply_splices(messages, moved.changes))
    write_out(arguments.out, in_format(to, converted))


def _around(outcomes: Sequence[Outcome]) -> Rewrite | None:
    """What all outcomes do to what no message is; a text that one of them took out is nobody's there."""
    rewrites = [outcome.around for outcome in outcomes if outcome.around is not None]
    return (lambda text: reduce(lambda given, rewrite: rewrite(given), rewrites, text)) if rewrites else None


def _tell_copies(file: ChainFile, changed: Sequence[tuple[LoadedChain, Sequence[Message]]], rewrite: Rewrite) -> None:
    """Other chains keep their messages."""
    now = {id(chain): messages for chain, messages in changed}
    for chain in file.chains:
        messages = now.get(id(chain), chain.messages)
        if any(rewrite(fragment.text) != fragment.text for message in messages for fragment in message.source):
            what = "still holds some of what was taken out in messages of its own"
            print(f"warning: {file.title(chain)} {what}.", file=sys.stderr)
