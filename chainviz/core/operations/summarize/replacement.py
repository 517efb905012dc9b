"""What a text makes of a piece: the messages that replace it, or why the piece stays as it is."""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from dataclasses import replace

from chainviz.core.chain.build import human
from chainviz.core.chain.messages import Message, byte_size
from chainviz.core.chain.tree import PairType
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.planning.plan import Piece, Texts
from chainviz.core.operations.summarize.summary_pair import NewIds, summary_pair
from chainviz.core.operations.summarize.writers.contract import Left

BETWEEN_TEXTS = "\n\n"
NOTHING_WRITTEN = "The summary is empty."


def settled(piece: Piece, options: SummarizeOptions, texts: Texts) -> Piece:
    """The piece with its real size, or left as it is; unchanged where there is no text yet."""
    text = texts.get(piece.key)
    if text is None:
        return piece
    if isinstance(text, Left):
        return replace(piece, left=text.reason)
    if not text.strip():
        return replace(piece, left=NOTHING_WRITTEN)
    if piece.continues:
        after = byte_size(BETWEEN_TEXTS + text)
    else:
        after = sum(message.size for message in folded_into(piece, text, options, random.Random(0)))
    if after > piece.size and not options.allow_growth:
        return replace(piece, left=f"The summary would take {after:,} bytes in place of {piece.size:,}.")
    return replace(piece, after=after)


def folded_into(
    piece: Piece, text: str, options: SummarizeOptions, source: random.Random, used: Container[str] = ()
) -> tuple[Message, ...]:
    """The messages that replace the piece."""
    if piece.rule == "qa-human":
        return (human(text),)
    carried: Sequence[Message] = ()
    if piece.rule in ("pair", "rotation") and piece.type is PairType.SUMMARIZATION:
        carried = piece.read().messages
    return summary_pair(text, piece.type, NewIds(options.template, source, used), carried=carried).messages
