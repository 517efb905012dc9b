"""Names of pairs and messages in rows, lists and notebooks: role, name and teaser, from their shapes alone."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from chainviz.chains.render.rows import TEASER
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL
from chainviz.core.chain.tree import PairType
from chainviz.core.formats.contract import COMPACT_SUMMARY
from chainviz.store.content.message_shapes import StoredShape

NAME = 80
SUMMARY_MARK = "**summarized content:**"
"""The beginning of an answer that is a summary."""
_DATA_URL = re.compile(r"data:(\w+)/[\w.+-]+;base64,\S*")
_FIRST_VALUE = re.compile(r'"[^"\\]*"\s*:\s*("(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^\s,}\]]+)')


@dataclass(frozen=True, slots=True)
class MessageWords:
    role: str
    """One of system, human, ai and tool; it determines colour and icon."""
    name: str
    teaser: str
    kind: str = ""
    """"calls" or "result", shown beside the name of a tool."""


def words_of(shape: StoredShape, tools: Mapping[str, str] | None = None) -> MessageWords:
    """Return the words for a message. `tools` are the tools of earlier calls by id, for results that do not name theirs."""
    preview = marks(one_line(preview_words(shape), TEASER))
    if shape.role == TOOL:
        names = [result.name or (tools or {}).get(result.id, "") for result in shape.results]
        return MessageWords("tool", _joined(names) or "Result", preview, "result" if any(names) else "")
    if shape.role == AI and shape.calls:
        names = [call.name for call in shape.calls]
        said = first_argument(preview_words(shape), names[0])
        return MessageWords("tool", _joined(names) or "Call", marks(one_line(said, TEASER)), "calls")
    if shape.is_user_action:
        names = [part.name or (tools or {}).get(part.id, "") for part in shape.parts if part.kind in ("tool_call", "tool_result")]
        is_call = any(part.kind == "tool_call" for part in shape.parts)
        return MessageWords("human", _joined(names) or "Tool", preview, "user calls" if is_call else "user's result")
    name = {SYSTEM: "System", HUMAN: "Human", AI: "Answer"}.get(shape.role) or marks(one_line(shape.role, NAME))
    return MessageWords(shape.role if shape.role in (SYSTEM, HUMAN, AI) else "tool", name, preview)


def _joined(names: list[str]) -> str:
    return marks(one_line(", ".join(dict.fromkeys(name for name in names if name)), NAME))


def header_words(first: StoredShape | None) -> tuple[str, str, str]:
    """Return the role, name and teaser of a header message."""
    role, name = ("human", "Human") if first is None or first.role == HUMAN else ("system", "System")
    if first is not None and first.is_user_action:
        name = "Human calls a tool" if any(part.kind == "tool_call" for part in first.parts) else "Result for the human"
    return role, name, preview_words(first)


def pair_words(type: PairType | None, shapes: Sequence[StoredShape], *, has_ai: bool) -> tuple[str, str, str]:
    """Return the role, name and teaser of a pair. `shapes` are its messages, or the first of them."""
    first = shapes[0] if shapes else None
    preview = preview_words(first)
    if not has_ai or first is None:
        return "tool", "No AI message", preview
    if type is PairType.SUMMARIZATION:
        return "summary", "Summary", preview_words(shapes[1]) if len(shapes) > 1 else preview
    if type is PairType.COMPLETION:
        if preview.startswith(SUMMARY_MARK) or first.label == COMPACT_SUMMARY:
            return "summary", "Summary", preview.removeprefix(SUMMARY_MARK).lstrip()
        return "ai", "Answer", preview
    names = Counter(map(attrgetter("name"), first.calls))
    name = ", ".join(f"{name or 'no name'}{f' ×{count:,}' if count > 1 else ''}" for name, count in names.items())
    return "tool", name, first_argument(preview, first.calls[0].name)


def preview_words(shape: StoredShape | None) -> str:
    """Return the preview of a message, without the bytes of images."""
    return _DATA_URL.sub(r"[\1]", shape.preview) if shape else ""


LONGEST_ESCAPE = len("\\u0000")


def first_argument(preview: str, name: str) -> str:
    """Return the value of a call's first argument, then the text of the message, both from its preview."""
    place = preview.find(f"{name} {{")
    found = _FIRST_VALUE.search(preview, place + len(name)) if place >= 0 else None
    said = preview[:place].strip() if place >= 0 else preview.removeprefix(name).strip()
    value = _plain_value(found[1]) if found else ""
    return f"{value} · {said}" if value and said else value or said


def _plain_value(value: str) -> str:
    """Return a JSON value from a preview, which may cut it off, even inside an escape."""
    if not value.startswith('"'):
        return value
    for text in (value, *(f'{value[: len(value) - cut]}"' for cut in range(LONGEST_ESCAPE))):
        try:
            return str(json.loads(text))
        except ValueError:
            continue
    return value.strip('"')
