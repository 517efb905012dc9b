"""The body pair that replaces folded messages: its type, its mark, and the reasoning that it keeps."""

from __future__ import annotations

import random
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.build import SUMMARIZATION_ARGUMENTS, completion, tool_message
from chainviz.core.chain.messages import AI, Message, Part, Reasoning, Shape, Text, ToolCall
from chainviz.core.chain.reasoning import FAKE_SIGNATURE, contains_tool_call_reasoning, reasoning_message
from chainviz.core.chain.tool_ids import Template
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, BodyPair, PairType
from chainviz.core.formats.contract import Format
from chainviz.core.formats.stylist import written_size

PREFIX = "**summarized content:**\n"
"""The start of the text of a completion that is a summary."""
_MARK = PREFIX.rstrip()
CARRIED_CHARACTERS = 500
"""The most characters that are kept of a text beside carried reasoning, whose signature does not cover the text."""
_TRIES = 50


def is_summary(pair: BodyPair[Shape]) -> bool:
    """Return True if the pair already is a summary. If a message's body was not read, its preview is used."""
    if pair.type is not PairType.COMPLETION:
        return pair.type is PairType.SUMMARIZATION
    return pair.ai is not None and _opening(pair.ai).startswith(_MARK)


def is_marked_as_reference(pair: BodyPair[Message]) -> bool:
    """Return True if the reference recognises the pair as a summary: it checks only the first part, for the full prefix."""
    if pair.type is not PairType.COMPLETION or pair.ai is None:
        return pair.type is PairType.SUMMARIZATION
    first = pair.ai.parts[0] if pair.ai.parts else None
    return isinstance(first, Text) and first.text.startswith(PREFIX)


def _opening(message: Shape) -> str:
    if isinstance(message, Message):
        first = message.parts[0] if message.parts else None
        return first.text if isinstance(first, Text) else ""
    return str(getattr(message, "preview", ""))


def summary_type(types: Iterable[PairType]) -> PairType:
    """Return the type of the summary of pairs of these types: a tool call if all were one, else text."""
    return PairType.COMPLETION if all(type is PairType.COMPLETION for type in types) else PairType.SUMMARIZATION


def overhead(type: PairType, template: Template, format: Format) -> int:
    """Return the bytes of a summary pair beside its text, as the format writes it."""
    if type is PairType.COMPLETION:
        return len(PREFIX)
    return written_size(_called("", NewIds(template, random.Random(0)).take(), ()).messages, format)


@dataclass(frozen=True, slots=True)
class NewIds:
    """Generates call ids from a template."""

    template: Template
    source: random.Random
    used: Container[str] = ()
    """The ids that the chain already has."""

    def take(self) -> str:
        """Return a new id that the chain does not have, if the template allows one."""
        for _ in range(_TRIES):
            id = self.template.generate(self.source, SUMMARIZATION_TOOL)
            if id not in self.used:
                break
        return id


def summary_pair(text: str, type: PairType, ids: NewIds, *, carried: Sequence[Message] = (), shortened: bool = True) -> BodyPair[Message]:
    """Return a pair with this summary. It takes from `carried` what providers require: reasoning, and a mark in place of signatures.

    `shortened` cuts long texts beside that reasoning, because they would make every later summary large.
    """
    if type is PairType.COMPLETION:
        return completion(PREFIX + text)
    pair = _called(text, ids.take(), carried)
    if shortened and pair.ai is not None:
        pair = replace(pair, ai=replace(pair.ai, parts=tuple(map(_cut, pair.ai.parts))))
    return pair


def carried_size(messages: Sequence[Message]) -> int:
    """Return the bytes of the text that is kept beside carried reasoning."""
    reasoned = reasoning_message(messages)
    return sum(_cut(part).size for part in reasoned.parts) if reasoned is not None else 0


def _called(text: str, id: str, carried: Sequence[Message]) -> BodyPair[Message]:
    signed = Reasoning(signature=FAKE_SIGNATURE) if contains_tool_call_reasoning(carried) else None
    reasoned = reasoning_message(carried)
    before: tuple[Part, ...] = reasoned.parts if reasoned is not None else ()
    call = ToolCall(id, SUMMARIZATION_TOOL, SUMMARIZATION_ARGUMENTS, reasoning=signed)
    return BodyPair(Message(AI, (*before, call)), (tool_message(id, SUMMARIZATION_TOOL, text),))


def _cut(part: Part) -> Part:
    if isinstance(part, Text) and len(part.text) > CARRIED_CHARACTERS:
        return replace(part, text=f"{part.text[:CARRIED_CHARACTERS]}…")
    return part
