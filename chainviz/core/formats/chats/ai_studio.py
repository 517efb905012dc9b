"""Prompts of Google AI Studio, as Google Drive keeps them: chunks in `chunkedPrompt`, each a text, a thought or a file.

Chunks of one role that follow one another are one turn. Files on Google Drive are only referred to. `pendingInputs` is what
was typed and not sent; it is no part of the chain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import HUMAN, SLOT, Fragment, Message, Opaque, Part, Role, Text, Thinking
from chainviz.core.dialects.blocks.block_units import Content
from chainviz.core.dialects.blocks.gemini_read import read_parts
from chainviz.core.dialects.media import carried_bytes
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.read_only import said
from chainviz.core.formats.read_only_units import ReadOnlyUnits, attachment

_ROLES = ("user", "model")
_FILES = ("inlineFile", "inlineImage", "inlineAudio", "inlineData")
_ELSEWHERE = ("driveDocument", "driveImage", "driveVideo", "driveAudio", "youtubeVideo")
_OTHERS = ("executableCode", "codeExecutionResult", "functionCall", "functionResponse")


class AIStudio(ReadOnlyUnits):
    name = "ai_studio"
    label = "Google AI Studio prompt"
    tested_with = "one prompt, excerpts of others"
    slot_key = "systemInstruction"
    hints = ("role",)
    certainty = 1.0
    copies = (("pendingInputs",),)
    carried_fields = frozenset(("errorMessage",))
    known_kinds = frozenset(("attachment", "executableCode", "codeExecutionResult"))

    def slots_of(self, inside: Pointer) -> Sequence[Pointer]:
        return ((*inside[:-2], self.slot_key),) if len(inside) > 1 else ()

    def instructions(self, value: Any) -> Sequence[Part]:
        """Of `{"text": …}`, or of a content as in the API."""
        texts = [string_of(item, "text") for item in (value, *objects_of(value, "parts"))]
        return [Text(text) for text in texts if text]

    def is_message(self, value: object) -> bool:
        contents = ("text", "parts", *_FILES, *_ELSEWHERE, *_OTHERS)
        return isinstance(value, dict) and value.get("role") in _ROLES and any(key in value for key in contents)

    def confidence(self, sample: Sample) -> float:
        return super().confidence(sample) if sample.key == "chunks" else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        turn: list[Unit] = []
        for unit in units:
            is_chunk = unit.ordinal != SLOT and self.is_message(unit.value)
            if turn and not (is_chunk and turn[0].value["role"] == unit.value["role"]):
                yield self._turn(turn)
                turn = []
            if is_chunk:
                turn.append(unit)
            else:
                yield from super().read([unit])
        if turn:
            yield self._turn(turn)

    def _turn(self, units: Sequence[Unit]) -> Message:
        return self.message("", tuple(unit.fragment() for unit in units))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        if source[0].ordinal == SLOT:
            return super().message(role, source)
        chunks = [parse(fragment.text) for fragment in source]
        word = "user" if chunks[0]["role"] == "user" else "assistant"
        message = said(word, [part for chunk in chunks for part in _parts(chunk)], source)
        return replace(message, note=string_of(chunks[-1], "errorMessage") or _reason(chunks[-1]))


def _reason(chunk: dict[str, Any]) -> str:
    """Why the answer ended, where it did not end as it should."""
    reason = string_of(chunk, "finishReason")
    return reason if reason != "STOP" else ""


def _parts(chunk: dict[str, Any]) -> Iterator[Part]:
    """`parts` repeats the text, unless it holds something else."""
    parts = objects_of(chunk, "parts")
    if parts and (not string_of(chunk, "text") or any("text" not in item for item in parts)):
        yield from read_parts(Content(chunk["parts"], dump(chunk["parts"])), HUMAN)
        return
    for key, value in chunk.items():
        if key == "text" and string_of(chunk, key):
            yield Thinking(value) if chunk.get("isThought") is True else Text(value)
        elif key in _FILES:
            yield carried_bytes(string_of(value, "mimeType"), string_of(value, "data")) or _other(key, value)
        elif key in _ELSEWHERE:
            yield attachment({key: value})
        elif key in _OTHERS:
            yield _other(key, value)


def _other(key: str, value: Any) -> Part:
    return Opaque(key, dump({key: value}))
