"""Ids for calls and results that have none: made of their tools' names, and never written.

The first of a name shows as `ls`, the second of the same message as `ls#2`: a call is answered by the next result of its
name.
"""

from __future__ import annotations

from collections import Counter


class ShownIds:
    """Counts the calls, or the results, of one message."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def following(self, name: str) -> str:
        """The id of the next one of this name."""
        count = self._counts[name] + 1
        return name if count == 1 else f"{name}#{count}"

    def take(self, name: str) -> str:
        """The same, and the next one gets another."""
        id = self.following(name)
        self._counts[name] += 1
        return id

    def takes(self, id: str, name: str) -> bool:
        """Whether the next one of this name shows with this id; then it is taken."""
        if id not in ("", self.following(name)):
            return False
        self.take(name)
        return True
