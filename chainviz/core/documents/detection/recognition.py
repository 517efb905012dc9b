"""How messages are recognised while a document is scanned. The formats say it; this layer only asks.

`peek` decodes the beginning of a value as far as the text at hand shows it, so that a message of 100 MB is recognised
by its first keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chainviz.core.documents.json.scan import SPACE, Oddities, decoder, string_at
from chainviz.core.documents.units import TextMember, Tree

SNIFF = 1 << 18
"""Characters of a value that are looked at to see whether it is a message."""
MAX_LEVELS = 8
"""Levels of a value that does not end in the text at hand which are still looked into."""

Keys = tuple[str, ...]
"""Where a value lies in a document, without the indexes of lists: `("choices", "message")`."""


@dataclass(frozen=True)
class Recognition:
    """What the formats asked for declare."""

    hints: tuple[str, ...]
    """Keys of which every message has at least one."""
    is_message: Callable[[object], bool]
    answers: frozenset[Keys] = frozenset()
    """The last keys of a place that holds a single message: `("choices", "message")`, () for the document itself."""
    sequences: tuple[tuple[Keys, ...], ...] = ()
    """Members of one object that make up one chain, in chain order."""
    copies: tuple[Keys, ...] = ()
    """Members in which all lists repeat what another list of the document holds."""
    slots: tuple[tuple[str, str], ...] = ()
    """The key of a system text beside a list, and that of the list: `("system", "messages")`."""
    trees: tuple[Tree, ...] = ()
    """Where messages are nodes of a tree."""
    texts: tuple[TextMember, ...] = ()
    """Members that may hold a message as a plain string."""

    @cached_property
    def _hint(self) -> re.Pattern[str]:
        # inside a string the quotation marks have backslashes
        return re.compile(f'"(?:{"|".join(map(re.escape, self.hints)) or "(?!)"})\\\\?"')

    @cached_property
    def trees_of_messages(self) -> tuple[list[str], ...]:
        """The keys that lead to each tree whose nodes are messages, as the source spells them."""
        return tuple([f'"{key}"' for key in tree.keys] for tree in self.trees if not tree.member)

    def has_hint(self, text: str, start: int, end: int) -> bool:
        """False where nothing in `text[start:end]` can be a message: the cheap look before the real one."""
        return self._hint.search(text, start, end) is not None

    def looks_like_message(self, text: str, start: int) -> bool:
        """Whether the value that begins at `start` is a message; it may be cut off."""
        return self.is_message(peek(text[start : start + SNIFF]))


def peek(text: str, position: int = 0) -> Any:
    """The value at `position` as far as `text` shows it: what is cut off has the members and characters that are there.

    None where no value begins.
    """
    return _peek(text, position, MAX_LEVELS)


_scan = decoder(Oddities(), careful=True)


def _peek(text: str, position: int, levels: int) -> Any:
    try:
        return _scan(text, position)[0]
    except (ValueError, StopIteration, RecursionError):
        pass
    first = text[position : position + 1]
    if first == '"':
        return text[position + 1 :]
    if not levels or first not in ("[", "{"):
        return None
    return dict(_members(text, position + 1, levels)) if first == "{" else list(_elements(text, position + 1, levels))


def _members(text: str, position: int, levels: int) -> Iterable[tuple[str, Any]]:
    try:
        position = _space(text, position)
        while text[position] == '"':
            key, position = string_at(text, position)
            start = _space(text, _space(text, position) + 1)
            value, position = _value(text, start, levels)
            yield key, value
            if text[position] != ",":
                return
            position = _space(text, position + 1)
    except (ValueError, IndexError, StopIteration):
        return


def _elements(text: str, position: int, levels: int) -> Iterable[Any]:
    try:
        position = _space(text, position)
        while text[position] != "]":
            value, position = _value(text, position, levels)
            yield value
            if text[position] != ",":
                return
            position = _space(text, position + 1)
    except IndexError:
        return


def _value(text: str, start: int, levels: int) -> tuple[Any, int]:
    """A member's value and where the next token begins; behind the text where the value is cut off."""
    try:
        value, end = _scan(text, start)
        return value, _space(text, end)
    except (ValueError, StopIteration, RecursionError):
        return _peek(text, start, levels - 1), len(text)


def _space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position
