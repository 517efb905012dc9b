"""Update the text around the messages of a state document after a change, since its processed_length depends on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chainviz.core import formats
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.state.processed_length import ChangedState, is_state, recorded_length, with_length
from chainviz.store.content.message_reader import pieces_of, read_rows
from chainviz.store.content.pieces import Piece, PlacedSplice, splice
from chainviz.store.content.spans import SourceSpan, unpack_spans
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import context_of


def surroundings_after(
    parent: Snapshot, changes: Sequence[PlacedSplice], around: DocumentContext | None
) -> DocumentContext | None:
    """`around` is what a step makes of the surroundings of `parent`; None, also as the answer: they stay the same. A step
    that sets the processed_length itself has the last word."""
    format = formats.get_format(parent.format)
    own = context_of(parent)
    length = recorded_length(own.texts()) if is_state(format) else None
    if length is None or (around is not None and recorded_length(around.texts()) != length):
        return around
    before = pieces_of(parent)
    after = splice(before, [change.pieces for change in changes])
    following = ChangedState(format, changes, lambda: _origins(before), lambda: _origins(after)).length(length)
    return (around or own).rewritten(lambda text: with_length(text, following)) or around


def differ_in_length_only(one: Snapshot, other: Snapshot) -> bool:
    """Return True if the surroundings of two snapshots differ only in the processed_length of a state document."""
    if not is_state(formats.get_format(one.format)) or one.format != other.format:
        return False
    first, second = ([with_length(text, 0) for text in context_of(each).texts()] for each in (one, other))
    return first == second


def _origins(pieces: Iterable[Piece]) -> list[list[SourceSpan]]:
    return [unpack_spans(row.source) for row in read_rows(pieces)]
