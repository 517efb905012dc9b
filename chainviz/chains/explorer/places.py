"""Places of a chain as people and APIs name them: the number of a message in the request, a path, the id of a call."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.core.pasted_errors.locate import sent_together
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.content.spans import unpack_spans
from chainviz.store.query.find import messages_with_id
from chainviz.web.http import small_number

FIRST, LAST = "first", "last"
PREFIXES = ("messages.", "messages[", "message ", "contents[", "input[", "#")
"""Words before the number of a message, as APIs and chainviz write them."""
WAYS = "the number of a message, a path such as s2.p4, or the id of a call"
READ_TOGETHER = 2_000
MOST_CALLS = 16


@dataclass(frozen=True, slots=True)
class Spot:
    path: Path
    words: str
    """The words there, such as `message 13`."""


class NoSuchPlace(PathError):
    """Raised if nothing in the chain has this name."""


def find_place(chain: StoredChain, text: str) -> Spot:
    """Find the node that a text names. Raises NoSuchPlace with a sentence about valid names."""
    words = text.strip()
    if not words:
        raise NoSuchPlace(f"Enter {WAYS}.")
    if not len(chain):
        raise NoSuchPlace("This chain is empty.")
    if words in (FIRST, LAST):
        return _spot_at(chain, 0 if words == FIRST else len(chain) - 1, f"{words} message")
    number = message_number(words)
    if number is not None:
        return _numbered(chain, number)
    return _path(chain, words) or _call(chain, words)


def message_number(words: str) -> int | None:
    """Return the number in `13`, `1,300`, `messages.13` or `messages[13].content`, or None for any other text."""
    for prefix in PREFIXES:
        if words.lower().startswith(prefix):
            return small_number(words[len(prefix) :].split("]")[0].split(".")[0].replace(",", ""))
    return small_number(words.replace(",", ""))


def _numbered(chain: StoredChain, number: int) -> Spot:
    found = sent_together(number, _ordinals(chain))
    if not found:
        raise NoSuchPlace(f"No message {number:,}: the last one is {_count(chain) - 1:,}, counted from 0 as the API does.")
    return _spot_at(chain, found[0], f"message {number:,}")


def _spot_at(chain: StoredChain, index: int, words: str) -> Spot:
    return Spot(chain.outline.path_at(index), words)


def _ordinals(chain: StoredChain) -> Iterator[int | None]:
    """Yield the unit of the source in which each message begins, or None if it has none yet."""
    start = 0
    while start < len(chain):
        stop = min(len(chain), start + READ_TOGETHER)
        yield from (_ordinal(row) for row in chain.rows(start, stop))
        start = stop


def _ordinal(row: StoredMessage) -> int | None:
    spans = unpack_spans(row.source)
    return spans[0].ordinal if spans else None


def _count(chain: StoredChain) -> int:
    """Count the messages of the request: neighbours from one unit of the source are one, and content of a slot is none."""
    count, last = 0, object()
    for ordinal in _ordinals(chain):
        if ordinal is not None and ordinal < 0:
            continue
        count += ordinal is None or ordinal != last
        last = ordinal
    return count


def _path(chain: StoredChain, words: str) -> Spot | None:
    try:
        path = parse_path(words)
        chain.span(path)
    except PathError:
        return None
    return Spot(path, f"{path.number}")


def _call(chain: StoredChain, id: str) -> Spot:
    found = messages_with_id(chain, id, MOST_CALLS)
    named = (index for index, row in zip(found, chain.rows_at(found), strict=True) if _has_call(row, id))
    index = next(named, None)
    if index is None:
        raise NoSuchPlace(f"This chain has no “{id[:60]}”. Enter {WAYS}.")
    return _spot_at(chain, index, f"call {id[:60]}")


def _has_call(row: StoredMessage, id: str) -> bool:
    return id in {ref.id for ref in (*row.shape.calls, *row.shape.results)}


def request_numbers(chain: StoredChain, indexes: Collection[int]) -> dict[int, int]:
    """Return the numbers in the request of some messages, counted from 0, by index. Messages outside the request have none."""
    numbers: dict[int, int] = {}
    number, last = -1, object()
    for index, ordinal in enumerate(islice(_ordinals(chain), max(indexes, default=-1) + 1)):
        if ordinal is not None and ordinal < 0:
            continue
        number += ordinal is None or ordinal != last
        last = ordinal
        if index in indexes:
            numbers[index] = number
    return numbers
