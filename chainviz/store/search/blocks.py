"""Cut the messages of a chain into blocks of words, which are small enough that a phrase is found, and a match read, quickly."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice

from django.conf import settings

from chainviz.core.chain.messages import Image, Message, Part, ToolCall
from chainviz.store.content.message_reader import read_placed
from chainviz.store.content.pieces import Piece, PlacedMessage
from chainviz.store.query.find import part_texts
from chainviz.store.search.words import LONGEST_PHRASE, words_as_written, words_of_long

MOST_WORDS = 2_000
MOST_TIMES = 250
"""The most occurrences of one word in a block. PostgreSQL stores at most 256 positions of a word in a row."""
BREAK = "\ue000"
"""The separator of two texts, which no phrase can span: a private-use letter that `words` never yields."""


@dataclass(frozen=True, slots=True)
class Block:
    piece: Piece
    words: tuple[str, ...]

    @property
    def digest(self) -> bytes:
        return digest_of(self.words)


def digest_of(words: Iterable[str]) -> bytes:
    """Return a keyed digest, so that nobody can guess words from the table."""
    return hmac.new(settings.SECRET_KEY.encode(), b"search " + " ".join(words).encode(), sha256).digest()[:16]


def texts_of(message: Message) -> Iterator[str]:
    """Yield the searchable texts of a message: the same that the search inside a chain finds, except the bytes of images."""
    for part in message.parts:
        if isinstance(part, ToolCall):
            # strings inside arguments are decoded here, so they are not added again
            yield from (part.name, part.arguments, part.id)
            yield from (part.reasoning.content,) if part.reasoning else ()
        elif not _is_embedded(part):
            yield from part_texts(part)


def _is_embedded(part: Part) -> bool:
    return isinstance(part, Image) and part.url.startswith("data:")


def blocks_of(pieces: Iterable[Piece]) -> Iterator[Iterable[Block]]:
    """Yield groups of blocks with whole messages. Several short messages share a block. A long one has many, which are made while
    they are read, because all words of a text of 175 MB would take 450 MB."""
    waiting: list[PlacedMessage] = []
    held: list[str] = []
    for placed in read_placed(pieces):
        words = _message_words(placed.message)
        new = list(islice(words, MOST_WORDS + 1))
        follows = waiting and _follows(waiting[-1].piece, placed.piece)
        if waiting and (not follows or len(held) + len(new) > MOST_WORDS):
            yield list(_cut(_joined(waiting), held))
            waiting, held = [], []
        if len(new) > MOST_WORDS:
            yield _cut(placed.piece, chain(new, words))
            continue
        waiting.append(placed)
        held = [*held, *new] if held else new
    if waiting:
        yield list(_cut(_joined(waiting), held))


def _follows(one: Piece, other: Piece) -> bool:
    return one.run == other.run and one.start + one.length == other.start


def _joined(placed: list[PlacedMessage]) -> Piece:
    first = placed[0].piece
    return Piece(first.run, first.start, len(placed))


def _message_words(message: Message) -> Iterator[str]:
    for text in texts_of(message):
        for some in words_of_long(text):
            yield from some
        yield BREAK
        if "\\" in text:
            yield from words_as_written(text)
            yield BREAK


def _cut(piece: Piece, words: Iterable[str]) -> Iterator[Block]:
    """Yield blocks that overlap by the length of a phrase, so that no phrase is split. Without words there is still one block, which
    records that the messages were read."""
    left = iter(words)
    held = list(islice(left, MOST_WORDS))
    while True:
        end = len(held)
        while _is_crowded(held[:end]):
            end //= 2
        yield Block(piece, tuple(held[:end]))
        kept = held[max(0, end - LONGEST_PHRASE + 1) :]
        more = list(islice(left, MOST_WORDS - len(kept)))
        if end == len(held) and not more:
            return
        held = kept + more


def _is_crowded(words: list[str]) -> bool:
    return len(words) > MOST_TIMES and max(Counter(words).values()) > MOST_TIMES
