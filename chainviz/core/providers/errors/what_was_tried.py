"""What was compared with a chain to find an API's error in it: said where no problem was found."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.providers.errors.error_messages import ErrorMessage, known_sentences
from chainviz.core.providers.errors.locate_error import LocatedError

NAMED = 4
"""Ids that are listed."""


def what_was_tried(error: ErrorMessage, found: LocatedError) -> Iterator[str]:
    """Sentences: what the message was compared with, and what it names."""
    if found.provider is None:
        count = len({each.sentence.says for each in known_sentences()})
        yield f"None of the {count:,} known sentences of APIs fits the message."
    elif not found.problems:
        yield f"{found.provider.label} says this of {', '.join(error.rules[:NAMED])}: the chain has no such problem there."
    places = found.places
    if places.ids:
        yield f"The message names {_listed(places.ids)}, which the chain has."
    if places.missing:
        yield f"The message names {_listed(places.missing)}, which the chain does not have."
    if error.message is not None and not places.by_index:
        yield f"The message names number {error.message:,} of the request, counted from 0: the chain has fewer messages."
    if not error.ids and error.message is None and not places.ids:
        yield "The message names no id and no place."


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return f"the id{'s' if len(ids) > 1 else ''} {', '.join(f'“{id[:60]}”' for id in ids[:NAMED])}{more}"
