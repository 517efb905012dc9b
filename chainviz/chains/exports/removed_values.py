"""Find what was redacted or masked on the way to a content, so that the text of its file beside it is written without
it.

Nothing is stored for that: the values are read from the version before each step, at the places of its placeholders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chainviz.core.chain.messages import Message
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.documents.units import Pointer
from chainviz.core.formats import get_format
from chainviz.core.operations.mask import MASK
from chainviz.core.operations.redact import REDACT
from chainviz.core.operations.redact.rewriting import DEFAULT
from chainviz.core.operations.surrounding_copies import Copies, removed_texts, texts_in
from chainviz.core.secrets import Values
from chainviz.core.secrets.part_texts import fields, texts_of
from chainviz.core.secrets.scan import is_outside, place_number
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import messages_of
from chainviz.store.lineage import rewritten_messages, steps_of
from chainviz.store.models import Snapshot
from chainviz.store.purge.blanking import is_blank
from chainviz.store.transfer.document_context import context_of


@dataclass(frozen=True, slots=True)
class Removed:
    """Texts and values that the steps before a content removed, including those that were restored since."""

    texts: Mapping[str, None]
    """The redacted texts, in order."""
    values: Mapping[str, str]
    """The masked values, with their placeholders."""
    purged: int = 0
    """The number of texts and values that a purge removed since; they are not known any more."""


def removed_from(snapshot: Snapshot) -> Removed:
    """Raise Refused if that cannot be known any more."""
    texts: dict[str, None] = {}
    values: dict[str, str] = {}
    for step in steps_of(snapshot, (REDACT.name, MASK.name)):
        pairs = rewritten_messages(step)
        if step.operation == MASK.name:
            values |= dict(_masked(step, pairs))
        else:
            texts.update(dict.fromkeys(text for old, new in pairs for text in removed_texts(old, new)))
    known = {value: placeholder for value, placeholder in values.items() if not is_blank(value)}
    kept = {text: None for text in texts if not is_blank(text)}
    return Removed(kept, known, len(texts) - len(kept) + len(values) - len(known))


def rewrite_of(snapshot: Snapshot) -> Rewrite | None:
    """Return a rewrite that removes these values from text, or None if nothing was removed, or everything was restored.
    Raises Refused if the values are no longer known."""
    removed = removed_from(snapshot)
    texts, values = dict(removed.texts), dict(removed.values)
    if texts or values:
        _leave_out_what_is_back(snapshot, texts, values)
    if not texts and not values:
        return None
    copies, masked = Copies(texts, DEFAULT), Values(values)
    return lambda text: masked.mask_piece(copies.without(text))


def _masked(step: Snapshot, pairs: Sequence[tuple[Message, Message]]) -> Iterator[tuple[str, str]]:
    """Yield values and their placeholders, read from the places in the record of the step."""
    assert step.parent is not None
    blocks_at = get_format(step.parent.format).blocks_at
    pieces: list[str] | None = None
    for placeholder, at, part, place, start, end in unpack(step.options).get("places", ()):
        if at >= 0:
            held = _text_at(pairs[at][0], part, place, blocks_at) if at < len(pairs) else ""
        else:
            pieces = context_of(step.parent).texts() if pieces is None else pieces
            held = pieces[part] if part < len(pieces) else ""
        if held[start:end]:
            yield held[start:end], placeholder


def _text_at(message: Message, part: int, place: str, blocks_at: Pointer) -> str:
    """Return the text at a place of a message, which may be one of its unknown fields."""
    if is_outside(place):
        texts = [field.text for field in fields(message, blocks_at)]
        return texts[place_number(place)] if place_number(place) < len(texts) else ""
    return dict(texts_of(message.parts[part])).get(place, "")


def _leave_out_what_is_back(snapshot: Snapshot, texts: dict[str, None], values: dict[str, str]) -> None:
    """Drop texts and values that the chain itself contains, because they were restored or kept in a second place."""
    for message in messages_of(snapshot):
        for text in texts_in(message):
            texts.pop(text, None)
        for part in message.parts if values else ():
            for _, text in texts_of(part):
                for value in [value for value in values if value in text]:
                    del values[value]
