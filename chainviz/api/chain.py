"""A chain as a Python value, and what an operation made of one."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

from chainviz.api.answer import made_with
from chainviz.api.file import ChainFile, FileSurroundings, open_file
from chainviz.api.state import next_call_of, state_of_chain
from chainviz.api.summary_writer import SummaryWriters
from chainviz.api.tree_html import tree_html
from chainviz.api.tree_text import all_problems, report_line, tree_lines
from chainviz.api.usage import last_call_of, models
from chainviz.api.writing import whole_document, write_out
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.surroundings import Rewrite, Surroundings
from chainviz.core.chain.tree import ChainAST
from chainviz.core.chain.unread import Unread, unread_problems
from chainviz.core.diff.runs.recorded_outcome import recorded_outcome
from chainviz.core.documents.document_context import DocumentContext, in_memory
from chainviz.core.errors import OptionsError
from chainviz.core.formats import get_format
from chainviz.core.generate import PREDEFINED, generate_messages
from chainviz.core.load import LoadedChain, blank, document_in, export_chain
from chainviz.core.observations.contract import ObservedMessage
from chainviz.core.observations.reader import Recognition, called_tools, observe
from chainviz.core.operations.compact.simulation import Simulation, simulate
from chainviz.core.operations.contract import Context, Decision, Options, Outcome
from chainviz.core.operations.convert.verdict import judge_written, verdict_lines
from chainviz.core.operations.execute import changed_messages, execute
from chainviz.core.operations.redaction_switch import read_redaction_switch
from chainviz.core.operations.strategies import ESTIMATES, simulation_lines, strategy_of
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.core.providers import get_provider
from chainviz.core.providers.check import check
from chainviz.core.providers.errors.error_messages import ErrorMessage, read_error
from chainviz.core.providers.errors.locate_error import LocatedError, locate_error
from chainviz.core.providers.request import Request, request_of
from chainviz.core.providers.verdict import Verdict, verdict_of
from chainviz.core.recipes import Recipe, follow, read_recipe
from chainviz.core.recipes import Step as RecipeStep
from chainviz.core.recipes.recipe import NOT_PURGED
from chainviz.core.state.document import State
from chainviz.core.state.processed_length import ChangedState, is_state, recorded_length, with_length
from chainviz.core.state.stored_and_sent import NextCall
from chainviz.core.terminal import visible, visible_lines
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain import NO_SCHEMAS, ResultOptions, format_results, stored_outputs, tool_schemas
from chainviz.core.toolchain import Result as ObservationResult
from chainviz.core.usage.beside import members_beside, recorded_beside
from chainviz.core.usage.chain_usage import ChainUsage, chain_usage
from chainviz.core.usage.estimate import tokens_of
from chainviz.core.usage.recorded import LastCall, recorded_of
from chainviz.core.usage.recorded_times import NO_TIMES, Times, times_beside, times_of


@dataclass(frozen=True)
class Chain:
    """A message chain of a file. Operations return a new one; this one never changes.

    It has a length, is iterated as its messages (chainviz.core.chain.messages), and prints as its tree.
    """

    messages: tuple[Message, ...]
    format: str
    """The name of the format it is written in, such as `openai_chat`."""
    file: ChainFile = field(repr=False)
    loaded: LoadedChain = field(repr=False)
    """The chain as the file holds it."""
    surroundings: Surroundings = field(repr=False)

    @property
    def title(self) -> str:
        """The file, and where in it the chain lies if there are several."""
        return self.file.title(self.loaded)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was odd about the file, a sentence each."""
        return self.loaded.warnings

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What of its file no message shows although chainviz does not know it; empty where the chain is fully read.

        Each has a `kind`, a `name`, a `count` and the first `places`; `describe_unread` makes a sentence of it. A chain that is not
        fully read is never repaired in place, and no provider's verdict on it is “accepted”.
        """
        return tuple(self.surroundings.unread)

    @property
    def is_fully_read(self) -> bool:
        return not self.unread

    @property
    def is_moved(self) -> bool:
        """Whether it has left its file for a document of its own, in another format."""
        return not isinstance(self.surroundings, FileSurroundings)

    @property
    def is_changed(self) -> bool:
        is_rewritten = isinstance(self.surroundings, FileSurroundings) and bool(self.surroundings.rewrites)
        return self.is_moved or is_rewritten or self.messages is not self.loaded.messages

    @property
    def tree(self) -> ChainAST[Message]:
        """Sections, body pairs, messages and parts, each with its `size` in bytes."""
        return self.core.tree

    @property
    def size(self) -> int:
        """Content bytes: texts, calls and results as UTF-8."""
        return self.tree.size

    @cached_property
    def tokens(self) -> int:
        """An estimate of the tokens of its content: counted if the extra `tokens` is installed, else bytes through four."""
        return tokens_of(self.messages)

    @cached_property
    def usage(self) -> ChainUsage:
        """Tokens by model that the file records of the run, `total` of them, and the model. `is_recorded` is false where it
        records none. An operation that changes or removes messages does not change them."""
        return chain_usage(recorded_of(self.loaded.messages), recorded_beside(self.file.context(self.loaded)))

    @cached_property
    def times(self) -> Times:
        """When its first and its last message were written; falsy where the transcript records no times."""
        recorded = reduce(Times.__or__, map(times_of, self.messages), NO_TIMES)
        return recorded if recorded or self.is_moved else times_beside(self.file.context(self.loaded))

    @cached_property
    def recorded_outcome(self) -> dict[str, str]:
        """How the run ended, as its file records it beside the messages, such as a reward; by name, in words."""
        return {} if self.is_moved else recorded_outcome(self.file.context(self.loaded))

    @property
    def cost(self) -> Decimal | None:
        """Dollars of the recorded tokens at list prices; None where none are recorded or a model has no price."""
        return self.usage.cost(models())

    @cached_property
    def last_call(self) -> LastCall | None:
        """The last call of the model whose tokens the transcript records; None where it records none."""
        return last_call_of(self.messages, None if self.is_moved else self.file.context(self.loaded))

    @property
    def context_window(self) -> int | None:
        """How many tokens its model takes at once, as recorded or known of the model; None where neither is."""
        return (self.last_call.window if self.last_call else None) or models().context_window(self.usage.model)

    @cached_property
    def core(self) -> MemoryChain:
        """The chain as operations take it."""
        return MemoryChain(self.messages, self.format, self.surroundings)

    def problems(self, provider: str = "") -> list[Problem]:
        """Returns what is wrong in the tree and in the contents, and by the rules of a provider's API if one is named.

        Raises OptionsError for an unknown provider.
        """
        found = [*unread_problems(self.unread), *all_problems(self.tree, self.request)]
        return [*found, *self._said_by(provider)] if provider else found

    def verdict(self, provider: str) -> Verdict:
        """Returns whether a provider's API would take the chain: accepted, rejected or unchecked."""
        return verdict_of(self._said_by(provider))

    def locate_error(self, error: str | ErrorMessage) -> LocatedError:
        """Returns where the error lies that an API's message tells of, and what fixes it. The message may be pasted as it came: alone,
        in the JSON of the response, as an SDK prints it, or in a line of a log.
        """
        read = read_error(error) if isinstance(error, str) else error
        return locate_error(read, self.messages, self.format, self.request)

    def _said_by(self, name: str) -> Iterator[Problem]:
        provider = get_provider(name)
        yield from provider.unread(self.unread)
        yield from check(provider, self.tree, self.format, self.request)

    @cached_property
    def request(self) -> Request:
        """What the document records beside the messages, such as the model and the names of its tools."""
        return request_of(self.surroundings)

    def apply(self, operation: str, *, writer: str = "", **options: Any) -> Result:
        """Runs an operation, such as `repair`, `mask`, `redact`, `summarize`, `compact` or `convert`, with its options.

        `writer` names who writes summaries. Raises OptionsError for options that the operation cannot take, Refused where
        it cannot be done on this chain.
        """
        return self.run(operation, options, writer)

    def run(self, operation: str, options: Options | Mapping[str, Any], writer: str | SummaryWriters = "") -> Result:
        """As `apply`, with the options as one value."""
        outcome = execute(operation, options, self.core, _context(operation, writer))
        provider = outcome.target.provider if outcome.target else ""
        return Result(self._after(outcome), Report(outcome.report), outcome.warnings, provider)

    def apply_recipe(self, recipe: str | Path | Mapping[str, Any] | Recipe) -> Result:
        """Runs the steps of a recipe: the path of its file (JSON or TOML), the object that the file holds, or what
        `read_recipe` returns. A step that changes nothing is skipped; its warnings are kept. Nothing is purged: a warning
        says so where the recipe ends in a purge.

        Raises OptionsError for what is no recipe, Refused where a step cannot be done on this chain.
        """
        steps: list[Chain] = [self]

        def take(step: RecipeStep, outcome: Outcome) -> MemoryChain:
            steps.append(steps[-1]._after(outcome))
            return steps[-1].core

        read = recipe if isinstance(recipe, Recipe) else _recipe_of(recipe)
        outcomes = follow(read, self.core, lambda chain: _context("", ""), take)
        rows = (row for outcome in outcomes for row in outcome.report)
        said = [*(said for each in outcomes for said in each.warnings), *([NOT_PURGED] if read.purges else ())]
        return Result(steps[-1], Report(rows), tuple(dict.fromkeys(said)))

    def convert(self, to: str, **options: Any) -> Result:
        """Writes the chain in another format; the warnings say what that format has no place for."""
        return self.apply("convert", to=to, **options)

    def observations(self, as_: str = "markdown", **options: Any) -> list[ObservationResult]:
        """Returns the results of each AI message with tool calls, formatted as one text (`markdown` or `xml`) with media.

        `as_content_parts()` of each gives the parts of a message. Options: `syntax` (json or yaml), `wrapper` (auto, none or
        section), `empty_when_all_failed`, `go_compatible`. Results have the types that the file's tool schemas give them.
        """
        schemas = NO_SCHEMAS if self.is_moved else tool_schemas(members_beside(self.file.context(self.loaded)))
        text_format, how = get_text_format(as_), made_with(ResultOptions, options)
        pairs = (pair for section in self.tree.sections for pair in section.body if pair.ai is not None and pair.ai.calls)
        return [format_results(*stored_outputs(pair, schemas), text_format, how) for pair in pairs]

    def observed(self, names: Collection[str] = ()) -> list[ObservedMessage]:
        """Returns the tool messages and the texts that hold results of tools, each result linked to its call.

        `names`: tools that the chain does not call but has results of.
        """
        return list(observe(self.core, Recognition(called_tools(self.core).union(names))))

    def next_call(
        self, leading: Sequence[str] | None = None, user: str = "", processed_length: int | None = None
    ) -> NextCall:
        """Returns what a program would store of the chain between two calls, and what its next call would send.

        `leading`: texts of its leading system messages; None takes those of the chain. `processed_length` counts stored
        messages of the chain; None: what its state document says, else up to the last AI message.
        """
        return next_call_of(self, leading, user, processed_length)

    def state(self, provider: str = "", processed_length: int | None = None) -> State:
        """Returns the chain as a conversation state of `provider`, by default the one that its format belongs to.

        Raises Refused where the chain is written for another provider: convert it first.
        """
        return state_of_chain(self, provider, processed_length)

    def simulate(
        self, strategies: Mapping[str, str | Mapping[str, Any]], estimates: Collection[str] = tuple(ESTIMATES)
    ) -> Simulation:
        """Returns the size of each turn's request without compaction, with each strategy, and with each estimate.

        `strategies`: JSON by name, as in `apply("compact", strategy=…)`. Raises OptionsError for an invalid one.
        """
        run = {name: strategy_of({"strategy": strategy}) for name, strategy in strategies.items()}
        return simulate(self.core, simulation_lines(self.messages, run, estimates))

    def to_bytes(self) -> bytes:
        """Returns the whole file with this chain as it is now; a chain that was converted, as a document of its own."""
        if isinstance(self.surroundings, DocumentContext):
            return export_chain(self.messages, self.surroundings.envelope, self.format, self.surroundings.read)
        return b"".join(document_of([self]))

    def save(self, path: str | Path) -> None:
        """Writes `to_bytes()` to a file, which is complete or as it was. Raises DocumentError where it cannot be written."""
        write_out(str(path), iter([self.to_bytes()]))

    def _after(self, outcome: Outcome) -> Chain:
        if outcome.is_empty:
            return self
        here = self.surroundings
        envelope = here.envelope if isinstance(here, DocumentContext) else self.loaded.envelope
        messages = changed_messages(self.core, outcome, envelope)
        if outcome.target is not None:
            format = get_format(outcome.target.name)
            document = in_memory(*blank(format, len(messages), outcome.target.document))
            return replace(self, messages=messages, format=format.name, surroundings=document)
        around = outcome.surroundings or self.surroundings
        return replace(self, messages=messages, surroundings=self._followed(around, outcome, messages))

    def _followed(self, around: Surroundings, outcome: Outcome, messages: tuple[Message, ...]) -> Surroundings:
        """With the processed_length of a state document, which follows its messages."""
        format = get_format(self.format)
        length = recorded_length(around.texts()) if is_state(format) else None
        if length is None:
            return around
        before, after = ((message.source for message in each) for each in (self.messages, messages))
        following = ChangedState(format, outcome.changes, lambda: before, lambda: after).length(length)
        return around.rewritten(lambda text: with_length(text, following)) or around

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __str__(self) -> str:
        return visible_lines(tree_lines(self.messages, (self.format, self.request), self.title or "chain", unread=self.unread))

    def __repr__(self) -> str:
        return visible(f"<Chain {self.title} {self.format}, {len(self):,} messages>".replace("  ", " "))

    def _repr_html_(self) -> str:
        return tree_html(self.messages, self.format, self.title or "chain")


class Report(tuple[Decision, ...]):
    """What an operation did, a row for each decision; it prints as lines."""

    def __str__(self) -> str:
        return visible_lines(map(report_line, self))


@dataclass(frozen=True)
class Result:
    """What an operation made of a chain."""

    chain: Chain
    """The changed chain; the same one where nothing changed."""
    report: Report
    warnings: tuple[str, ...] = ()
    provider: str = ""
    """The name of the provider that the operation was to switch to."""

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """What APIs say of the chain as it is written, by the name of the provider: the one that it was switched to, else those
        whose format it has; {} where it keeps its format."""
        if not self.chain.is_moved:
            return {}
        found = judge_written(self.chain.to_bytes(), self.chain.format, self.provider)
        return {provider.name: verdict for provider, verdict in found.items()}

    def save(self, path: str | Path) -> None:
        self.chain.save(path)

    def __str__(self) -> str:
        said = [*(f"warning: {warning}" for warning in self.warnings), *verdict_lines(self.verdicts)]
        return visible_lines((*map(report_line, self.report), *said))


def load(
    source: str | Path | bytes | bytearray | Sequence[Mapping[str, Any]], format: str = "", *, salvage: bool = False
) -> list[Chain]:
    """Returns the chains of a file (a path or its bytes), or the one that a list of message dicts is.

    `format` overrides detection; `salvage` takes the complete messages of a file that is cut off. Raises DocumentError, one
    sentence with line and column where there is a place, for what is no chain, and OptionsError for a source of another kind.
    """
    match source:
        case bytes() | bytearray():
            file = open_file(bytes(source), "", format or None, salvage=salvage)
        case str() | Path():
            file = open_file(Path(source), str(source), format or None, salvage=salvage)
        case list() | tuple():
            file = open_file(_as_json(source), "", format or None)
        case _:
            raise OptionsError(f"load takes a path, bytes or a list of messages, not {type(source).__name__}.")
    return chains_of(file)


def _as_json(messages: Sequence[Mapping[str, Any]]) -> bytes:
    try:
        return json.dumps(messages).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionsError(f"The messages cannot be written as JSON: {error}.") from None


def chains_of(file: ChainFile) -> list[Chain]:
    return [
        Chain(loaded.messages, loaded.format, file, loaded, FileSurroundings(file.context(loaded)))
        for loaded in file.chains
    ]


def document_of(chains: Sequence[Chain]) -> Iterator[bytes]:
    """The file of the chains with each as it is now; everything else is as it was. What an operation took out of one chain
    leaves the file outside of all messages too."""
    file = chains[0].file
    changed = [(chain.loaded, chain.messages) for chain in _documents([chain for chain in chains if chain.is_changed])]
    return whole_document(file, changed, rewrite_of(chains))


def _documents(chains: Sequence[Chain]) -> Iterator[Chain]:
    """The threads of a session (its branches and sub-agents) are lines of one document. Yields the first of them; the others
    only where more changed in their lines than the rewriting that the document of the first gets too."""
    regions = set()
    for chain in chains:
        region = chain.loaded.envelope.region
        if region not in regions or not is_only_rewritten(chain):
            yield chain
        regions.add(region)


def is_only_rewritten(chain: Chain) -> bool:
    """Whether its rewrites alone, such as those of a mask, turn its lines of the file into those that it has now."""
    rewrite = rewrite_of([chain])
    before, after = ([part for message in each for part in message.source] for each in (chain.loaded.messages, chain.messages))
    if rewrite is None or len(before) != len(after):
        return False
    return all(rewrite(old.text) == new.text for old, new in zip(before, after, strict=True))


def rewrite_of(chains: Sequence[Chain]) -> Rewrite | None:
    """What the operations on all these chains do to text that is no message."""
    surroundings = [each.surroundings for each in chains if isinstance(each.surroundings, FileSurroundings)]
    found = [rewrite for each in surroundings for rewrite in each.rewrites]
    return (lambda text: reduce(lambda given, rewrite: rewrite(given), found, text)) if found else None


def generate(name: str = "", *, messages: int = 100, seed: int = 0) -> Chain:
    """Returns one of the known small chains (`chainviz generate --help` lists them), else a valid chain of so many messages.

    Raises OptionsError for an unknown name or a negative number.
    """
    if name and name not in PREDEFINED:
        raise OptionsError(f"There is no chain “{name[:40]}”; there are {', '.join(PREDEFINED)}.")
    if messages < 0:
        raise OptionsError("A chain cannot have a negative number of messages.")
    made = PREDEFINED[name] if name else tuple(generate_messages(messages, random.Random(seed)))
    (chain,) = load(b"".join(document_in(get_format("neutral"), made)), "neutral")
    return chain


def _recipe_of(source: str | Path | Mapping[str, Any]) -> Recipe:
    if isinstance(source, Mapping):
        return read_recipe(source)
    try:
        return read_recipe(Path(source).read_bytes())
    except OSError as error:
        raise OptionsError(f"{source} cannot be read: {error.strerror or error}.") from None


def _context(operation: str, writer: str | SummaryWriters) -> Context:
    if writer and operation != SUMMARIZE.name:
        raise OptionsError(f"Only {SUMMARIZE.name} takes a writer; {operation} writes no summaries.")
    write = SummaryWriters(writer) if isinstance(writer, str) and writer else writer or None
    # a random source of its own: every chain of a file gets the same ids
    return Context(write_summaries=write, redaction=read_redaction_switch(os.environ))
