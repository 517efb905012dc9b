"""The words of blocks in the database.

SQLite: contentless FTS5 tables, so that no text is stored twice. FTS5 keeps the words of a deleted row until it merges its
segments, and its option against that needs SQLite 3.42. A table can be emptied at any time, though, so the words lie in
SHARDS tables by chain: taking a chain out empties one of them, and a job fills it again with the other chains.
The tokenizer `ascii` takes our words as they are: every letter beyond ASCII is part of a word.
The first blocks of a chain lie under negative numbers, before all others: a frequent word is in one of them in nearly every
chain, and then the thousands of others that have it are not gone through.

PostgreSQL: a tsvector in the row of the block with a GIN index, made of our words without a dictionary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection

from chainviz.store.models import SearchBlock
from chainviz.store.search.blocks import Block

SHARDS = 32
TABLES = [f"store_words_{shard}" for shard in range(SHARDS)]
FIRST = 8
"""The number of blocks of a chain that come before those of others."""
BLOCK = "JOIN store_searchblock b ON b.id = abs(f.rowid)"
"""The block of a row `f` of SQLite; a row whose block was dropped has none."""


def create(schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        for table in TABLES:
            schema_editor.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(words, content='', columnsize=0, tokenize='ascii')"
            )
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
