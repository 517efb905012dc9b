"""Two other ways to keep requests small, for a simulation beside strategies: summaries and redaction, by sizes alone.

Nothing is written or read; the sizes are what each way usually leaves.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Protocol

from chainviz.core.chain.messages import HUMAN, SYSTEM, TOOL, Shape
from chainviz.core.state.message_index import ends_turn

SUMMARY = 1_000
"""Bytes of the summary that replaces an older section."""
PLACEHOLDER = 58
"""Bytes that are left of a tool result once a plain answer follows it."""


class Estimate(Protocol):
    """What another operation would leave of the messages before a place."""

    def size(self, place: int) -> int:
        """Bytes of a request that sends them."""

    def count(self, place: int) -> int:
        """Messages of it."""

    def whole_from(self, place: int) -> int:
        """Place of the first message that is sent as it is, with all that follow."""


class SummaryEstimate:
    """Older sections become one summary each; the section under way stays whole."""

    def __init__(self, messages: Sequence[Shape]) -> None:
        self._sizes = [0, *accumulate(message.size for message in messages)]
        self._starts: list[int] = [0]
        self._folded: list[tuple[int, int]] = [(0, 0)]
        """Bytes and messages before each start of a section, with every section before it folded."""
        header = body = headers = 0
        for place, message in enumerate(messages):
            is_header = message.role in (SYSTEM, HUMAN)
            if is_header and body:
                size, count = self._folded[-1]
                self._starts.append(place)
                self._folded.append((size + header + min(body, SUMMARY), count + headers + 1))
                header = body = headers = 0
            header, body = (header + message.size, body) if is_header else (header, body + message.size)
            headers += is_header

    def size(self, place: int) -> int:
        section = self._section(place)
        return self._folded[section][0] + self._sizes[place] - self._sizes[self._starts[section]]

    def count(self, place: int) -> int:
        section = self._section(place)
        return self._folded[section][1] + place - self._starts[section]

    def whole_from(self, place: int) -> int:
        return self._starts[self._section(place)]

    def _section(self, place: int) -> int:
        return bisect_right(self._starts, max(0, place - 1)) - 1


class RedactionEstimate:
    """Tool results of complete turns become placeholders; those of the turn under way stay."""

    def __init__(self, messages: Sequence[Shape]) -> None:
        self._sizes = [0, *accumulate(message.size for message in messages)]
        self._redacted = [
            0,
            *accumulate(min(each.size, PLACEHOLDER) if each.role == TOOL else each.size for each in messages),
        ]
        self._ends = [place for place, message in enumerate(messages) if ends_turn(message)]

    def size(self, place: int) -> int:
        start = self.whole_from(place)
        return self._redacted[start] + self._sizes[place] - self._sizes[start]

    def count(self, place: int) -> int:
        return place

    def whole_from(self, place: int) -> int:
        ended = bisect_left(self._ends, place)
        return self._ends[ended - 1] + 1 if ended else 0
