"""Commands that change files: `apply` runs one operation on each chain, `recipe` the steps of a recipe.

They write the result and report the changes. A file has no earlier versions, so the purge of a recipe does nothing here. A warning says
so, and says where a purge is possible.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from chainviz.api.chain import Chain, Report, Result, document_of, rewrite_of
from chainviz.api.file import ChainFile
from chainviz.api.json_objects import describe, result_object
from chainviz.api.shared_documents import in_turn
from chainviz.api.tree_text import report_line
from chainviz.api.writing import SummaryWriters, together, write_out, writers_in_words
from chainviz.commands.io import (
    Input,
    Outputs,
    add_choice,
    add_files,
    add_format,
    add_json,
    chosen,
    complain,
    described_options,
    each_file,
    option_values,
    remark,
    tell,
    warn,
)
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.errors import ChainError, DocumentError, OptionsError, PathError, Refused
from chainviz.core.formats import get_format
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Options
from chainviz.core.operations.convert import SAME
from chainviz.core.operations.convert.losses import verdict_lines
from chainviz.core.operations.execute import get_operation, read_options
from chainviz.core.operations.summarize import SUMMARIZE, SummarizeOptions
from chainviz.core.recipes import read_recipe


def add_apply_arguments(parser: argparse.ArgumentParser) -> None:
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    for operation in OPERATIONS:
        own = operations.add_parser(
            operation.name,
            help=operation.label,
            description=f"{operation.label}: runs on each chain and writes the changed files with --out.",
            epilog="\n".join(described_options(operation)),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_files(own)
        add_format(own)
        add_choice(own)
        own.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="an option; all are listed below")
        own.add_argument("--writer", default="", metavar="NAME", help=_writer_help(operation.name))
        add_output(own)


WRITING = (SUMMARIZE.name, "compact")
"""Operations that take a writer."""


def _writer_help(operation: str) -> str:
    return f"who writes summaries: {writers_in_words()}" if operation in WRITING else argparse.SUPPRESS


@dataclass(frozen=True, slots=True)
class NotApplied:
    chain: Chain
    why: ChainError


def run_apply(arguments: argparse.Namespace) -> int:
    operation = get_operation(arguments.operation)
    options = read_options(operation, option_values(operation.Options, arguments.set))
    if arguments.writer and operation.name not in WRITING:
        raise OptionsError(f"--writer works only with {' and '.join(WRITING)}; {operation.name} writes no summaries.")
    if arguments.writer:
        return apply_to_files(arguments, lambda chain: _written(chain, operation.name, options, arguments.writer))
    return apply_to_files(arguments, lambda chain: chain.run(operation.name, options))


def _written(chain: Chain, operation: str, options: Options, writer: str) -> Result:
    """Print the estimated cost of a model on standard error, and afterwards the tokens that its server counted."""
    writers = SummaryWriters(writer)
    if isinstance(options, SummarizeOptions):
        remark(chain.title, writers.estimate(chain.core, options))
    try:
        return chain.run(operation, options, writers)
    finally:
        remark(chain.title, writers.counted())


def add_output(parser: argparse.ArgumentParser) -> None:
    add_json(parser)
    parser.add_argument("--out", metavar="FILE", help="where to write the changed file, a folder for several; - is standard output")
    parser.add_argument("--to", metavar="FORMAT", help="write the changed chains in this format instead of their own")


def apply_to_files(arguments: argparse.Namespace, change: Callable[[Chain], Result]) -> int:
    """Change each chain of the files, write what `add_output` asks for, and print a report."""
    if arguments.to and arguments.to != SAME:
        get_format(arguments.to)
    outputs = Outputs(arguments)

    def apply(each: Input, file: ChainFile) -> int:
        target = outputs.path(each)
        results, chains = in_turn(chosen(file, arguments.chain), partial(_applied, change))
        refused = [result for result in results if isinstance(result, NotApplied)]
        if target and not refused:
            _write([result.chain for _, result in _done(results)], chains, arguments.to, target)
        for result in refused:
            unwritten = f" {target} was not written." if target and target != "-" else ""
            complain(f"{result.chain.title}: {result.why}{unwritten}")
        if target != "-":
            tell(line for result in results for line in _output_lines(result, as_json=arguments.json))
        return 1 if refused else 0

    return each_file(arguments, apply)


Applied = tuple[Chain, Result]
"""A chain, and the result of the operation."""


def _applied(change: Callable[[Chain], Result], chain: Chain) -> tuple[Chain, Applied | NotApplied]:
    try:
        result = change(chain)
    except (Refused, PathError) as refused:
        return chain, NotApplied(chain, refused)
    return result.chain, (chain, result)


def _done(results: Sequence[Applied | NotApplied]) -> list[Applied]:
    return [result for result in results if not isinstance(result, NotApplied)]


def _output_lines(result: Applied | NotApplied, *, as_json: bool) -> Iterator[str]:
    if isinstance(result, NotApplied):
        if as_json:
            yield json.dumps({"before": describe(result.chain), "error": str(result.why)})
        return
    before, made = result
    if not as_json:
        yield from _report(before, made)
        return
    yield json.dumps(result_object(before, made))


def _report(before: Chain, made: Result) -> Iterator[str]:
    after = made.chain
    messages, sizes = f"{len(before):,} → {len(after):,} messages", f"{before.size:,} → {after.size:,} bytes"
    yield f"{before.title}: {messages}, {sizes}"
    yield from (f"  {report_line(row)}" for row in made.report)
    yield from (f"  warning: {warning}" for warning in made.warnings)
    yield from (f"  {line}" for line in verdict_lines(made.verdicts))


def _write(done: Sequence[Chain], in_file: Sequence[Chain], to: str | None, target: str) -> None:
    """Write the chains in another format or, with `in_file`, the whole file with the changed chains."""
    formats = {chain.format for chain in done if chain.is_moved}
    format = to if to and to != SAME else next(iter(formats), None)
    if format is None:
        rewrite = rewrite_of(done)
        for warning in _copies_left(in_file, rewrite) if rewrite else ():
            warn(warning)
        write_out(target, document_of(in_file))
        return
    converted = [_converted(chain, format) for chain in done]
    for result in converted:
        for warning in result.warnings:
            warn(warning)
        for line in verdict_lines(result.verdicts):
            remark(result.chain.title, line)
    write_out(target, together(get_format(format), [result.chain.to_bytes() for result in converted]))


def _converted(chain: Chain, format: str) -> Result:
    is_done = chain.is_moved and chain.format == format
    return Result(chain, Report()) if is_done else chain.convert(format)


def _copies_left(chains: Sequence[Chain], rewrite: Rewrite) -> Iterator[str]:
    """Yield a warning if other chains of the file still contain removed content."""
    file, now = chains[0].file, {id(chain.loaded): chain.messages for chain in chains}
    rewritten = {chain.loaded.envelope.region for chain in chains if chain.is_changed}
    for loaded in file.chains:
        messages = now.get(id(loaded), loaded.messages)
        is_beside = id(loaded) not in now and loaded.envelope.region in rewritten
        if not is_beside and any(rewrite(each.text) != each.text for message in messages for each in message.source):
            yield f"{file.title(loaded)} still contains some of the removed content in its own messages."


def add_recipe_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="RECIPE", help="a recipe as JSON or TOML, such as one downloaded from its page")
    add_files(parser)
    add_format(parser)
    add_choice(parser)
    add_output(parser)


def run_recipe(arguments: argparse.Namespace) -> int:
    try:
        content = Path(arguments.recipe).read_bytes()
    except OSError as error:
        raise DocumentError(f"{arguments.recipe} cannot be read: {error.strerror or error}.") from None
    recipe = read_recipe(content)
    return apply_to_files(arguments, lambda chain: chain.apply_recipe(recipe))
