"""Values that a person may purge: typed values, one a line, and the texts of whole messages."""

from __future__ import annotations

from collections.abc import Iterable

from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import Refused
from chainviz.core.secrets.part_texts import texts_of
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.versions import head_of
from chainviz.store.models import History

SHORTEST = 4
SHORTEST_TEXT = 8
"""A shorter text of a chosen message is kept, because the same word occurs in too many other places."""
MOST_VALUES = 200


def values_in(text: str) -> tuple[str, ...]:
    """Return the values, one a line. Raises Refused, with a sentence, for values that would damage too much."""
    values = tuple(dict.fromkeys(line.strip("\r") for line in text.split("\n") if line.strip()))
    short = [value for value in values if len(value.strip()) < SHORTEST]
    if short:
        raise Refused(f"A value needs at least {SHORTEST} characters: a shorter one occurs in too many places.")
    if len(values) > MOST_VALUES:
        raise Refused(f"At most {MOST_VALUES} values can be purged at once; these are {len(values)}.")
    return values


def with_other_cases(text: str) -> str:
    """Add, below each value, its spellings in small letters, in capitals and with initial capitals, one a line."""
    lines = [line.strip("\r") for line in text.split("\n") if line.strip()]
    return "\n".join(
        dict.fromkeys(each for line in lines for each in (line, line.lower(), line.upper(), line.capitalize(), line.title()))
    )


def requested_values(chain: Chain, values: str, paths: str) -> tuple[str, ...]:
    """Return all values of a form. Raises Refused, or a ChainError of a path, in a sentence."""
    words = paths.replace(",", " ").split()
    found = (*values_in(values), *(_texts_at(_newest(chain), words) if words else ()))
    if not found:
        raise Refused("Give a value, or the path of a message.")
    return found


def _newest(chain: Chain) -> StoredChain:
    return StoredChain(head_of(History.objects.get(pk=chain.history)).snapshot)


def _texts_at(chain: StoredChain, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the texts of whole messages, as values."""
    found: dict[str, None] = {}
    for word in paths:
        path = parse_path(word)
        for message in chain.at(Path(path.section, path.pair, path.message)):
            for part in message.parts:
                found |= dict.fromkeys(text for _, text in texts_of(part) if len(text.strip()) >= SHORTEST_TEXT)
    return tuple(found)
