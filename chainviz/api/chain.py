"""A chain as a Python value, and what an operation made of one."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial, reduce
from pathlib import Path
from typing import Any

from chainviz.api.file import ChainFile, FileSurroundings, open_file, plain_messages
from chainviz.api.state import build_options, next_call_of, state_of_chain
from chainviz.api.tree_html import tree_html
from chainviz.api.tree_text import all_problems, report_line, tree_lines
from chainviz.api.writing import SummaryWriters, last_call_of, models, whole_document, write_out
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.surroundings import Rewrite, Surroundings, Unread, still_unread, unread_problems
from chainviz.core.chain.tree import ChainAST
from chainviz.core.counts import count_text
from chainviz.core.diff.runs import recorded_outcome
from chainviz.core.documents.document_context import DocumentContext, in_memory
from chainviz.core.errors import OptionsError, visible, visible_lines
from chainviz.core.formats import get_format
from chainviz.core.formats.vendors import get_provider
from chainviz.core.generate import PREDEFINED, generate_messages
from chainviz.core.load import LoadedChain, blank, document_in, export_chain
from chainviz.core.lost import Branch, Lost, lost_on_resume
from chainviz.core.observations.contract import ObservedMessage
from chainviz.core.observations.reader import Recognition, called_tools, observe
from chainviz.core.operations.compact.simulation import ESTIMATES, Simulation, simulate, simulation_lines, strategy_of
from chainviz.core.operations.contract import Context, Decision, Options, Outcome, read_redaction_switch
from chainviz.core.operations.convert.losses import judge_written, verdict_lines
from chainviz.core.operations.execute import changed_messages, execute
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.core.operations.summarize.writers.contract import SummaryRequest, Unchanged, WriteSummaries
from chainviz.core.own_provider import own_provider
from chainviz.core.pasted_errors.locate import LocatedError, locate_error
from chainviz.core.pasted_errors.message import ErrorMessage, read_error
from chainviz.core.providers.check import Verdict, check, verdict_of
from chainviz.core.providers.request import Request, request_of
from chainviz.core.recipes import NOT_PURGED, Recipe, follow, read_recipe
from chainviz.core.recipes import Step as RecipeStep
from chainviz.core.state.call import last_answer
from chainviz.core.state.document import ChangedState, State, is_state, recorded_length, with_length
from chainviz.core.state.export import NextCall
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain import NO_SCHEMAS, ResultOptions, format_results, stored_outputs, tool_schemas
from chainviz.core.toolchain import Result as ObservationResult
from chainviz.core.usage.document_usage import members_beside, recorded_beside
from chainviz.core.usage.model_catalog import ChainUsage, chain_usage, tokens_of
from chainviz.core.usage.recorded import LastCall, recorded_of
from chainviz.core.usage.times import NO_TIMES, Times, times_beside, times_of

WriteText = Callable[[str], str]
"""Writes a summary, given a prompt."""
CountText = Callable[[str], int]
"""Counts the tokens of a text."""
COMPACT = "compact"


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
        """The file, and the place of the chain in it if there are several."""
        return self.file.title(self.loaded)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about oddities of the file."""
        return self.loaded.warnings

    @property
    def unread(self) -> tuple[Unread, ...]:
        """Content of the file that no message shows although chainviz does not know it; empty if the chain is fully read. Each has a
        `kind`, a `name`, a `count` and the first `places`; `describe_unread` makes a sentence of it. A chain that is not fully read is
        never repaired in place, and no provider's verdict on it is “accepted”.
        """
        return still_unread(self.surroundings.unread, lambda: {message.role for message in self.messages})

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
        """The recorded tokens of the run by model, their `total`, and the model. `is_recorded` is false if the file
        records none. An operation that changes or removes messages does not change them."""
        return chain_usage(recorded_of(self.loaded.messages), recorded_beside(self.file.context(self.loaded)))

    @cached_property
    def times(self) -> Times:
        """The times of the first and the last message; falsy if the transcript records no times."""
        recorded = reduce(Times.__or__, map(times_of, self.messages), NO_TIMES)
        return recorded if recorded or self.is_moved else times_beside(self.file.context(self.loaded))

    @cached_property
    def recorded_outcome(self) -> dict[str, str]:
        """The recorded outcome of the run beside the messages, such as a reward; by name, in words."""
        return {} if self.is_moved else recorded_outcome(self.file.context(self.loaded))

    @property
    def cost(self) -> Decimal | None:
        """The cost of the recorded tokens at list prices, in dollars; None if none are recorded or a model has no price."""
        return self.usage.cost(models())

    @cached_property
    def last_call(self) -> LastCall | None:
        """The last call of the model whose tokens the transcript records, or None if it records none."""
        return last_call_of(self.messages, None if self.is_moved else self.file.context(self.loaded))

    @cached_property
    def lost_on_resume(self) -> tuple[Lost, ...]:
        """The messages that an agent does not send again when it resumes this session: those before its last compaction, on
        branches that a person left by going back, and those that it leaves out. Each has a `reason`, `messages`, `size` in
        bytes, `first` and `last`; () for a chain that is no session, or a branch or sub-agent of one."""
        if self.is_moved or self.loaded.pointer[:1] in (("branch",), ("sidechain",)):
            return ()
        branches = (Branch(each.title, each.messages) for each in self.file.chains if each.pointer[:1] == ("branch",))
        return lost_on_resume(get_format(self.format), self.messages, branches)

    @property
    def context_window(self) -> int | None:
        """The context window in tokens, as recorded or known of the model; None if neither is."""
        return (self.last_call.window if self.last_call else None) or models().context_window(self.usage.model)

    @cached_property
    def core(self) -> MemoryChain:
        """The chain as operations take it."""
        return MemoryChain(self.messages, self.format, self.surroundings)

    @property
    def provider(self) -> str:
        """The name of the provider that the next call goes to: the recorded one, else the usual one of the format."""
        return own_provider(self.core, self.request).name

    def problems(self, provider: str = "") -> list[Problem]:
        """Return the problems in the tree and in the contents, and those by the rules of a provider's API if one is named. Raises
        OptionsError for an unknown provider.
        """
        found = [*unread_problems(self.unread), *all_problems(self.tree, self.request)]
        return [*found, *self._problems_for(provider)] if provider else found

    def verdict(self, provider: str) -> Verdict:
        """Returns whether a provider's API would take the chain: accepted, rejected or unchecked."""
        return verdict_of(self._problems_for(provider))

    def locate_error(self, error: str | ErrorMessage) -> LocatedError:
        """Locate the error that an API's message reports, and its fix. The message may be pasted as received: alone,
        in the JSON of the response, as an SDK prints it, or in a line of a log.
        """
        read = read_error(error) if isinstance(error, str) else error
        return locate_error(read, self.messages, self.format, self.request)

    def _problems_for(self, name: str) -> Iterator[Problem]:
        provider = get_provider(name)
        yield from provider.unread(self.unread)
        yield from check(provider, self.tree, self.format, self.request)

    @cached_property
    def request(self) -> Request:
        """The facts that the document records beside the messages, such as the model and the names of its tools."""
        return request_of(self.surroundings)

    def apply(self, operation: str, *, writer: str | WriteText = "", counter: CountText | None = None, **options: Any) -> Result:
        """Run an operation, such as `repair`, `mask`, `redact`, `summarize`, `compact` or `convert`, with its options.

        `writer` writes summaries: a name, or a function that takes a prompt and returns a text. `counter` counts the tokens of a text
        for `compact`, in place of the tokens that the transcript records or an estimate. Raises OptionsError for options that the
        operation cannot take, Refused where it cannot be done on this chain.
        """
        if counter is not None:
            options["prompt_tokens"] = self._prompt_tokens(operation, counter)
        return self.run(operation, options, writer)

    def _prompt_tokens(self, operation: str, counter: CountText) -> int:
        """The tokens of the messages that the last call sent."""
        if operation != COMPACT:
            raise OptionsError(f"Only {COMPACT} takes a counter; {operation} counts no tokens.")
        last = last_answer(self.messages)
        return tokens_of(self.messages[:last], counter)

    def run(self, operation: str, options: Options | Mapping[str, Any], writer: str | SummaryWriters | WriteText = "") -> Result:
        """Run an operation like `apply`, with the options as one value."""
        outcome = execute(operation, options, self.core, _context(operation, writer))
        provider = outcome.target.provider if outcome.target else ""
        return Result(self._after(outcome), Report(outcome.report), outcome.warnings, provider)

    def apply_recipe(self, recipe: str | Path | Mapping[str, Any] | Recipe) -> Result:
        """Run the steps of a recipe: the path of its file (JSON or TOML), the object in the file, or the result of `read_recipe`. A
        step that changes nothing is skipped; its warnings are kept. Nothing is purged: a warning says so if the recipe ends in a purge.
        Raises OptionsError for an invalid recipe, Refused if a step cannot be done on this chain.
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
        text_format, how = get_text_format(as_), build_options(ResultOptions, options)
        pairs = (pair for section in self.tree.sections for pair in section.body if pair.ai is not None and pair.ai.calls)
        return [format_results(*stored_outputs(pair, schemas), text_format, how) for pair in pairs]

    def observed(self, names: Collection[str] = ()) -> list[ObservedMessage]:
        """Return the tool messages and the texts with results of tools, each result linked to its call.
        `names`: tools that the chain does not call but has results of.
        """
        return list(observe(self.core, Recognition(called_tools(self.core).union(names))))

    def next_call(self, leading: Sequence[str] | None = None, user: str = "", processed_length: int | None = None) -> NextCall:
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

    def simulate(self, strategies: Mapping[str, str | Mapping[str, Any]], estimates: Collection[str] = tuple(ESTIMATES)) -> Simulation:
        """Returns the size of each turn's request without compaction, with each strategy, and with each estimate.

        `strategies`: JSON by name, as in `apply("compact", strategy=…)`. Raises OptionsError for an invalid one.
        """
        run = {name: strategy_of({"strategy": strategy}) for name, strategy in strategies.items()}
        return simulate(self.core, simulation_lines(self.messages, run, estimates))

    def to_bytes(self) -> bytes:
        """Return the whole file with the present chain in it; a converted chain as a document of its own."""
        if isinstance(self.surroundings, DocumentContext):
            return export_chain(self.messages, self.surroundings.envelope, self.format, self.surroundings.read)
        return b"".join(document_of([self]))

    def save(self, path: str | Path) -> None:
        """Write `to_bytes()` to a file, completely or not at all. Raises DocumentError if it cannot be written."""
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
        """Return the document around the messages with the processed_length of a state document adjusted to them."""
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
        return visible(f"<Chain {self.title} {self.format}, {count_text(len(self), 'message')}>".replace("  ", " "))

    def _repr_html_(self) -> str:
        return tree_html(self.messages, self.format, self.title or "chain")


class Report(tuple[Decision, ...]):
    """The decisions of an operation, one row each. It prints as lines."""

    def __str__(self) -> str:
        return visible_lines(map(report_line, self))


@dataclass(frozen=True)
class Result:
    """The result of an operation on a chain."""

    chain: Chain
    """The changed chain; the same one where nothing changed."""
    report: Report
    warnings: tuple[str, ...] = ()
    provider: str = ""
    """The name of the provider that the operation was to switch to."""

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Verdicts of APIs on the chain as it is written, by the name of the provider: the one that it was switched to,
        else those with its format; {} if it keeps its format."""
        if not self.chain.is_moved:
            return {}
        found = judge_written(self.chain.to_bytes(), self.chain.format, self.provider)
        return {provider.name: verdict for provider, verdict in found.items()}

    def save(self, path: str | Path) -> None:
        self.chain.save(path)

    def __str__(self) -> str:
        said = [*(f"warning: {warning}" for warning in self.warnings), *verdict_lines(self.verdicts)]
        return visible_lines((*map(report_line, self.report), *said))


def load(source: str | Path | bytes | bytearray | Sequence[Any], format: str = "", *, salvage: bool = False) -> list[Chain]:
    """Return the chains of a file (a path or its bytes), or the one that a list of messages is: dicts, or message objects of
    LangChain, the OpenAI Agents SDK or pydantic-ai.

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


def _as_json(messages: Sequence[Any]) -> bytes:
    try:
        return json.dumps(plain_messages(messages)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise OptionsError(f"The messages cannot be written as JSON: {error}.") from None


def chains_of(file: ChainFile) -> list[Chain]:
    return [Chain(loaded.messages, loaded.format, file, loaded, FileSurroundings(file.context(loaded))) for loaded in file.chains]


def document_of(chains: Sequence[Chain]) -> Iterator[bytes]:
    """Yield the file with the present chains in it; everything else stays. What an operation removed from one chain is
    removed from the rest of the file too."""
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
    """Return the combined changes of the operations on these chains to text outside of messages; None if there are none."""
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
    return chain_of(made)


def chain_of(messages: Sequence[Message]) -> Chain:
    """Return a chain of these messages in chainviz's own format."""
    (chain,) = load(b"".join(document_in(get_format("neutral"), messages)), "neutral")
    return chain


def _recipe_of(source: str | Path | Mapping[str, Any]) -> Recipe:
    if isinstance(source, Mapping):
        return read_recipe(source)
    try:
        return read_recipe(Path(source).read_bytes())
    except OSError as error:
        raise OptionsError(f"{source} cannot be read: {error.strerror or error}.") from None


def _context(operation: str, writer: str | SummaryWriters | WriteText) -> Context:
    if writer and operation not in (SUMMARIZE.name, COMPACT):
        raise OptionsError(f"Only {SUMMARIZE.name} and {COMPACT} take a writer; {operation} writes no summaries.")
    write: WriteSummaries | None = None
    if isinstance(writer, str):
        write = SummaryWriters(writer) if writer else None
    else:
        write = writer if isinstance(writer, SummaryWriters) else partial(_written_by, writer)
    # a random source of its own: every chain of a file gets the same ids
    return Context(write_summaries=write, redaction=read_redaction_switch(os.environ))


def _written_by(writer: WriteText, requests: Sequence[SummaryRequest]) -> dict[str, str | Unchanged]:
    return {request.key: writer(request.prompt) for request in requests}
