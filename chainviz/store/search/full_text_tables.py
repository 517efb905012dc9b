"""Texts as words, and the words of blocks of messages in the database. A block is small enough to be read for one hit.

SQLite: contentless FTS5 tables, so that no text is stored twice. FTS5 keeps the words of a deleted row until it merges its segments,
and its option against that needs SQLite 3.42. A table can be emptied at any time, though, so the words lie in SHARDS tables by chain:
taking a chain out empties one of them, and a job fills it again with the other chains. The tokenizer `ascii` takes our words as they
are: every letter beyond ASCII is part of a word. The first blocks of a chain lie under negative numbers, before all others: a frequent
word is in one of them in nearly every chain, and then the thousands of others that have it are not gone through.

PostgreSQL: a tsvector in the row of the block with a GIN index, made of our words without a dictionary.
"""

from __future__ import annotations

import hmac
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.db import connection

from chainviz.core.chain.messages import Image, Message, Part, ToolCall
from chainviz.store.content.message_reader import read_placed
from chainviz.store.content.pieces import Piece, PlacedMessage
from chainviz.store.models import SearchBlock
from chainviz.store.query.find import part_texts

RULES = 2
"""Increase this if words are cut or stored differently, or other texts are indexed, so that all chains are indexed again."""
LONGEST_WORD = 64
"""The longest word, in characters; a longer one, as in base64, is cut."""
LONGEST_PHRASE = 16
"""The most words of a phrase that count; neighbouring blocks overlap by as many."""
AT_ONCE = 100_000
"""The number of characters that are cut into words together."""
_KEPT = "\\_"
"""Characters that belong to the following word."""
_EACH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Scripts without spaces between words."""
_ESCAPES = re.compile(r"\\+(?:u[0-9a-fA-F]{4}(?:\\+u[0-9a-fA-F]{4})*|[nrtbf])")
_UNITS = re.compile(r"u([0-9a-fA-F]{4})")
_RUNS = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
"""Runs of ASCII, which needs no tables, and of other characters; most of a text with other letters is ASCII."""
_WRITTEN = re.compile(r"\\([nrtbfu]\w+)")
SPELLED = re.compile(rf"[^\W_{_EACH}]")
"""A letter of a word with several letters."""
WORD = re.compile(rf"[{_EACH}]|{SPELLED.pattern}+")


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(run.lower() if run.isascii() else _without_accents(run) for run in _RUNS.findall(text))


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold())
    # what is left of Hangul is its letters; they are put together again
    kept = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", kept).casefold()


def meant(text: str) -> str:
    """Return the text with the escapes of JSON read as what they mean."""
    return _ESCAPES.sub(_escape, text) if "\\" in text else text


def _escape(found: re.Match[str]) -> str:
    units = _UNITS.findall(found[0])
    return bytes.fromhex("".join(units)).decode("utf-16-be", "replace") if units else " "


def words(text: str) -> list[str]:
    return [word[:LONGEST_WORD] for word in WORD.findall(folded(meant(text)))]


def words_as_written(text: str) -> Iterator[str]:
    """Yield the words that begin like an escape, as in `C:\\new`."""
    if "\\" in text:
        for found in _WRITTEN.finditer(text):
            yield from (word[:LONGEST_WORD] for word in WORD.findall(folded(found[1])))


def words_of_long(text: str) -> Iterator[list[str]]:
    """Yield the words of a text of any length, some at a time. It is cut behind a word, or after very many letters."""
    start = 0
    while start < len(text):
        end = start + AT_ONCE
        while end < min(len(text), start + 2 * AT_ONCE) and (text[end].isalnum() or text[end] in _KEPT):
            end += 1
        yield words(text[start:end])
        start = end


SHARDS = 32
TABLES = [f"store_words_{shard}" for shard in range(SHARDS)]
FIRST = 8
"""The number of blocks of a chain that come before those of others."""
BLOCK = "JOIN store_searchblock b ON b.id = abs(f.rowid)"
"""The block of a row `f` of SQLite; a row whose block was dropped has none."""


def create(schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(words, content='', columnsize=0, tokenize='ascii')")
        return
    schema_editor.execute("ALTER TABLE store_searchblock ADD COLUMN words tsvector")
    schema_editor.execute("CREATE INDEX store_searchblock_words ON store_searchblock USING gin (words)")


def drop(schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(f"DROP TABLE {table}")
        return
    schema_editor.execute("ALTER TABLE store_searchblock DROP COLUMN words")


def table_of(history: int) -> str:
    return TABLES[history % SHARDS]


def write(history: int, blocks: Sequence[Block]) -> None:
    """Write blocks of a chain, with their words."""
    if connection.vendor == "sqlite":
        rows = SearchBlock.objects.bulk_create(_rows(history, blocks))
        places = (-row.pk if row.is_first else row.pk for row in rows)
        # FTS5 writes a segment whenever a number is lower than the one before
        values: list[tuple[Any, ...]] = sorted(zip(places, (" ".join(block.words) for block in blocks), strict=True))
        statement = f"INSERT INTO {table_of(history)} (rowid, words) VALUES (%s, %s)"
    else:
        values = [(history, *block.piece, block.digest, _vector(block.words)) for block in blocks]
        columns = "(history_id, run_id, start, length, digest, words, is_first)"
        statement = f"INSERT INTO store_searchblock {columns} VALUES (%s, %s, %s, %s, %s, %s::tsvector, false)"
    with connection.cursor() as cursor:
        cursor.executemany(statement, values)


def _rows(history: int, blocks: Sequence[Block]) -> Iterator[SearchBlock]:
    held = SearchBlock.objects.filter(history=history)[:FIRST].count()
    for number, block in enumerate(blocks, held):
        run, start, length = block.piece
        facts = {"digest": block.digest, "is_first": number < FIRST}
        yield SearchBlock(history_id=history, run_id=run, start=start, length=length, **facts)


def _vector(words: Sequence[str]) -> str:
    places: dict[str, list[str]] = defaultdict(list)
    for place, word in enumerate(words, 1):
        places[word].append(str(place))
    return " ".join(f"'{word}':{','.join(found)}" for word, found in places.items())


def empty(table: str) -> None:
    """Remove all words of a table of SQLite, bytes included: the connection's secure_delete overwrites them."""
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")


def condition(phrase: Sequence[str], *, is_prefix: bool) -> str:
    """Return the condition on the words, for SQLite's MATCH or for PostgreSQL's @@."""
    if connection.vendor == "sqlite":
        return f'"{" ".join(phrase)}"{" *" if is_prefix else ""}'
    asked = [f"'{word}'" for word in phrase]
    return " <-> ".join(asked) + (":*" if is_prefix else "")


def all_of(conditions: Iterable[str]) -> str:
    return (" AND " if connection.vendor == "sqlite" else " & ").join(conditions)


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
