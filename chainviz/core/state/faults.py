"""Check a file that should be a state document, report its problem with the place, and recover its readable messages.

Nothing is discarded; a person decides. goaitools discards a state that it cannot read and overwrites it at the next append.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from chainviz.core.documents.detection.recognition import peek
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Array
from chainviz.core.documents.json.scan import in_words
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.formats import get_format
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState
from chainviz.core.formats.offers import Offer, look
from chainviz.core.state.document import DIALECTS, VERSION, State, dialect_of


class Fault(StrEnum):
    """The reasons why goaitools discards a state, in the order of its checks."""

    INVALID_JSON = "invalid_json"
    UNSUPPORTED_VERSION = "unsupported_version"
    PROVIDER_MISMATCH = "provider_mismatch"
    CORRUPTED_MESSAGE = "corrupted_message"


EVENTS = {
    Fault.INVALID_JSON: "invalid_conversation_state",
    Fault.UNSUPPORTED_VERSION: "unsupported_state_version",
    Fault.PROVIDER_MISMATCH: "provider_mismatch",
    Fault.CORRUPTED_MESSAGE: "message_unmarshal_failed",
}
"""The event that goaitools logs for each fault."""

Check = Literal["passed", "failed", "not checked"]
NOTHING_FOUND = State("")


@dataclass(frozen=True, slots=True)
class StateProblem:
    fault: Fault
    text: str
    """One sentence for a person, without its place."""
    line: int
    column: int
    """Line and column count from 1; columns count characters."""
    message: int | None = None
    """Index of the first corrupted message."""

    def __str__(self) -> str:
        return f"Line {self.line}, column {self.column}: {self.text}"


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file that should be a state document, its state and its problem, if any."""

    content: bytes
    """The unchanged bytes of the file."""
    problem: StateProblem | None = None
    found: State = NOTHING_FOUND
    """The state in the file, including corrupted messages; without messages if the JSON is invalid."""
    version: int | None = None

    def opened(self) -> State | None:
        """Return the state for a call, an append or an export; None for an empty file, which is a new conversation.

        Raises Refused if the file has a problem. Use `salvage` to resolve it.
        """
        if self.problem is not None:
            raise Refused(f"{self.problem} Resolve this first; nothing is overwritten.")
        return self.found if self.content else None

    @property
    def checks(self) -> tuple[tuple[Fault, Check], ...]:
        """Return all checks in order. Checks after the first failed one are not done."""
        order = list(Fault)
        at = order.index(self.problem.fault) if self.problem else len(order)
        return tuple((fault, "passed" if place < at else "failed" if place == at else "not checked") for place, fault in enumerate(order))


def read_state(content: bytes, provider: str = "", *, reference: bool = False) -> StateFile:
    """Check a state document.

    `provider` is the one chosen for an append or export; "" accepts every known one. With `reference`, a message whose content is a
    list of parts counts as corrupted, as in goaitools.
    """
    if not content:
        return StateFile(content)
    text = content.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        return _broken(content, text, f"{in_words(error.msg)}.", error.pos)
    except (ValueError, RecursionError):
        return _broken(content, text, "values are nested too deep, or a number is too long.", 0)
    members = _known_members(value)
    problem = (
        _wrong_types(value, text)
        or _wrong_version(members.get("version"), text)
        or _wrong_provider(members.get("provider", ""), provider, text)
        or _corrupted(members.get("messages", []), text, reference=reference)
    )
    return StateFile(content, problem, _partial_state(text, members), members.get("version"))


def _broken(content: bytes, text: str, words: str, position: int) -> StateFile:
    """Return a file with invalid JSON and its readable state. The state has messages only if text follows a complete document."""
    try:
        document = text[:position]
        members = _known_members(json.loads(document))
        found = _partial_state(document, members)
    except (ValueError, RecursionError):
        members = _known_members(peek(text, text.find("{"))) if "{" in text else {}
        found = State(members.get("provider", ""), (), members.get("processed_length", 0))
    return StateFile(content, _problem(Fault.INVALID_JSON, words, text, position), found, members.get("version"))


def _partial_state(text: str, members: dict[str, Any]) -> State:
    if not text.lstrip().startswith("{"):
        return State("")
    document = json_edit.load_object(text)
    messages: tuple[str, ...] = ()
    if members.get("messages"):
        array = document.child("messages")
        assert isinstance(array, Array)
        messages = tuple(array.raw(place) for place in range(len(array)))
    others = tuple((key, document.raw(key)) for key in dict.fromkeys(document.keys) if key not in TYPES)
    return State(members.get("provider", ""), messages, members.get("processed_length", 0), others)


TYPES: dict[str, tuple[type, str]] = {
    "version": (int, "a whole number"),
    "provider": (str, "a text"),
    "processed_length": (int, "a whole number"),
    "messages": (list, "a list"),
}


def _known_members(value: Any) -> dict[str, Any]:
    """Return the members that have the expected type."""
    members = value if isinstance(value, dict) else {}
    return {key: members[key] for key, (kind, _) in TYPES.items() if type(members.get(key)) is kind}


def _problem(fault: Fault, words: str, text: str, position: int, message: int | None = None) -> StateProblem:
    line = text.count("\n", 0, position) + 1
    return StateProblem(fault, words, line, position - text.rfind("\n", 0, position), message)


def _at(text: str, *pointer: str | int) -> int:
    """Return the position of a value; 0, the start of the document, if there is none."""
    found = json_edit.span_of(text, pointer)
    return found[0] if found else 0


def _wrong_types(value: Any, text: str) -> StateProblem | None:
    """Return the problem of JSON that is not a state document, which goaitools also calls invalid. A null member counts as missing."""
    if value is None:
        return None
    if not isinstance(value, dict):
        words = f"a state document must be an object, not {kind_of(value)}."
        return _problem(Fault.INVALID_JSON, words, text, _at(text))
    for key, (kind, wanted) in TYPES.items():
        if value.get(key) is not None and type(value[key]) is not kind:
            words = f"`{key}` is {kind_of(value[key])}; {wanted} is expected."
            return _problem(Fault.INVALID_JSON, words, text, _at(text, key))
    return None


def _wrong_version(version: int | None, text: str) -> StateProblem | None:
    if version == VERSION:
        return None
    state = "is missing" if version is None else f"is {version}"
    words = f"`version` {state}; this version of chainviz reads version {VERSION}."
    return _problem(Fault.UNSUPPORTED_VERSION, words, text, _at(text, "version"))


def _wrong_provider(found: str, chosen: str, text: str) -> StateProblem | None:
    """Return the problem of a provider that is missing, unknown or not the chosen one. Names must match exactly."""
    if found in DIALECTS and chosen in ("", found):
        return None
    if not found:
        words = "`provider` is missing."
    elif found not in DIALECTS:
        words = f"`provider` is “{found[:40]}”, which is unknown; chainviz knows {' and '.join(DIALECTS)}."
    else:
        words = f"`provider` is {found}, not {chosen}; names must match exactly."
    return _problem(Fault.PROVIDER_MISMATCH, words, text, _at(text, "provider"))


def _corrupted(messages: list[Any], text: str, *, reference: bool) -> StateProblem | None:
    for place, message in enumerate(messages):
        words = fault_of(message, content_parts=not reference)
        if words:
            position = _at(text, "messages", place)
            return _problem(Fault.CORRUPTED_MESSAGE, f"messages[{place}]: {words}", text, position, place)
    return None


def fault_of(message: Any, *, content_parts: bool = True) -> str:
    """Return the reason why a message cannot be read; "" if it can."""
    if not isinstance(message, dict):
        return f"it is {kind_of(message)}; an object is expected."
    if not isinstance(message.get("role"), str):
        return f"`role` is {'missing' if message.get('role') is None else kind_of(message['role'])}; a text is expected."
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list) if content_parts else str):
        return f"`content` is {kind_of(content)}; a text{', a list of parts' if content_parts else ''} or null is expected."
    calls = message.get("tool_calls")
    return "" if calls is None or isinstance(calls, list) else f"`tool_calls` is {kind_of(calls)}; a list is expected."


def kind_of(value: Any) -> str:
    """Name the type of a JSON value in words."""
    if value is None:
        return "null"
    words: dict[type, str] = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return words.get(type(value), "a number")


@dataclass(frozen=True, slots=True)
class Gap:
    """A message that could not be read."""

    place: int
    """The index of the message in the document, from 0."""
    reason: str
    text: str
    """The text of the message in the document."""


@dataclass(frozen=True, slots=True)
class Salvaged:
    state: State
    gaps: tuple[Gap, ...] = ()


def salvage(file: StateFile, provider: str = "") -> Salvaged:
    """Return the readable messages as a state of `provider`, or of the provider that the document names.

    processed_length is reduced by the unreadable messages that it counted. Raises Refused if neither provider is known.
    """
    provider = provider or file.found.provider
    dialect_of(provider)
    is_cut = file.problem is not None and file.problem.fault is Fault.INVALID_JSON and not file.found.messages
    found = _complete_messages(file.content) if is_cut else file.found.messages
    gaps = tuple(Gap(place, reason, text) for place, text in enumerate(found) if (reason := fault_of(json_edit.parse(text))))
    gone = {gap.place for gap in gaps}
    readable = tuple(text for place, text in enumerate(found) if place not in gone)
    seen = file.found.processed_length - sum(place < file.found.processed_length for place in gone)
    return Salvaged(State(provider, readable, seen, file.found.others), gaps)


def _complete_messages(content: bytes) -> tuple[str, ...]:
    """Return the messages before the fault in the JSON."""
    try:
        with open_source(content) as source:
            found = look(source, get_format("goaitools_state"), salvage=True).lists[0]
            return tuple(unit.text for unit in UnitReader(source, found, salvage=True))
    except DocumentError:
        return ()


MOST_BYTES = 32_000_000
"""The largest file that is checked, in bytes, because the checks keep the whole document in memory."""
MOST_NOTED = 20


def is_state_file(source: Source, offers: Sequence[Offer]) -> bool:
    """Return True if the file is a single state document of at most MOST_BYTES."""
    return len(offers) == 1 and isinstance(offers[0].formats[0], GoaitoolsState) and source.size <= MOST_BYTES


def with_state_notes(source: Source, offers: Sequence[Offer]) -> list[Offer]:
    """Return the offers, with a note for each fault of a state document."""
    found = list(offers)
    for note in _notes(read_state(source.read(0, source.size))) if is_state_file(source, offers) else ():
        found = [offer.noted(note) for offer in found]
    return found


def _notes(file: StateFile) -> Iterator[str]:
    if file.problem and file.problem.fault is not Fault.CORRUPTED_MESSAGE:
        yield str(file.problem)
    gaps = salvage_any(file).gaps
    yield from (f"messages[{gap.place}] is not shown: {gap.reason} It stays in the file." for gap in gaps[:MOST_NOTED])
    if len(gaps) > MOST_NOTED:
        yield f"{len(gaps) - MOST_NOTED:,} more messages are not shown."


def salvage_any(file: StateFile) -> Salvaged:
    """Salvage a document. Messages of an unknown provider are read like those of the first known provider."""
    try:
        return salvage(file)
    except Refused:
        return salvage(file, next(iter(DIALECTS)))
