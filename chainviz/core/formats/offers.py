"""Decide which chains a file contains and in which formats each can be read. Web, command line and Python API all use this."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from chainviz.core.chain.surroundings import MOST_PLACES, Unread, UnreadPlace
from chainviz.core.dialects.api_errors import what_came_instead
from chainviz.core.dialects.values import string_of
from chainviz.core.documents.detection.detect import Survey, empty_list, survey
from chainviz.core.documents.detection.json_lines import has_lines, is_json
from chainviz.core.documents.detection.recognition import SNIFF, peek, take_sample
from chainviz.core.documents.json.scan import fault_in
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Pointer, Span
from chainviz.core.errors import DocumentError
from chainviz.core.formats import FORMATS, RECOGNITION, detect, get_format, recognition_of
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import ChainReader, read_chain, reads_nothing, share_read, unread_fields
from chainviz.core.formats.streams import Stream, events, is_sse

LIKELY = 0.25
"""The least confidence in a format; if the best format has less, the list is not offered."""
SURE, AHEAD = 0.5, 0.05
"""A format is chosen without a question if its confidence is at least SURE and exceeds that of the next format by AHEAD."""
LOOKED_AT = 1 << 26
"""The largest file, in bytes, whose lines are checked one by one."""
LOOKED_INTO = 100
"""The number of lists in a file whose first messages are read to check that their format understands them."""
FAR_AHEAD = 0.3
"""A format below SURE is chosen without a question if its confidence exceeds that of the next format by this much."""
MOST, ENOUGH = 0.9, 0.4
"""A format that reads MOST of a list is chosen without trying others; one that reads less than ENOUGH is not offered."""
BETTER = 0.2
"""How much more of a list another format must read to be preferred, as a share of the list."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One message list of a file, and its possible formats, best first."""

    found: FoundList
    formats: tuple[Format, ...]
    is_certain: bool
    """The first format is taken without a question."""
    salvage: bool = False
    earlier: tuple[Offer, ...] = ()
    """Lists of the same file with earlier states of the chain, oldest first. They become its first versions."""
    judge: ChainReader | None = field(default=None, compare=False, repr=False)
    """The reader by which the first format was judged; it has read the beginning of the list."""

    def read(self, source: Source) -> ChainReader:
        """Return a reader of the chain, without reading its beginning again where possible."""
        judge, format = self.judge, self.formats[0]
        can_go_on = judge is not None and judge.format is format and judge.source is source and not judge.is_used
        if judge is not None and can_go_on and not self.salvage:
            return judge.with_notes_of(self.found)
        return read_chain(source, self.found, format, salvage=self.salvage)

    def read_as(self, name: str) -> Offer:
        """Return the offer in a format that a person chose; unchanged for ""."""
        return replace(self, formats=(get_format(name),), is_certain=True) if name else self

    def noted(self, sentence: str) -> Offer:
        """Return the offer with a note about the file."""
        return replace(self, found=replace(self.found, warnings=(*self.found.warnings, sentence)))


def offers_of(source: Source, format: str = "", *, salvage: bool = False, expected: Sequence[str] = ()) -> list[Offer]:
    """Return an offer for every message list of the file. `format` overrides detection; "raw" reads any text as one message.
    `expected` names formats that the file is probably in: a log that is clearly in one of them is not compared with all formats.

    With `salvage`, a list that breaks off is offered up to that point. Raises DocumentError if the file has no message list in a
    known format.
    """
    evident = (_offers_of_log(source, each) for each in FORMATS if each.name in expected)
    if offers := next(filter(None, evident), []):
        return [_with_notes(source, offer, number) for number, offer in enumerate(offers)]
    chosen = get_format(format) if format else None
    lists = _lists(source, chosen, salvage)
    offers = _offers_of_threads(source, lists, chosen) or _offers_of_lists(source, lists, chosen)
    if chosen is None and len(lists) == 1 and _has_no_content(source, lists[0]):
        refuse_without_answer(source)
    if not offers:
        refuse_kind(source)
        _refuse_unread(source, lists)
        where = f" at {lists[0].title}" if lists[0].title else ""
        raise DocumentError(
            f"The list of messages{where} is in no known format{_types_in(lists[0])}; choose one, or keep the file as raw text.", raw=True
        )
    offers = [replace(offer, salvage=salvage) for offer in offers]
    offered = {id(offer.found) for offer in offers}
    left = [found for found in lists if id(found) not in offered]
    for sentence in _notes_of_faults(source, left):
        offers[0] = offers[0].noted(sentence)
    names: dict[Pointer, list[str]] = defaultdict(list)
    for pointer in (found.pointer for found in lists):
        if pointer and isinstance(pointer[-1], str):
            names[pointer[:-1]].append(pointer[-1])
    offers = [replace(offer, found=_beside_more(offer.found, names)) for offer in offers]
    return [_with_notes(source, offer, number) for number, offer in enumerate(offers)]


def _offers_of_log(source: Source, format: Format) -> list[Offer]:
    """Return the offers of a JSON Lines file in one format; [] for any other file, and unless the format has the confidence MOST and
    reads MOST of the file."""
    try:
        lists = look(source, format).lists
    except DocumentError:
        return []
    first = lists[0]
    if not first.lines or first.raw or format.confidence(first.sample) < MOST:
        return []
    judged = _Judged.of(source, first, format, MOST)
    if reads_nothing(judged.reader, first) or share_read(judged.reader, first) < MOST:
        return []
    offer = Offer(first, (format,), is_certain=True, judge=judged.kept)
    return [offer] if len(lists) == 1 else _with_threads(source, offer, lists, is_chosen=False) if _are_threads(lists) else []


def _offers_of_lists(source: Source, lists: Sequence[FoundList], chosen: Format | None) -> list[Offer]:
    looked_into = [source if number < LOOKED_INTO else None for number in range(len(lists))]
    first = [_offer(look_into, found, chosen) for look_into, found in zip(looked_into, lists, strict=True)]
    trusted = frozenset(offer.formats[0].name for offer in first if offer is not None)
    again = zip(looked_into, lists, first, strict=True)
    return [offer for look_into, found, old in again if (offer := old or _offer(look_into, found, chosen, trusted))]


def _offers_of_threads(source: Source, lists: Sequence[FoundList], chosen: Format | None) -> list[Offer]:
    """Return offers in the format of the first list, if all lists are threads of one file. Returns [] for other lists, or if the
    first one is not offered."""
    first = _offer(source, lists[0], chosen) if _are_threads(lists) else None
    return [] if first is None else _with_threads(source, first, lists, is_chosen=chosen is not None)


def _are_threads(lists: Sequence[FoundList]) -> bool:
    return len(lists) > 1 and all(found.only is not None for found in lists)


def _with_threads(source: Source, first: Offer, lists: Sequence[FoundList], *, is_chosen: bool) -> list[Offer]:
    """Return the offer of the first thread, and those of the others; without `is_chosen`, only of threads that the format can read."""
    others = (replace(first, found=found, judge=None) for found in lists[1:])
    return [first, *(each for each in others if is_chosen or not reads_nothing(_judge(source, each.found, first.formats[0]), each.found))]


def _beside_more(found: FoundList, names: Mapping[Pointer, Sequence[str]]) -> FoundList:
    """Return the list, marked as not fully read if its object has more messages under a longer name that begins with its own."""
    own = str(found.pointer[-1]) if found.pointer else ""
    longer = [name for name in names.get(found.pointer[:-1], ()) if own and name != own and name.startswith(own)]
    return replace(found, unread=(*found.unread, *(Unread("list", name, 1) for name in longer))) if longer else found


def _has_no_content(source: Source, found: FoundList) -> bool:
    """Return True if a list is a single message with nothing but a role, or a recorded stream without content."""
    first, *others = found.sample.values or ("",)
    if isinstance(first, dict):
        return not others and {key for key, value in first.items() if value} <= {"role"}
    ranked = detect(found.sample)
    return bool(ranked) and isinstance(ranked[0][0], Stream) and not any(each.parts for each in read_chain(source, found, ranked[0][0]))


def _types_in(found: FoundList) -> str:
    """Return the end of a sentence that names the types of a list's records; "" if they have none."""
    named = ((key, string_of(value, key)) for value in found.sample.values for key in ("type", "role", "kind", "event"))
    names = list(dict.fromkeys(f"“{name[:30]}”" for key, name in named if name))[:4]
    return f": its records have the types {', '.join(names)}" if names else ""


def _notes_of_faults(source: Source, left: Sequence[FoundList]) -> Iterator[str]:
    faults = [fault_in(source, found.region) if number < LOOKED_INTO else "" for number, found in enumerate(left)]
    broken = [fault for fault in faults if fault]
    if broken:
        were = "the list is" if len(broken) == 1 else f"this list and {len(broken) - 1:,} more broken ones are"
        yield f"{broken[0]}; {were} left out."
    unknown = [found for found, fault in zip(left, faults, strict=True) if not fault]
    if unknown:
        were = "1 list is" if len(unknown) == 1 else f"{len(unknown)} lists are"
        which = unknown[0].title or "the start of the file"
        first = f"at {which}" if len(unknown) == 1 else f"the first at {which}"
        yield f"{were} in no known format and left out, {first}."


def _with_notes(source: Source, offer: Offer, number: int) -> Offer:
    """Return the offer with the notice of its file and the fields that its format does not read."""
    judge = offer.judge or _judge(source, offer.found, offer.formats[0])
    missed = tuple(unread_fields(judge, offer.found)) if number < LOOKED_INTO else ()
    if missed:
        offer = replace(offer, found=replace(offer.found, unread=(*offer.found.unread, *missed)))
    return offer.noted(source.notice) if source.notice else offer


def _lists(source: Source, chosen: Format | None, salvage: bool) -> tuple[FoundList, ...]:
    try:
        return look(source, chosen, salvage=salvage).lists
    except DocumentError as error:
        if not error.fault.what:
            refuse_kind(source)
        raise


def look(source: Source, chosen: Format | None = None, *, salvage: bool = False) -> Survey:
    """Find the message lists of a file. Formats that are not JSON find their own; with `chosen`, only that format is tried."""
    for format in (chosen,) if chosen else FORMATS:
        lists = format.find(source)
        if lists and (chosen or format.confidence(lists[0].sample) >= LIKELY):
            return Survey(tuple(_with_broken_lines(source, lists)), lines=True)
    if chosen is None:
        return survey(source, RECOGNITION, salvage=salvage)
    if (log := _whole_log(source, chosen)) is not None:
        return Survey((log,), lines=True)
    nothing = empty_list(source)
    if nothing is not None:
        return Survey((nothing,))
    try:
        return survey(source, recognition_of((chosen,)), salvage=salvage)
    except DocumentError:
        # a format may read messages that it does not recognize automatically
        return survey(source, RECOGNITION, salvage=salvage)


def _whole_log(source: Source, format: Format) -> FoundList | None:
    """Return all lines of a file as one log, if its first lines are clearly records of the format; None for any other file. Each line is
    then not searched for lists of messages."""
    start = 3 if source.bom else 0
    if not format.lines or source.read(start, start + 1) != b"{" or not has_lines(source, start):
        return None
    found = FoundList((), "", Span(0, source.size), start, source.size, lines=True)
    found = replace(found, sample=take_sample(source, found, is_message=format.is_message))
    return found if format.confidence(found.sample) >= MOST else None


def _by_understanding(found: FoundList, likely: list[_Judged], trusted: Container[str]) -> list[_Judged]:
    """Return the likely formats. If the first does not read most of the list, a format that reads clearly more comes first. Returns
    none if no format reads enough, unless other lists of the file are in the first format."""
    if not likely or (first := share_read(likely[0].reader, found)) >= MOST:
        return likely
    shares = [first, *(share_read(each.reader, found) for each in likely[1:])]
    best = max(range(len(likely)), key=lambda place: (shares[place] >= first + BETTER, shares[place]))
    if shares[best] >= first + BETTER:
        likely = [likely[best], *likely[:best], *likely[best + 1 :]]
        first = shares[best]
    return likely if first >= ENOUGH or likely[0].format.name in trusted else []


def _refuse_unread(source: Source, lists: Sequence[FoundList]) -> None:
    """Raise DocumentError for lists that look like a format which can read little or nothing of them."""
    for found in lists:
        for format, confidence in detect(found.sample)[:1]:
            if confidence >= LIKELY:
                little = "none of its messages" if reads_nothing(_judge(source, found, format), found) else "only little of it"
                raise DocumentError(
                    f"This looks like the format “{format.label}”, but {little} can be read; choose another format, or keep the file as "
                    "raw text.",
                    raw=True,
                )


def _offer(source: Source | None, found: FoundList, chosen: Format | None, trusted: Container[str] = ()) -> Offer | None:
    """Return the offer of a list; None if no format is likely. With `source`, a format that reads little of the list is not offered,
    unless its name is in `trusted`."""
    if chosen is not None:
        return Offer(found, (chosen,), is_certain=True)
    ranked = detect(found.sample)
    judge = None
    if source is not None:
        judged = [_Judged.of(source, found, format, rate) for format, rate in ranked if rate >= LIKELY]
        likely = _by_understanding(found, [each for each in judged if not reads_nothing(each.reader, found)], trusted)
        ranked, judge = [(each.format, each.confidence) for each in likely], likely[0].kept if likely else None
    if not ranked or ranked[0][1] < LIKELY:
        return None
    ahead = ranked[0][1] - ranked[1][1] if len(ranked) > 1 else 1.0
    is_certain = ahead >= (AHEAD if ranked[0][1] >= SURE else FAR_AHEAD)
    return Offer(found, tuple(format for format, _ in ranked), is_certain, judge=judge)


LONG = 8_000_000
"""The size in bytes from which the beginning of a list is read again rather than kept, since its messages may be very long."""


class _Judged(NamedTuple):
    """A format that a list may be in."""

    source: Source
    found: FoundList
    format: Format
    confidence: float
    kept: ChainReader | None

    @classmethod
    def of(cls, source: Source, found: FoundList, format: Format, confidence: float) -> _Judged:
        is_long = found.region.end - found.region.start > LONG
        return cls(source, found, format, confidence, None if is_long else read_chain(source, found, format))

    @property
    def reader(self) -> ChainReader:
        return self.kept or _judge(self.source, self.found, self.format)


def _judge(source: Source, found: FoundList, format: Format) -> ChainReader:
    return read_chain(source, found.without_others(), format)


def _with_broken_lines(source: Source, lists: Sequence[FoundList]) -> Iterator[FoundList]:
    """Yield the lists of a JSON Lines file, with its truncated or broken lines marked as unread."""
    is_text = all(found.raw for found in lists) and source.size <= LOOKED_AT and source.read(0, 1) == b"{"
    lines = source.read(0, source.size).splitlines() if is_text else []
    broken = [number for number, line in enumerate(lines, 1) if line and not is_json(line)]
    if len(broken) == len(lines) or not all(line.startswith(b"{") for line in lines if line):
        broken = []
    if not broken:
        return iter(lists)
    places = tuple(UnreadPlace(number - 1, number) for number in broken[:MOST_PLACES])
    unread = Unread("record", "", len(broken), places)
    return (replace(found, unread=(*found.unread, unread)) for found in lists)


# Files that people mistake for transcripts are recognized by members of the document or its first element, or by their first lines.


_KINDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("an OpenTelemetry trace without recorded messages", ("resourceSpans",)),
    ("a trace without recorded messages", ("traceId", "spanId")),
    ("a LangSmith run without messages that can be read", ("run_type", "inputs")),
    ("a Langfuse trace without messages that can be read", ("observations", "id")),
    ("the list of what Cline or Roo showed (its chain is in api_conversation_history.json)", ("ts", "type", "say")),
    ("a list of prompts that were typed into Gemini CLI", ("sessionId", "messageId", "message")),
    ("a list of prompts that were typed into Claude Code", ("display", "pastedContents")),
    ("a summary of a Claude Code session, without the session", ("summary", "leafUuid")),
    ("what “codex exec --json” printed (its chain is in the rollout file under ~/.codex/sessions)", ("type", "thread_id")),
    ("a promptfoo evaluation whose prompts are plain texts", ("evalId", "results")),
    ("a part of an opencode message (“opencode export” writes the whole session)", ("sessionID", "messageID", "type")),
    ("a message of opencode without its parts (“opencode export” writes the whole session)", ("sessionID", "role", "time")),
    ("a VS Code chat without requests", ("kind", "v")),
    ("a list of training examples (prompt and completion)", ("prompt", "completion")),
    ("a list of training examples (instruction and output)", ("instruction", "output")),
    ("an OpenAPI description", ("openapi", "paths")),
    ("a JSON Schema", ("$schema",)),
    ("a JSON Schema", ("type", "properties")),
    ("a Jupyter notebook", ("nbformat", "cells")),
    ("a package description", ("name", "version", "dependencies")),
    ("a package description", ("lockfileVersion", "packages")),
    ("a list of tool definitions", ("name", "description", "parameters")),
    ("a list of tool definitions", ("name", "description", "input_schema")),
    ("a list of tool definitions", ("type", "function")),
    ("an OpenHands evaluation run without recorded events", ("history", "git_patch")),
    ("an OpenHands evaluation run without recorded events", ("history", "metadata")),
    ("an OpenHands evaluation run without recorded events", ("instance_id", "test_result")),
    ("an export of Open WebUI without messages", ("chat", "title", "user_id")),
    ("a list of agent tasks", ("id", "user_scenario")),
    ("a list of agent tasks", ("id", "evaluation_criteria")),
    ("a list of agent tasks", ("instance_id", "problem_statement")),
    ("a list of predictions", ("instance_id", "model_patch")),
    ("an embedding", ("embedding",)),
    ("a list of embeddings", ("embeddings",)),
    ("an uploaded file's record", ("object", "filename", "bytes")),
    ("a transcription of audio", ("text", "segments")),
    ("a transcription of audio", ("text", "languageCode")),
    ("a count of tokens", ("input_tokens",)),
    ("a count of tokens", ("totalTokens",)),
    ("a generated image", ("b64_json",)),
    ("evaluation scores", ("scores",)),
    ("evaluation scores", ("metrics",)),
    ("evaluation scores", ("accuracy",)),
    ("evaluation scores", ("score",)),
    ("a log of HTTP requests", ("log", "entries")),
    ("a log of HTTP requests", ("method", "url")),
    ("a log of HTTP requests", ("request", "response")),
    ("a configuration", ("model", "temperature")),
    ("a configuration", ("config",)),
    ("a configuration", ("settings",)),
)
"""Kinds of files, each with the members that identify it. The first match wins."""
_HOLDERS = ("data", "items", "results", "tools", "models")
"""Members that are lists; their first element shows the kind of the document."""
_TEXTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a stream of events from a provider", re.compile(r"(?:event|data|id): ?\S")),
    ("a patch", re.compile(r"(?:diff --git |--- \S.*\n\+\+\+ )")),
    ("a Python traceback", re.compile(r"Traceback \(most recent call last\)")),
    ("source code", re.compile(r"(?:#!|import \w|from [\w.]+ import |package \w+|const \w+ =|def \w+\()")),
    ("YAML", re.compile(r"(?:---\s*\n)?(?:- )?[\w.-]+:(?: .*)?\n(?:\s*(?:- )?[\w.\"'-]+:|\s*- )")),
    ("a table of comma-separated values", re.compile(r"[^,\n{}]+(?:,[^,\n{}]*){2,}\n[^\n]*,")),
    ("Markdown", re.compile(r"(?:#{1,6} \S|\*\*\S|```)")),
    ("a log", re.compile(r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d")),
)
HEAD = 1 << 12
"""Number of characters at the start of a text that identify its kind."""


def refuse_kind(source: Source) -> None:
    """Raise DocumentError with the kind of the file, if it is known."""
    refuse_without_answer(source)
    text = _beginning(source)
    value = peek(text) if text[:1] in ("{", "[") else None
    if value is None:
        name = next((name for name, form in _TEXTS if form.match(text[:HEAD])), "")
    else:
        inner = [value[key] for key in _HOLDERS if value.get(key)] if isinstance(value, dict) else []
        name = next(filter(None, (_kind(each) for each in (value, *inner))), "")
    _refuse(name)


def refuse_without_answer(source: Source) -> None:
    """Raise DocumentError with the provider's error if the file is an error response instead of an answer."""
    text = _beginning(source)
    values = [event.value for event in events(text)] if text.startswith(("{", "[")) or is_sse(text) else []
    # the last event tells how the stream ended
    _refuse(next(filter(None, map(what_came_instead, reversed(values))), ""))


def _beginning(source: Source) -> str:
    return source.text(3 if source.bom else 0, SNIFF).lstrip()


def _refuse(name: str) -> None:
    if name:
        raise DocumentError(f"This is {name}: it holds no chain; upload a transcript, or keep the file as raw text.", raw=True)


def _kind(value: object) -> str:
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return ""
    return next((name for name, keys in _KINDS if all(first.get(key) is not None for key in keys)), "")
