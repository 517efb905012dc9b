"""Find fields with misspelt names: a name is nearly that of a field which carries the conversation and which the same object lacks.

Such a field may contain what a message should show, so the chain counts as not fully read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

ALIKE = 0.8
"""The least similarity of a short misspelt name to the right one. In a longer name, two letters may differ. The lengths differ by one
at most."""
ANY_NAMES = re.compile(
    r"(?i:.*(arguments|args|input|output|parameters|schema|properties))$|functions|response|response_format|structuredContent"
)
"""Fields whose value is an object with arbitrary names, such as the arguments of a call."""
CARRYING = (
    "role", "type", "id", "from", "kind", "author", "origin", "messageId", "llm_response_id", "isCreatedByUser",
    "message", "chat_history", "content", "parts", "text", "value", "stringValue", "context", "transformedContent",
    "reasoning", "reasoning_content",
    "input", "output", "arguments", "args", "parameters", "params", "raw_input", "tool_input", "result", "state", "status",
    "function", "function_call", "tool_call", "tool_call_results", "attachments", "sources", "image",
    "system", "system_prompt", "system_instruction", "base_instructions",
)  # fmt: skip
"""Names of the fields without which a message loses a text, a call, a result or its place, in one of their spellings."""


def misspelt_names(value: Any, known: Container[str]) -> Iterator[str]:
    """Yield the misspelt names in a decoded value. Fields with names in `known` are neither judged nor searched."""
    stack = [value]
    while stack:
        each = stack.pop()
        if type(each) is list:
            stack += each
        elif type(each) is dict:
            # nearly every name is known, and nearly every value a text: those cost one look-up each
            if suspects := [name for name in each if name not in known and _right_names(name) and _means_something(each[name])]:
                beside = set(map(_singular, each))
                yield from (name for name in suspects if _right_names(name).isdisjoint(beside))
            stack += [
                inner for name, inner in each.items() if type(inner) in (dict, list) and name not in known and not ANY_NAMES.match(name)
            ]


def is_right(name: str) -> bool:
    """Return True for a name that is not nearly one of CARRYING."""
    return not _right_names(name)


def _means_something(value: Any) -> bool:
    return value is True or (bool(value) and not isinstance(value, int | float))


@lru_cache(maxsize=4096)
def _right_names(name: str) -> frozenset[str]:
    """Return the letters of what a name may be meant to be; none for one that is right. Of a name with dots its last part counts."""
    head, _, last = name.rpartition(".")
    return frozenset(_singular(f"{head}{right}") for right in _close(_letters(last)))


def _close(letters: str) -> list[str]:
    if len(letters) < 2 or letters in _CARRYING:
        return []
    close = get_close_matches(letters, _CARRYING, n=5, cutoff=max(ALIKE, 1 - 1.5 / len(letters)))
    return [right for right in close if abs(len(right) - len(letters)) < 2]


def _letters(name: str) -> str:
    """Return what the spellings of a name in different programs have in common."""
    return re.sub(r"[._-]", "", name).lower()


def _singular(name: str) -> str:
    return _letters(name).removesuffix("s")


_CARRYING = frozenset(f"{_singular(name)}{end}" for name in CARRYING for end in ("", "s"))
