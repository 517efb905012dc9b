"""Update processed_length when a state is changed outside a call, so that it still ends at the last message the model has seen.

It counts messages of the provider, which may contain several messages of a chain: a user message of Anthropic contains tool results
and text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from chainviz.core.documents.assemble import follows
from chainviz.core.formats.contract import Format
from chainviz.core.formats.frameworks.goaitools_state import GoaitoolsState


class Origin(Protocol):
    """The share of a provider's message in a message of the chain: a fragment, or its span in the store."""

    @property
    def ordinal(self) -> int: ...

    @property
    def blocks(self) -> tuple[int, ...] | None: ...


class Change(Protocol):
    """A splice: `added` messages replace `removed` messages from `start`. Changes are in order and do not overlap."""

    @property
    def start(self) -> int: ...

    @property
    def removed(self) -> int: ...

    @property
    def added(self) -> int: ...


Origins = Iterable[Sequence[Origin]]
"""The origins of each message of a chain."""


@dataclass(frozen=True, slots=True)
class ChangedState:
    """A chain that is a state document before and after a change."""

    format: Format
    changes: Sequence[Change]
    before: Callable[[], Origins]
    """Called only if a message of the provider may contain several messages of the chain."""
    after: Callable[[], Origins]

    def length(self, processed_length: int) -> int:
        """Return the processed_length after the change."""
        if not self.format.packs:
            return shifted_length(processed_length, self.changes)
        seen = shifted_length(seen_messages(processed_length, self.before()), self.changes)
        return provider_length(seen, self.after())


def shifted_length(processed_length: int, changes: Sequence[Change]) -> int:
    """Return the processed length after changes, counted in messages of the chain. New messages before the last seen one, such as a
    summary, count as seen."""
    seen = processed_length
    for change in changes:
        gone = max(0, min(change.removed, processed_length - change.start))
        if change.start < processed_length:
            seen += change.added - gone
    return max(0, seen)


def seen_messages(processed_length: int, origins: Origins) -> int:
    """Return the number of messages of a chain that the first `processed_length` of the provider contain."""
    counts = list(_provider_counts(origins))
    beyond = max(0, processed_length - (counts[-1] if counts else 0))
    return bisect_right(counts, processed_length) + beyond


def provider_length(seen: int, origins: Origins) -> int:
    """Return the number of messages of the provider that contain the first `seen` of a chain."""
    counts = [0, *_provider_counts(origins)]
    beyond = max(0, seen - (len(counts) - 1))
    return counts[seen - beyond] + beyond


def _provider_counts(origins: Origins) -> Iterator[int]:
    """Yield for each message of a chain the number of messages of the provider up to it."""
    count = 0
    last: Origin | None = None
    for fragments in origins:
        for fragment in fragments:
            count += last is None or not is_shared(fragment, last)
            last = fragment
        yield count


def is_shared(fragment: Origin, last: Origin) -> bool:
    """Return True if both origins are in one message of the provider."""
    if fragment.blocks is None or last.blocks is None or fragment.ordinal != last.ordinal:
        return False
    return fragment.ordinal >= 0 or follows(fragment.blocks, last.blocks)


_LENGTH = re.compile(r'("processed_length"\s*:\s*)(-?\d+)')


def recorded_length(texts: Iterable[str]) -> int | None:
    """Return the processed_length in the texts beside the messages of a state document, or None if it has none."""
    found = next(filter(None, map(_LENGTH.search, texts)), None)
    return int(found[2]) if found else None


def with_length(text: str, length: int) -> str:
    return _LENGTH.sub(lambda found: f"{found[1]}{length}", text, count=1)


def is_state(format: Format) -> bool:
    return isinstance(format, GoaitoolsState)
