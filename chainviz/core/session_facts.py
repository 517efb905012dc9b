"""The facts of a session in lists and totals: title, project, tokens by day and model, tools, health, secrets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Literal, NamedTuple

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import AI, HUMAN, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.problems import Problem, section_problems
from chainviz.core.chain.surroundings import Unread
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.units import Envelope
from chainviz.core.formats.offers import Offer
from chainviz.core.formats.reader import ChainReader, read_chain
from chainviz.core.load import LoadedChain, load_offer, offers_with_notes, without_shared
from chainviz.core.operations.repair.goal import resume_errors
from chainviz.core.own_provider import own_provider
from chainviz.core.providers.request import request_of as read_request
from chainviz.core.secrets import SECRETS, scan_message
from chainviz.core.session_records import damage_of
from chainviz.core.sources.head import HEAD, read_head
from chainviz.core.usage.document_usage import last_call_beside, recorded_beside, recorded_title, title_of
from chainviz.core.usage.recorded import LastCall, TokenUsage
from chainviz.core.usage.times import NO_TIMES, Record, Times, calls_beside, record_of, times_beside

Health = Literal["accepted", "refused", "part", "failed"]
"""`refused`: the session's own API would refuse its next request. `part`: some of it was not understood. `failed`:
nothing of it could be read."""
Ending = Literal["", "finished", "interrupted", "api-error"]
"""How the session ended, if it is recorded."""
Day = str
"""A day in UTC, such as `2026-11-27`; "" if no time is recorded."""


class ToolCount(NamedTuple):
    """Calls of one tool."""

    calls: int = 0
    errors: int = 0
    """The number of results that are marked as errors."""
    bytes: int = 0
    """The size of its results in bytes."""


_NO_CALLS = ToolCount()


class Repeat(NamedTuple):
    """A call that a session makes again, with the same arguments and the same result. The first one is not counted."""

    tool: str
    arguments: str
    """The beginning of the arguments."""
    number: int
    bytes: int
    """The size of the repeated results in bytes."""


class ProblemCount(NamedTuple):
    """Errors of one rule."""

    rule: str
    number: int
    text: str
    """The first problem, as a sentence."""


class ErrorCount(NamedTuple):
    """Tool results or answers of an API that report the same error."""

    tool: str
    """The name of the tool; "" for an error of the API."""
    text: str
    """The first line, with numbers replaced by #, so that errors that differ only in a number are equal."""
    number: int


@dataclass(frozen=True, slots=True)
class SessionFacts:
    format: str = ""
    provider: str = ""
    """The name of the provider whose API the session was checked for: its own."""
    title: str = ""
    project: str = ""
    model: str = ""
    messages: int = 0
    times: Times = NO_TIMES
    days: frozenset[Day] = frozenset()
    """Days on which something was recorded."""
    usage: Mapping[tuple[Day, str], TokenUsage] = field(default_factory=dict)
    """Usage by day and model; empty if none is recorded."""
    tools: Mapping[tuple[Day, str], ToolCount] = field(default_factory=dict)
    """Counts by day and tool name."""
    problems: tuple[ProblemCount, ...] = ()
    """The reasons why its API would refuse the next request."""
    structure_problems: int = 0
    unread: tuple[Unread, ...] = ()
    secrets: int = 0
    errors: tuple[ErrorCount, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    last_call: LastCall | None = None
    growth: tuple[int, ...] = ()
    """The tokens of the prompts, in order; at most `MOST_POINTS` of them."""
    ending: Ending = ""

    @property
    def health(self) -> Health:
        return "refused" if self.problems else "part" if self.unread else "accepted"

    @property
    def problem_count(self) -> int:
        return sum(each.number for each in self.problems)


MOST_POINTS = 22


DAMAGED = "damaged-records"
"""The rule of a session with damaged records. Its agent cannot read them, or resumes without what precedes them."""
MOST_KINDS = 50
"""The most kinds of errors, and of repeated calls, that are kept of a session: the most frequent ones."""
LONGEST = 160
"""The most characters of an error, and of the arguments of a repeated call."""
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8}-[0-9a-f-]{27,}\b|\b[0-9a-f]{12,}\b|\d+")
_API_ERROR = "API Error"
"""The first words of an answer in Claude Code if the API refused."""
_INTERRUPTED = "[Request interrupted by user"
_FINISHED = frozenset(("end_turn", "stop", "STOP", "completed", "stop_sequence"))


class ToolFacts:
    def __init__(self) -> None:
        self.by_day: dict[tuple[Day, str], ToolCount] = {}
        self._calls: dict[str, tuple[Day, ToolCall]] = {}
        """The calls without a result, by id."""
        self._errors = Counter[tuple[str, str]]()
        self._seen = set[bytes]()
        self._repeats: dict[bytes, Repeat] = {}

    def add(self, day: Day, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._count(day, part.name, calls=1)
                self._calls[part.id] = day, part
            elif isinstance(part, ToolResult):
                self._add_result(day, part)
        if message.role == AI and (text := _first_text(message)).startswith(_API_ERROR):
            self._errors["", error_line(text)] += 1

    def errors(self) -> tuple[ErrorCount, ...]:
        return tuple(ErrorCount(*key, count) for key, count in self._errors.most_common(MOST_KINDS))

    def repeats(self) -> tuple[Repeat, ...]:
        return tuple(sorted(self._repeats.values(), key=lambda each: -each.bytes)[:MOST_KINDS])

    def _add_result(self, day: Day, result: ToolResult) -> None:
        called_on, call = self._calls.pop(result.call_id, (day, None))
        name = call.name if call is not None else result.name
        self._count(called_on, name, errors=int(result.is_error), bytes=result.size)
        if result.is_error:
            self._errors[name, error_line(result.content)] += 1
        if call is not None:
            self._compare(call, result)

    def _compare(self, call: ToolCall, result: ToolResult) -> None:
        words = "\0".join((call.name, call.arguments, result.content))
        digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._seen:
            before = self._repeats.get(digest, Repeat(call.name, _one_line(call.arguments), 0, 0))
            self._repeats[digest] = before._replace(number=before.number + 1, bytes=before.bytes + result.size)
        self._seen.add(digest)

    def _count(self, day: Day, name: str, calls: int = 0, errors: int = 0, bytes: int = 0) -> None:
        old = self.by_day.get((day, name), _NO_CALLS)
        self.by_day[day, name] = ToolCount(old.calls + calls, old.errors + errors, old.bytes + bytes)


def ending_of(message: Message) -> Ending:
    """Return how a session with this last message ended; empty if the message does not show it."""
    text = _first_text(message)
    if message.role == AI and text.startswith(_API_ERROR):
        return "api-error"
    if message.role == HUMAN and text.startswith(_INTERRUPTED):
        return "interrupted"
    return "finished" if message.role == AI and message.note in _FINISHED else ""


def _first_text(message: Message) -> str:
    return next((part.text for part in message.parts if isinstance(part, Text)), "")


def error_line(text: str) -> str:
    """Return the first line of an error without text that differs from run to run."""
    line = next((line for line in text[:4000].splitlines() if line.strip()), "")
    return _one_line(_NUMBER.sub("#", line))


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST]


def read_facts(content: bytes, expected: Sequence[str] = (), damage: Sequence[str] = ()) -> SessionFacts:
    """Raise DocumentError, in a sentence, where no chain can be read. Of a session with several chains, such as those of its
    subagents, the longest one is judged and counted; tokens and tools are those of all, each message once. `expected` names formats
    that the session is probably in, which are tried first. `damage` has a sentence for each fault that its database repaired."""
    head = content[:HEAD]
    with open_source(content) as source:
        del content  # the source has its own copy
        session = load_session(source, expected)
        if session.main.envelope.lines:
            is_valid = not session.main.envelope.warnings
            damage = (*damage, *damage_of(source.read(0, source.size), session.main.format, session.parts, is_valid=is_valid))
        return _Reading(head, source, session).facts(damage)


class _Reading:
    def __init__(self, head: bytes, source: Source, session: LoadedSession) -> None:
        self._head, self._main, self._parts = head, session.main, session.parts
        self._context = DocumentContext(session.main.envelope, source.read)
        self._unread = (*self._context.unread, *session.other_unread)
        self._contexts = [self._context, *(DocumentContext(each, source.read) for each in session.other_envelopes)]
        self._usage: dict[tuple[Day, str], TokenUsage] = {}
        self._prompts: list[int] = []
        self._times = NO_TIMES
        self._days = set[Day]()
        self._last: LastCall | None = None

    def facts(self, damage: Sequence[str]) -> SessionFacts:
        tools = ToolFacts()
        for messages in self._parts:
            self._read_messages(messages, tools)
        if not self._usage:
            for context in self._contexts:
                self._read_beside(context)
        head = read_head(self._head)
        times = self._times or times_beside(self._context)
        chain = MemoryChain(self._main.messages, self._main.format, self._context)
        request = read_request(self._context)
        provider = own_provider(chain, request)
        return SessionFacts(
            format=self._main.format,
            provider=provider.name,
            title=recorded_title(self._context) or head.title or _first_request(self._main.messages),
            project=head.project,
            model=self._model() or head.model,
            messages=len(self._main.messages),
            times=times,
            days=frozenset((self._days or _days(times)) - {""}),
            usage=self._usage,
            tools=tools.by_day,
            problems=(*_of_damage(damage), *_counted(resume_errors(provider, chain, request))),
            structure_problems=_structure_problems(chain),
            unread=tuple(dict.fromkeys(self._unread)),
            secrets=len({finding.value for message in self._messages() for finding in scan_message(message, SECRETS)}),
            errors=tools.errors(),
            repeats=tools.repeats(),
            last_call=last_call_beside(self._context) or self._last,
            growth=_points(self._prompts),
            ending=ending_of(self._main.messages[-1]) if self._main.messages else "",
        )

    def _messages(self) -> Iterator[Message]:
        return (message for messages in self._parts for message in messages)

    def _read_messages(self, messages: Sequence[Message], tools: ToolFacts) -> None:
        day = ""
        for message in messages:
            record = record_of(message)
            if record.times:
                day = _day_of(record.times.began)
                self._times |= record.times
                self._days.update((day, _day_of(record.times.ended)))
            self._count(day, record)
            tools.add(day, message)
            if record.usage is not None and messages is self._parts[0]:
                self._prompts.append(record.usage.input)
                self._last = LastCall(record.usage, None)

    def _read_beside(self, context: DocumentContext) -> None:
        """Agents such as Codex count tokens in records of their own; documents in members around the messages."""
        calls = list(calls_beside(context))
        for call in calls:
            self._count(_day(call.times) or _day(self._times), call)
        if calls and context is self._context:
            self._prompts = [call.usage.input for call in calls if call.usage]
        if not calls:
            beside = recorded_beside(context)
            for model, usage in beside.items():
                self._count(_day(self._times), Record(self._times, model, usage if any(usage) else None))

    def _count(self, day: Day, record: Record) -> None:
        if record.usage is not None:
            self._days.add(day)
            key = (day, record.model)
            self._usage[key] = self._usage.get(key, TokenUsage()) + record.usage

    def _model(self) -> str:
        """Return the model that was called most."""
        calls = Counter[str]()
        for (_, model), usage in self._usage.items():
            calls[model] += usage.calls if model else 0
        return next((model for model, _ in calls.most_common(1) if model), "")


def _day(times: Times) -> Day:
    return _day_of(times.began) if times else ""


def _days(times: Times) -> set[Day]:
    return {_day_of(times.began), _day_of(times.ended)} if times else set()


def _day_of(milliseconds: int) -> Day:
    return _nth_day(milliseconds // 86_400_000)


@lru_cache(maxsize=1024)
def _nth_day(number: int) -> Day:
    """Return a day by its number, from 0 for the first of January 1970."""
    return (date(1970, 1, 1) + timedelta(number)).isoformat()


def _first_request(messages: Iterable[Message]) -> str:
    return next(filter(None, (title_of(message) for message in messages if message.role == HUMAN)), "")


def _structure_problems(chain: MemoryChain) -> int:
    index = count = 0
    for number, section in enumerate(chain.tree.sections, 1):
        found = section_problems(section, number, index, number < len(chain.tree.sections))
        count += sum(each.severity == "error" for each in found)
        index += len(section)
    return count


def _counted(problems: Iterable[Problem]) -> tuple[ProblemCount, ...]:
    by_rule: dict[str, ProblemCount] = {}
    for each in problems:
        first = by_rule.get(each.rule, ProblemCount(each.rule, 0, each.text))
        by_rule[each.rule] = first._replace(number=first.number + 1 + each.alike)
    return tuple(sorted(by_rule.values(), key=lambda each: -each.number))


def _of_damage(damage: Sequence[str]) -> Iterator[ProblemCount]:
    if damage:
        yield ProblemCount(DAMAGED, len(damage), damage[0])


def _points(prompts: Sequence[int]) -> tuple[int, ...]:
    """Reduce the prompts to few points: the largest of each range."""
    if len(prompts) <= MOST_POINTS:
        return tuple(prompts)
    bounds = [len(prompts) * place // MOST_POINTS for place in range(MOST_POINTS + 1)]
    return tuple(max(prompts[start:end]) for start, end in pairwise(bounds))


@dataclass(frozen=True, slots=True)
class LoadedSession:
    main: LoadedChain
    """The chain with the most messages."""
    parts: Sequence[Sequence[Message]]
    """The messages of the main chain, and for each other chain those that no earlier part contains."""
    other_envelopes: Sequence[Envelope] = ()
    """The envelopes of the other chains that are separate documents; threads of one document share that of the main
    chain."""
    other_unread: Sequence[Unread] = ()
    """What was not read of the other chains."""


def load_session(source: Source, expected: Sequence[str] = ()) -> LoadedSession:
    """Raise DocumentError, in a sentence, where no chain can be read."""
    offers = offers_with_notes(source, expected=expected)
    if all(offer.found.only is not None for offer in offers):
        return _load_threads(source, offers)
    chains = [load_offer(source, offer) for offer in offers]
    main = max(chains, key=lambda each: len(each.messages))
    others = [each for each in chains if each is not main]
    parts = without_shared([main.messages, *(each.messages for each in others)])
    envelopes = [each.envelope for each in others]
    return LoadedSession(main, parts, envelopes, [unread for each in envelopes for unread in each.unread])


def _load_threads(source: Source, offers: Sequence[Offer]) -> LoadedSession:
    """Load threads, which share the lines of one file. Each line is read once."""
    likely = max(offers, key=_line_count)
    session = _load_from(source, likely, offers)
    starts = {message.source[0].start for messages in session.parts for message in messages if message.source}
    longest = max(offers, key=lambda offer: len(starts & (offer.found.only or starts)))
    return session if longest is likely else _load_from(source, longest, offers)


def _load_from(source: Source, first: Offer, offers: Sequence[Offer]) -> LoadedSession:
    """Load the first thread, and of each other one the messages in lines that no thread before it has."""
    main = load_offer(source, first)
    seen = first.found.only or frozenset()
    readers: list[ChainReader] = []
    for offer in offers:
        if own := (offer.found.only or frozenset()) - seen:
            seen |= own
            readers.append(read_chain(source, replace(offer.found, only=own).without_others(), offer.formats[0]))
    parts = [main.messages, *map(tuple, readers)]
    return LoadedSession(main, parts, (), [unread for reader in readers for unread in reader.envelope.unread])


def _line_count(offer: Offer) -> int:
    return len(offer.found.only or ())


FACTS_EDITION = 5
"""If this changes, stored facts are read again."""
