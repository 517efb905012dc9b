"""Test chains: the predefined ones, two generators, and one that makes chains of any length with realistic sizes.

Unlike in the reference, every result has the name of its tool, and exactly the requested number of results is missing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from chainviz.core.chain.build import SUMMARIZATION_ARGUMENTS, human, system, tool_message
from chainviz.core.chain.messages import AI, Message, Part, Text, ToolCall
from chainviz.core.chain.tree import SUMMARIZATION_TOOL
from chainviz.core.errors import OptionsError

T = TypeVar("T")

TOOLS = ("search", "read_file", "run_tests", "terminal", "get_weather")


def _ai(*parts: str | Part) -> Message:
    return Message(AI, tuple(Text(part) if isinstance(part, str) else part for part in parts))


def _weather(id: str) -> ToolCall:
    return ToolCall(id, "get_weather", '{"location": "New York"}')


def _news(id: str) -> ToolCall:
    return ToolCall(id, "get_news", '{"topic": "technology"}')


_SYSTEM = system("You are a helpful assistant.")
_HELLO = human("Hello, how are you?")
_ASK = human("What's the weather like?")
_WEATHER = tool_message("call-1", "get_weather", "The weather in New York is sunny.")
_NEWS = tool_message("call-2", "get_news", "A new language model was released.")
_SUMMARY = (
    _ai(ToolCall("summary-1", SUMMARIZATION_TOOL, SUMMARIZATION_ARGUMENTS)),
    tool_message("summary-1", SUMMARIZATION_TOOL, "The user asked about the weather; it is sunny."),
)

PREDEFINED: dict[str, tuple[Message, ...]] = {
    "empty": (),
    "system-only": (_SYSTEM,),
    "human-only": (_HELLO,),
    "system-human": (_SYSTEM, _HELLO),
    "basic-conversation": (_SYSTEM, _HELLO, _ai("I'm doing well! How can I help you?")),
    "with-tool": (_SYSTEM, _ASK, _ai(_weather("call-1"))),
    "with-single-tool-response": (_SYSTEM, _ASK, _ai(_weather("call-1")), _WEATHER),
    "with-multiple-tools": (_SYSTEM, _ASK, _ai(_weather("call-1"), _news("call-2"))),
    "with-multiple-tool-responses": (_SYSTEM, _ASK, _ai(_weather("call-1"), _news("call-2")), _WEATHER, _NEWS),
    "with-multiple-sections": (
        _SYSTEM, _HELLO, _ai("I'm doing well!"), _ASK, _ai(_weather("call-1")), _WEATHER, _ai("It is sunny."),
    ),
    "with-consecutive-humans": (_SYSTEM, _HELLO, human("Can you help me?"), _ai("Yes.")),
    "with-missing-tool-response": (_SYSTEM, _ASK, _ai(_weather("call-1"), _news("call-2")), _WEATHER),
    "with-unexpected-tool": (_SYSTEM, _ASK, _ai("I have no tools."), _WEATHER),
    "with-summarization": (_SYSTEM, _ASK, *_SUMMARY),
    "with-summarization-and-other-pairs": (
        _SYSTEM, _ASK, *_SUMMARY, _ai("Anything else?"), human("The news?"), _ai(_news("call-2")), _NEWS,
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ChainConfig:
    """Per-pair lists may be shorter than there are pairs: their last entry then counts for the rest."""

    include_system: bool = True
    sections: int = 1
    body_pairs_per_section: Sequence[int] = (1,)
    tools_for_body_pairs: Sequence[bool] = (False,)
    """For each pair of a section, True if it calls tools."""
    tool_calls_per_body_pair: Sequence[int] = (0,)
    include_all_tool_responses: bool = True
    """False to leave the last call of each pair unanswered."""
    source: random.Random | None = field(default=None, compare=False)
    """For texts of realistic sizes; with None, short fixed texts are written."""


def generate_chain(config: ChainConfig | None = None) -> tuple[Message, ...]:
    config = config or ChainConfig()
    writer = _Writer(config.source)
    messages = [writer.system()] if config.include_system else []
    for section in range(config.sections):
        messages.append(writer.human(section))
        for pair in range(_at(config.body_pairs_per_section, section, 1)):
            count = _at(config.tool_calls_per_body_pair, pair, 0) if _at(config.tools_for_body_pairs, pair, False) else 0
            missing = 0 if config.include_all_tool_responses else min(1, count)
            messages += writer.pair(section, pair, count, count - missing)
    return tuple(messages)


def generate_complex_chain(sections: int, tool_calls: int, missing: int, source: random.Random | None = None) -> tuple[Message, ...]:
    """Three pairs a section, the second with calls; the last `missing` results of the whole chain are left out."""
    if min(sections, tool_calls, missing) < 0:
        raise OptionsError("Sections, tool calls and missing results cannot be negative.")
    writer = _Writer(source)
    messages = [writer.system()]
    left = sections * tool_calls - missing
    for section in range(sections):
        answered = max(0, min(tool_calls, left))
        left -= answered
        messages.append(writer.human(section))
        for pair, (calls, results) in enumerate(((0, 0), (tool_calls, answered), (0, 0))):
            messages += writer.pair(section, pair, calls, results)
    return tuple(messages)


def _at(values: Sequence[T], place: int, otherwise: T) -> T:
    return values[min(place, len(values) - 1)] if values else otherwise


def generate_messages(count: int, source: random.Random) -> Iterator[Message]:
    """Yield a valid chain of exactly `count` messages, with the mix and sizes of real agent runs (about 1.1 kB a
    message)."""
    writer = _Writer(source)
    made = 0
    if count > 0:
        yield writer.system()
        made = 1
    section = 0
    while made < count:
        yield writer.human(section)
        made += 1
        for pair in range(source.randint(1, 8)):
            calls = source.choices((0, 1, 2, 3), (2, 10, 2, 1))[0]
            if made + 1 + calls > count:
                calls = 0
            if made < count:
                yield from writer.pair(section, pair, calls, calls)
                made += 1 + calls
        section += 1


class _Writer:
    """Writes the messages of a generated chain: short fixed texts, or random ones of real sizes."""

    def __init__(self, source: random.Random | None) -> None:
        self._source = source
        self._words = _words(random.Random(7))

    def system(self) -> Message:
        return system(self._text("You are a helpful assistant.", 900))

    def human(self, section: int) -> Message:
        return human(self._text(f"Question {section + 1}", 200))

    def pair(self, section: int, pair: int, calls: int, answered: int) -> Iterator[Message]:
        text = self._text(f"Answer {section + 1}.{pair + 1}", 350)
        made = [self._call(section, pair, i) for i in range(calls)]
        yield _ai(text, *made)
        for call in made[:answered]:
            yield tool_message(call.id, call.name, self._text(f"Result of {call.id}", 1800))

    def _call(self, section: int, pair: int, place: int) -> ToolCall:
        name = TOOLS[place % len(TOOLS)] if self._source is None else self._source.choice(TOOLS)
        question = self._text("test", 80)
        return ToolCall(f"call_{section + 1}_{pair + 1}_{place + 1}", name, f'{{"query": "{question}"}}')

    def _text(self, short: str, size: int) -> str:
        """Return `short`, or words of about `size` bytes. Some texts are many times longer, like tool output."""
        if self._source is None:
            return short
        target = max(1, int(self._source.lognormvariate(0, 0.8) * size * 0.75))
        start = self._source.randrange(len(self._words))
        text = self._words[start : start + target]
        while len(text) < target:
            text += self._words[: target - len(text)]
        return text.strip() or short


def _words(source: random.Random) -> str:
    """Return 64 kB of invented words, from which random texts are cut."""
    syllables = ("ka", "ro", "mi", "ten", "sul", "vor", "ne", "ly", "dra", "pho", "quin", "as", "er", "on")
    words = ("".join(source.choices(syllables, k=source.randint(1, 4))) for _ in range(12_000))
    return " ".join(words)[:65_536]
