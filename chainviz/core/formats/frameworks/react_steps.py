"""Locate the steps of a ReAct log, read them, and write changed ones.

A step is a `Question:` with the `Reflections:` below it, a `Thought 1:` with its `Action 1: Search[x]`, an
`Observation 1:` or a `Correct answer:`.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Role, Text, ToolCall, ToolResult, text_of
from chainviz.core.dialects.values import is_object
from chainviz.core.documents.json.edit import dump

QUESTION, THOUGHT, ACTION, OBSERVATION, ANSWER = "Question", "Thought", "Action", "Observation", "Correct answer"
FINISH = "Finish"
"""The action whose argument is the answer."""

_KEY = re.compile(rf"^(?:({QUESTION}|{ANSWER})|({THOUGHT}|{ACTION}|{OBSERVATION})(?: (\d+))?):[ \t]?", re.MULTILINE)
SEPARATOR = "[-=#*]{5,}"
"""The beginning of a line that separates chains."""
_REFLECTIONS = re.compile(r"^Reflections:[ \t]*(?:\r?\n)?", re.MULTILINE)
_GUARDED = re.compile(f"{_KEY.pattern}|^{SEPARATOR}|^Reflections:", re.MULTILINE)
_CALL = re.compile(r"([\w.-]+)\[(.*)\]\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """The options for reading the messages of a log."""

    text_results: bool = False
    """True if calls stay text and their observations are human messages."""
    finish_calls: bool = False
    """True if `Finish[x]` is a call like any other, and the outcome in the log its result."""
    no_reflections: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    word: str
    number: str
    start: int
    end: int
    """The position after the colon and one space."""


@dataclass(frozen=True, slots=True)
class Step:
    word: str
    start: int
    end: int
    """The position before the line breaks that separate it from the next step."""


def keys(text: str) -> list[Key]:
    """Return the lines that begin a step or an action. If the first thought has a number, only numbered ones count."""
    found = [Key(each[1] or each[2], each[3] or "", each.start(), each.end()) for each in _KEY.finditer(text)]
    first = next((key for key in found if key.word not in (QUESTION, ANSWER)), None)
    is_numbered = first is not None and bool(first.number)
    return [key for key in found if key.number or key.word in (QUESTION, ANSWER) or not is_numbered]


def steps(text: str) -> Iterator[Step]:
    begun: list[Key] = []
    for key in keys(text):
        # an action belongs to the thought before it
        if not (begun and key.word == ACTION and begun[-1].word in (THOUGHT, ACTION)):
            begun.append(key)
    for place, key in enumerate(begun):
        end = begun[place + 1].start if place + 1 < len(begun) else len(text)
        yield Step(key.word, key.start, key.start + len(text[key.start : end].rstrip("\r\n")))


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a message, and the ranges of its values in the step: a text, or the name and argument of a call."""

    part: Part
    spans: tuple[tuple[int, int], ...]


def reflections(text: str) -> tuple[int, int]:
    """Return the start of a question's reflections, and the start of their text; the end twice if there are none."""
    found = _REFLECTIONS.search(text)
    return found.span() if found and word_of(text) in ("", QUESTION) else (len(text), len(text))


def leaves(role: Role, text: str, how: Reading) -> list[Leaf]:
    """Return the parts of a message of that role, whose step is `text`."""
    found = keys(text)
    first = found[0] if found and found[0].start == 0 else Key("", "", 0, 0)
    end, reflected = reflections(text)
    if end < len(text) and role == SYSTEM:
        return [_text_leaf(text, reflected, len(text))]
    if end < len(text) and role == HUMAN:
        return [_text_leaf(text, first.end, len(text[:end].rstrip()))]
    if role == AI and first.word in (THOUGHT, ACTION):
        return _ai_leaves(text, found, how) or [_text_leaf(text, first.end, len(text))]
    if role == TOOL:
        part = ToolResult(_call_id(first.number), "", text[first.end :], origin=0)
        return [Leaf(part, ((first.end, len(text)),))]
    return [_text_leaf(text, first.end, len(text))]


def _text_leaf(text: str, start: int, end: int, origin: int = 0) -> Leaf:
    return Leaf(Text(text[start:end], origin=origin), ((start, end),))


def _ai_leaves(text: str, found: list[Key], how: Reading) -> list[Leaf]:
    """Return the thought and its actions; empty if an action cannot be read or is to stay text."""
    actions = [key for key in found if key.word == ACTION]
    made: list[Leaf] = []
    if found[0].word == THOUGHT:
        end = actions[0].start if actions else len(text)
        made.append(_text_leaf(text, found[0].end, len(text[:end].rstrip("\r\n"))))
    for place, key in enumerate(actions):
        end = actions[place + 1].start if place + 1 < len(actions) else len(text)
        call = _CALL.fullmatch(text, key.end, end)
        is_answer = call is not None and call[1] == FINISH and not how.finish_calls
        if call is None or (how.text_results and not is_answer):
            return []
        if is_answer:
            made.append(_text_leaf(text, *call.span(2), origin=len(made)))
        else:
            part = ToolCall(_call_id(key.number), call[1], _arguments(call[2]), origin=len(made))
            made.append(Leaf(part, (call.span(1), call.span(2))))
    return made


def is_readable(text: str) -> bool:
    """Return True if every action of the step is a call or the answer."""
    return bool(_ai_leaves(text, keys(text), Reading()))


def is_finish(text: str) -> bool:
    """Return True if the step ends with the answer."""
    actions = [key for key in keys(text) if key.word == ACTION]
    call = _CALL.fullmatch(text, actions[-1].end) if actions else None
    return call is not None and call[1] == FINISH


def _call_id(number: str) -> str:
    return f"call_{number}" if number else "call"


def _arguments(argument: str) -> str:
    return argument if is_object(argument) else dump({"input": argument}, ascii_only=False)


def _argument(arguments: str) -> str:
    """Return the text between the brackets."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if isinstance(value, dict) and value.keys() == {"input"} and isinstance(value["input"], str):
        return value["input"] if not is_object(value["input"]) else arguments
    return arguments


def word_of(text: str) -> str:
    """Return the key with which a step begins; "" if it has none."""
    found = _KEY.match(text)
    return (found[1] or found[2]) if found else ""


def patched(message: Message, text: str, how: Reading) -> str | None:
    """Return the step with other values in their places, or None if the parts are not of the same kinds."""
    old = leaves(message.role, text, how)
    if [type(leaf.part) for leaf in old] != [type(part) for part in message.parts]:
        return None
    for leaf, part in reversed(list(zip(old, message.parts, strict=True))):
        if part != leaf.part:
            for (start, end), value in reversed(list(zip(leaf.spans, _values(part), strict=True))):
                is_like_a_step = text[:start].endswith("\n") and _GUARDED.match(value)
                text = f"{text[:start]}{' ' if is_like_a_step else ''}{value}{text[end:]}"
    return text


def _values(part: Part) -> tuple[str, ...]:
    if isinstance(part, ToolCall):
        return guarded(part.name), guarded(_argument(part.arguments))
    return (guarded(part.content if isinstance(part, ToolResult) else part.text if isinstance(part, Text) else ""),)


def guarded(text: str) -> str:
    """Change a text so that it reads back as one: indent lines that look like steps, and remove blank lines at the end."""
    end = text[len(text.rstrip()) :]
    text = text.rstrip() + re.split("[\r\n]", end, maxsplit=1)[0]
    return _GUARDED.sub(lambda found: f" {found[0]}" if found.start() else found[0], text)


NO_NAME = r"[\s\[\]]"
"""Characters that the name of an action cannot contain."""


def new_step(message: Message) -> str:
    """Return a step for a new message: texts and calls, or one result."""
    if message.role == TOOL:
        result = next((part for part in message.parts if isinstance(part, ToolResult)), None)
        number = _number(result.call_id if result else "")
        return f"{OBSERVATION} {number}: {guarded(result.content if result else text_of(message))}"
    if message.role != AI:
        return f"{QUESTION}: {guarded(text_of(message))}"
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    lines = [f"{THOUGHT} {_number(calls[0].id if calls else '')}: {guarded(text_of(message))}"]
    lines += map(_action, calls)
    return "\n".join(lines)


def _action(call: ToolCall) -> str:
    name, argument = _values(call)
    return f"{ACTION} {_number(call.id)}: {re.sub(NO_NAME, '_', name)}[{argument}]"


def _number(id: str) -> int:
    """Return one number for a call and its result: 7 of `call_7`, or one made from any other id."""
    digits = id.removeprefix("call_")
    return int(digits) if digits.isdecimal() and len(digits) < 10 else zlib.crc32(id.encode("utf-8", "surrogatepass"))
