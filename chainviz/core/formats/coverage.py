"""Measure how much of a chain's document its format reads. A record or text counts as unread if no message shows it, unless the
format knows that it does not belong to the conversation.

A text counts as shown if a part of the record's messages contains it. Texts in known fields, and short words such as ids and
dates, are never unread. If a part is empty, though, every unknown field of its record counts as unread, because it may contain
what the part lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SLOT,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_known,
)
from chainviz.core.chain.surroundings import MOST_NAMES, MOST_PLACES, Unread, UnreadKind, UnreadPlace
from chainviz.core.dialects.values import data_url, encode_base64, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import LIST_STEP, Unit
from chainviz.core.formats.contract import Format
from chainviz.core.formats.misspelt_names import is_right, misspelt_names

ROLES = frozenset((SYSTEM, HUMAN, AI, TOOL))
ROLE_WORDS = frozenset(("system", "developer", "user", "human", "assistant", "ai", "model", "tool", "function"))
READ_KINDS = frozenset(
    ("text", "input_text", "output_text", "tool_use", "tool_result", "tool_call", "tool-call", "tool-result", "tool_response",
     "toolCall", "toolResult", "toolUse", "functionCall", "functionResponse", "function_call", "function_call_output",
     "function_result", "thinking", "content", "part", "value", "message", "")
)  # fmt: skip
"""Types that are a text, a call or a result in some format. An opaque part of such a type was not read."""
CONTENT_FIELDS = frozenset(("text", "content", "contents", "parts", "arguments", "args", "thinking", "reasoning_content", "thoughts"))
"""Names of the fields with the contents of messages and calls."""
ARGUMENTS = ("arguments", "args", "input", "parameters")
"""Names of the field with the arguments of a call."""
INSTRUCTIONS = frozenset((
    "system", "systemInstruction", "system_instruction", "system_prompt", "systemPrompt", "system_message", "instructions",
    "developer_instructions", "base_instructions", "user_instructions", "preamble",
))  # fmt: skip
MISSPELT = 0.85
"""The least similarity of a misspelt name to that of an instruction field."""
_ABOUT = re.compile(r"(?:id|hash|version|name|type|length|tokens|path|file|mode)$", re.IGNORECASE)
"""Endings of names of fields that describe instructions but do not contain them."""
STRANGE = 0.25
"""The weight of an unknown record, where a message has the weight 1."""
LEAST = 4
"""The shortest shown text, in characters, by which a longer text that contains it counts as shown. Some formats split texts."""


def is_shown(message: Message, format: Format) -> bool:
    """Return True if the parts of a message show all content of its units, regardless of its role. If it shares a unit with other
    messages, only its own parts are checked."""
    if not message.source:
        return True
    coverage = Coverage(format)
    for fragment in message.source:
        if fragment.blocks is None and fragment.ordinal != SLOT:
            with suppress(ValueError, RecursionError):
                coverage.expect(Unit(fragment.ordinal, "", fragment.text, json_edit.parse(fragment.text), -1))
    coverage.show(message)
    is_known = all(is_known_part(part, format) for part in message.parts)
    return is_known and all(each.kind == "role" for each in coverage.unread)


def _is_known(message: Message, format: Format) -> bool:
    roles = message.role in ROLES or message.role in format.known_roles
    return roles and all(is_known_part(part, format) for part in message.parts)


def is_known_part(part: Part, format: Format) -> bool:
    """Return True if a part was read, or is of a known type that its format carries unchanged."""
    if not isinstance(part, Opaque):
        return True
    return format.is_known_kind(part.kind) or (part.kind not in READ_KINDS and is_known(part.kind))


class Coverage:
    """Collects the unread content while a chain is read. Call `expect`, `carry` or `show` for each unit and message; `unread` is
    complete after the last one."""

    def __init__(self, format: Format, lines: Source | None = None) -> None:
        """`lines` is the file, if each of its units has its own line."""
        self._format = format
        self._lines = lines
        self._waiting: dict[int, Unit] = {}
        """Units without a message so far."""
        self._left: dict[int, _Leftover] = {}
        """Units with messages, and the texts that those messages do not show."""
        self._found: dict[tuple[UnreadKind, str], list[UnreadPlace]] = {}
        self._counts: dict[tuple[UnreadKind, str], int] = {}
        self._strange = 0
        """The number of unknown records."""
        self._read = 0
        """The number of units with messages."""
        self._lacking: dict[int, float] = {}
        """The unread share of each unit with messages, by ordinal: 1, or half if its message shows something."""
        self._places: dict[int, int] = {}
        """The index of each unit in chain order, for units from several lists, whose ordinals do not give it."""
        self._arrived = 0

    def expect(self, unit: Unit) -> None:
        """Note a unit that the format is about to read."""
        if unit.ordinal == SLOT:
            return
        self._waiting[unit.ordinal] = unit
        if unit.ordinal >= LIST_STEP:
            self._places[unit.ordinal] = self._arrived
        self._arrived += 1

    def carry(self, unit: Unit, *, is_aside: bool = False) -> None:
        """Note a unit that is not a message of the chain. `is_aside`: the format did not get it, such as a line of another branch."""
        self._waiting.pop(unit.ordinal, None)
        value = unit.value
        if unit.ordinal == SLOT:
            return
        if self._format.is_carried(value):
            self._add_misspelt(value, self._known(value), unit)
            return
        if self._format.is_message(value) and (is_aside or not _leaves(value, self._known(value))):
            return
        self._strange += 1
        self._add("record", _type_of(value), unit)

    def show(self, message: Message) -> None:
        """Note a message that was read."""
        source = message.source
        if len(source) == 1 and source[0].is_usual and self._waiting.pop(source[0].ordinal, None) is not None:
            self._read += 1
            return
        ordinals = [fragment.ordinal for fragment in message.source]
        units = [unit for each in ordinals if (unit := self._waiting.pop(each, None)) is not None]
        again = [self._left[each] for each in ordinals if each in self._left] if self._left else []
        if not units and not again:
            return
        self._read += len(units)
        if message.role not in ROLES or Opaque in map(type, message.parts):
            self._judge(message, (units or [again[0].unit])[0])
        shown = _PartTexts(message)
        for left in again:
            left.fields = [each for each in left.fields if each[1] not in shown]
            left.is_hollow |= _is_hollow(message)
        for unit in units:
            value = self._format.spoken(unit.value)
            known = self._known(value)
            if _is_plainly_shown(value, shown, known):
                continue
            misspelt = self._add_misspelt(value, known, unit)
            unseen = [each for each in _unseen(value, shown, known) if each[0] not in misspelt]
            if unseen:
                self._leave(message, unit, unseen)

    def _leave(self, message: Message, unit: Unit, unseen: Sequence[tuple[str, str, bool]]) -> None:
        """Keep what the message of a unit does not show, as far as it may be content."""
        is_hollow = _is_hollow(message)
        is_any = is_hollow or any(fragment.blocks is not None for fragment in message.source)
        fields = [each for each in unseen if each[2] or is_any]
        if fields:
            weight = 0.5 if _shows_something(message) else 1.0
            self._left[unit.ordinal] = _Leftover(unit, fields, is_hollow, weight)

    def _judge(self, message: Message, unit: Unit) -> None:
        """Note the unknown role and the unknown parts of a message."""
        if not _is_known(message, self._format):
            self._lacking[unit.ordinal] = 0.5 if _shows_something(message) else 1.0
        is_known_role = message.role in ROLES or message.role in self._format.known_roles
        if not is_known_role:
            self._add("role", message.role, unit)
        for part in message.parts:
            if isinstance(part, Opaque) and not is_known_part(part, self._format) and (is_known_role or part.kind != message.role):
                self._add("part", part.kind, unit)

    def _add_misspelt(self, value: object, known: Container[str], unit: Unit) -> Sequence[str]:
        found = misspelt_names(value, known)
        names = tuple(name for name in found if ("part", name) not in self._counts)
        for name in names:
            self._add("field", name, unit)
        return names

    def _known(self, value: object) -> frozenset[str]:
        return _with_known(self._format.carried_in(value))

    def _add(self, kind: UnreadKind, name: str, unit: Unit) -> None:
        key = (kind, name)
        if key not in self._found and len(self._found) >= MOST_NAMES:
            key = (kind, "")
        places = self._found.setdefault(key, [])
        self._counts[key] = self._counts.get(key, 0) + 1
        if len(places) < MOST_PLACES:
            line = self._lines.place(unit.start)[0] if self._lines is not None and unit.start >= 0 else 0
            places.append(UnreadPlace(self._places.get(unit.ordinal, unit.ordinal), line))

    def _settle(self) -> None:
        for unit in [*self._waiting.values()]:
            self.carry(unit)
        self._waiting.clear()
        for left in self._left.values():
            for name in left.names():
                self._lacking.setdefault(left.unit.ordinal, left.weight)
                self._add("field", name, left.unit)
        self._left.clear()

    @property
    def share_read(self) -> float:
        """The share of the units that were fully read so far, from 0 to 1. An unknown record weighs less than a partly read
        message, because it may not belong to the conversation."""
        left = {each.unit.ordinal: each.weight for each in self._left.values() if each.names()}
        total = self._read + STRANGE * self._strange
        return (self._read - sum((left | self._lacking).values())) / total if total else 1.0

    @property
    def unread(self) -> tuple[Unread, ...]:
        self._settle()
        return tuple(Unread(*key, self._counts[key], tuple(places)) for key, places in self._found.items())


@lru_cache(maxsize=256)
def _with_known(carried: frozenset[str]) -> frozenset[str]:
    return KNOWN_FIELDS | carried


@dataclass(slots=True)
class _Leftover:
    """A unit and its texts that no message shows so far: for each the field name, the text, and whether it is prose."""

    unit: Unit
    fields: list[tuple[str, str, bool]]
    is_hollow: bool
    weight: float
    """The unread share of the unit, from 0 to 1."""

    def names(self) -> Iterable[str]:
        """Return the names of the fields that count as unread."""
        return dict.fromkeys(key for key, _, is_prose in self.fields if is_prose or self.is_hollow)


class _PartTexts:
    """The texts that the parts of a message show."""

    def __init__(self, message: Message) -> None:
        self._parts = message.parts
        self.texts = {text for part in message.parts for text in _texts_of(part) if text}

    @cached_property
    def inner(self) -> set[str]:
        """The texts and numbers in those texts that are JSON, such as the arguments of a call."""
        return set[str]().union(*map(_json_leaves, self.texts))

    def __contains__(self, text: str) -> bool:
        if text in self.texts or text in self.inner:
            return True
        if self._has_binary() and _BASE64.fullmatch(text):
            return True
        is_long = len(text) >= LEAST or text.isalpha() or _is_prose(text)
        if any((is_long and text in shown) or (len(shown) >= LEAST and shown in text) for shown in self.texts):
            return True
        return text[:1] in ("{", "[") and is_json(text) and _json_leaves(text) <= self.texts | self.inner

    def _has_binary(self) -> bool:
        media = (*self._parts, *(each for part in self._parts if isinstance(part, ToolResult) for each in part.media))
        return any(isinstance(part, Binary) for part in media)


def _texts_of(part: Part) -> tuple[str, ...]:
    if isinstance(part, Text):
        return (part.text, *_thought(part.reasoning))
    if isinstance(part, ToolResult):
        own = part.content, part.name, part.call_id
        return (*own, *chain.from_iterable(map(_texts_of, part.media))) if part.media else own
    if isinstance(part, ToolCall):
        return (part.arguments, part.name, part.id, part.type, *_thought(part.reasoning))
    if isinstance(part, Thinking):
        return (part.content, part.signature)
    if isinstance(part, Image):
        return (part.url,)
    if isinstance(part, Binary):
        return (encode_base64(part.content), data_url(part.mime, part.content))
    return (part.text,)


def _thought(reasoning: Reasoning | None) -> tuple[str, ...]:
    return () if reasoning is None else (reasoning.content, reasoning.signature)


def _json_leaves(text: str) -> set[str]:
    if text[:1] in ("{", "[", '"'):
        with suppress(ValueError, RecursionError):
            return {leaf for _, leaf, _ in _leaves(json.loads(text), ())}
    return set()


def _shows_something(message: Message) -> bool:
    return any(not isinstance(part, Opaque) and any(_texts_of(part)) for part in message.parts)


def _is_hollow(message: Message) -> bool:
    """Return True if the message has no parts, or one of them is empty or incomplete."""
    return not message.parts or any(map(_lacks, message.parts))


def _lacks(part: Part) -> bool:
    if isinstance(part, Text):
        return not part.text and (part.reasoning is None or part.reasoning.is_empty)
    if isinstance(part, Thinking):
        return not (part.content or part.signature)
    if isinstance(part, ToolCall):
        return not (part.name and part.id and part.arguments)
    return isinstance(part, ToolResult) and not (part.call_id and (part.content or part.media))


_Leaf = tuple[str, str, bool | None]
"""The field name of a text or number, its text, and whether it is prose; None for a text that was not judged yet."""


def _unseen(value: Any, shown: _PartTexts, known: Container[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield each text and number of a decoded value that is not in `shown`: the field name, the text, and whether it is prose.

    Fields with names in `known` are skipped. Every text in a content field counts as prose.
    """
    texts = shown.texts
    for key, text, is_prose in _leaves(value, known):
        is_role = is_prose is None and text in ROLE_WORDS and _is_misspelt_role(key)
        if is_role or (text not in texts and text not in shown):
            yield key, text, is_role or key in CONTENT_FIELDS or _is_prose(text) if is_prose is None else is_prose


def _leaves(value: Any, known: Container[str]) -> list[_Leaf]:
    """Return the texts and numbers of a decoded value, without those in fields with names in `known`."""
    found: list[_Leaf] = []
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        key, value = stack.pop()
        kind = type(value)
        if kind is str:
            if value:
                found.append((key, value, None))
        elif kind is dict:
            if "name" in value or "function" in value or "type" in value:
                found += _of_block(value, known)
            stack += [(name, inner) for name, inner in value.items() if inner is not None and name not in known]
        elif kind is list:
            stack += [(key, inner) for inner in value]
        elif kind is int or kind is float:
            found.append((key, str(value), False))
    return found


def _is_plainly_shown(value: Any, shown: _PartTexts, known: frozenset[str]) -> bool:
    """Return True, cheaply, for nearly every record: all names are right, and each text is that of a part or inside one that is JSON."""
    texts = shown.texts
    stack: list[Any] = [value]
    while stack:
        each = stack.pop()
        if type(each) is list:
            members: Iterable[Any] = each
        elif (
            type(each) is dict
            and (unknown := _unknown_names(tuple(each), known)) is not None
            and each.get("type") not in ("thinking", "reasoning")
        ):
            if type(name := each.get("name")) is str and name and name not in texts:
                return False
            members = [each[key] for key in unknown]
        else:
            return False
        for inner in members:
            if type(inner) is str:
                if inner and (inner in ROLE_WORDS or (inner not in texts and inner not in shown.inner)):
                    return False
            elif inner is not None and type(inner) is not bool:
                stack.append(inner)
    return True


@lru_cache(maxsize=4096)
def _unknown_names(names: tuple[str, ...], known: frozenset[str]) -> tuple[str, ...] | None:
    """Return the names that are not known, or None if one of them may be misspelt."""
    unknown = tuple(name for name in names if name not in known)
    return unknown if all(map(is_right, unknown)) else None


@lru_cache(maxsize=4096)
def is_misspelt_instruction(key: str) -> bool:
    """Return True if a field name is nearly that of an instruction field."""
    if key in INSTRUCTIONS or _ABOUT.search(key):
        return False
    return any(SequenceMatcher(None, key, known).ratio() >= MISSPELT for known in INSTRUCTIONS)


@lru_cache(maxsize=4096)
def _is_misspelt_role(key: str) -> bool:
    return 0.75 <= SequenceMatcher(None, key.lower(), "role").ratio() < 1


def _of_block(block: dict[str, Any], known: Container[str]) -> Iterator[_Leaf]:
    """Yield the name of a call, and short texts in unknown fields of a reasoning block, such as its signature."""
    function = block.get("function")
    inner = function if type(function) is dict else block
    name = inner.get("name")
    if type(name) is str and name and any(key in inner for key in ARGUMENTS):
        yield "name", name, True
    if block.get("type") in ("thinking", "reasoning"):
        yield from ((key, value, True) for key, value in block.items() if isinstance(value, str) and value and key not in known)


_WORDS = re.compile(r"[\[{<]|data:|.*[\s\u0080-\U0010ffff]", re.DOTALL)
_BASE64 = re.compile(r"[\w+/-]{2,}=*", re.ASCII)
"""Base64: a format's spelling of bytes, which a message contains decoded."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d|<[a-z]+>$")


def _is_prose(text: str) -> bool:
    """Return True if a text has words or spells a JSON value or data URL. Ids, dates and single words are not prose."""
    return _WORDS.match(text) is not None and _DATE.match(text) is None


def _type_of(value: Any) -> str:
    for key in ("type", "role", "kind"):
        if name := string_of(value, key):
            return name
    return ""


# Texts of these fields need not be shown: ids, times, models, counts and settings.


KNOWN_FIELDS = frozenset(
    # the type of a record and its owner
    ("type", "role", "from", "kind", "object", "$type", "lc", "name", "author", "sender", "senderName", "recipient", "username", "userType",
     "status", "phase", "mode", "priority", "audience", "originator", "origin", "requestor", "content_type", "contentType",
     "mime_type", "mimeType", "mediaType", "media_type", "format", "detail", "category", "block_type", "part_kind", "message_type",
     "modality", "boundary", "visibility",
     # ids
     "id", "_id", "uuid", "parentId", "parent_id", "parentID", "parentUuid", "sessionId", "session_id", "sessionID", "thread_id",
     "threadId", "run_id", "trace_id", "span_id", "traceId", "spanId", "messageId", "message_id", "messageID", "parentMessageId",
     "conversationId", "conversation_id", "requestId", "request_id", "responseId", "response_id", "item_id", "event_id", "agent_id",
     "agentId", "invocation_id", "identifier", "turn_id", "step_id", "stepIdentifier", "group_id", "user_id", "provider_response_id",
     "sourceId", "bridgeSessionId",
     # times
     "timestamp", "timestamp_", "created", "created_at", "createdAt", "updated", "updated_at", "updatedAt", "create_time",
     "createTime", "update_time", "inserted_at", "date", "time", "timeUnixNano", "start_timestamp", "started_at", "completed_at",
     "creation_timestamp",
     "expires_at", "ts", "send_date", "duration", "duration_ms", "elapsed",
     # the model and its cost
     "model", "model_name", "modelName", "model_id", "modelId", "modelID", "model_slug", "model_provider", "modelVersion", "provider",
     "providerId", "providerID", "provider_id", "provider_name", "providerName", "api", "system_fingerprint", "service_tier", "usage",
     "usageMetadata", "usage_metadata", "tokens", "token_usage", "token_count", "cost", "metrics", "logprobs", "temperature",
     "top_p", "max_tokens", "index", "seed", "cache_control", "cachePoint", "ttl", "speed", "effort",
     # the outcome
     "finish_reason", "finishReason", "stop_reason", "stopReason", "stop_sequence", "finish", "finish_details", "end_turn", "exit_code",
     "stats", "last_agent_message",
     # places
     "cwd", "gitBranch", "version", "hostname", "slug", "permissionMode", "entrypoint", "tools", "tool_choice", "config",
     "safetyRatings", "safety_ratings", "annotations", "citations", "citationMetadata", "groundingMetadata")
)  # fmt: skip
