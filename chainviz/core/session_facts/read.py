"""Read a session once, each message once, for everything that lists and sums show of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from itertools import pairwise

from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import HUMAN, Message
from chainviz.core.chain.problems import Problem, section_problems
from chainviz.core.chain.surroundings import Unread
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.units import Envelope
from chainviz.core.formats.offers import Offer
from chainviz.core.formats.reader import read_chain
from chainviz.core.load import LoadedChain, load_offer, offers_with_notes, without_shared
from chainviz.core.operations.repair.goal import resume_errors
from chainviz.core.own_provider import own_provider
from chainviz.core.providers.request import request_of as read_request
from chainviz.core.secrets import SECRETS, scan_message
from chainviz.core.session_facts.facts import DAMAGED, MOST_POINTS, Day, ProblemCount, SessionFacts, ToolFacts, ending_of
from chainviz.core.session_records.damage import damage_of
from chainviz.core.sources.head import HEAD, read_head
from chainviz.core.usage.document_usage import last_call_beside, recorded_beside, recorded_title, request_of
from chainviz.core.usage.recorded import LastCall, TokenUsage
from chainviz.core.usage.times import NO_TIMES, Record, Times, calls_beside, record_of, times_beside


def read_facts(content: bytes, expected: Sequence[str] = (), damage: Sequence[str] = ()) -> SessionFacts:
    """Raise DocumentError, in a sentence, where no chain can be read. Of a session with several chains, such as those of its
    subagents, the longest one is judged and counted; tokens and tools are those of all, each message once. `expected` names formats
    that the session is probably in, which are tried first. `damage` has a sentence for each fault that its database repaired."""
    head = content[:HEAD]
    with open_source(content) as source:
        del content  # the source has its own copy
        session = load_session(source, expected)
        if session.main.envelope.lines:
            damage = (*damage, *damage_of(source.read(0, source.size), session.main.format, session.parts))
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
            self._times |= record.times
            self._days |= _days(record.times)
            day = _day(record.times) or day
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
    return next(filter(None, (request_of(message) for message in messages if message.role == HUMAN)), "")


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
    """Load threads, which share the lines of one file: of all but the longest one only the messages, from their own lines."""
    likely = max(offers, key=lambda offer: len(offer.found.only or ()))
    main = load_offer(source, likely)
    others = [place for place, offer in enumerate(offers) if offer is not likely]
    readers = {place: read_chain(source, offers[place].found.without_others(), offers[place].formats[0]) for place in others}
    threads = [tuple(readers[place]) if place in readers else main.messages for place in range(len(offers))]
    longest = max(range(len(offers)), key=lambda number: len(threads[number]))
    if offers[longest] is not likely:
        main = load_offer(source, offers[longest])
    unread = [unread for place, reader in readers.items() if place != longest for unread in reader.envelope.unread]
    return LoadedSession(main, without_shared([main.messages, *threads[:longest], *threads[longest + 1 :]]), (), unread)
