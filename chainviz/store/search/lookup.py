"""Looks phrases up in the index."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection

from chainviz.store.content.pieces import Piece
from chainviz.store.search import full_text_tables
from chainviz.store.search.words import LONGEST_PHRASE, words

SHORTEST_PREFIX = 3


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in a row; the last one may be the beginning of a word."""

    words: tuple[str, ...]
    is_prefix: bool = False

    @classmethod
    def of(cls, text: str, *, is_prefix: bool = False) -> Phrase:
        return cls(tuple(words(text)[:LONGEST_PHRASE]), is_prefix)


class FoundBlock(NamedTuple):
    history: int
    piece: Piece


def histories_with(phrase: Phrase) -> set[int]:
    """Chains of all teams. One that is indexed for the first time may be missing until its index is complete."""
    asked = full_text_tables.condition(phrase.words, is_prefix=phrase.is_prefix)
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            each = "SELECT b.history_id FROM {0} f JOIN store_searchblock b ON b.id = f.rowid WHERE f.words MATCH %s"
            statement = " UNION ".join(each.format(table) for table in full_text_tables.TABLES)
            cursor.execute(statement, [asked] * full_text_tables.SHARDS)
        else:
            # chain by chain, so that the first block that has it ends the search of a chain
            found = "SELECT 1 FROM store_searchblock b WHERE b.history_id = s.history_id AND b.words @@ %s::tsquery"
            cursor.execute(f"SELECT s.history_id FROM store_searchstate s WHERE EXISTS ({found})", [asked])
        return {history for (history,) in cursor.fetchall()}


def blocks_with(phrases: Iterable[Phrase], histories: Collection[int]) -> set[FoundBlock]:
    """Blocks of these chains that have all of them."""
    found: set[FoundBlock] = set()
    asked = full_text_tables.all_of(full_text_tables.condition(each.words, is_prefix=each.is_prefix) for each in phrases)
    by_table: dict[str, list[int]] = {}
    for history in histories:
        by_table.setdefault(full_text_tables.table_of(history), []).append(history)
    with connection.cursor() as cursor:
        if connection.vendor != "sqlite":
            columns = "SELECT history_id, run_id, start, length FROM store_searchblock"
            where = "WHERE words @@ %s::tsquery AND history_id = ANY(%s)"
            cursor.execute(f"{columns} {where}", [asked, list(histories)])
            return {FoundBlock(history, Piece(*piece)) for history, *piece in cursor.fetchall()}
        for table, mine in by_table.items():
            numbers = ",".join(map(str, mine))
            cursor.execute(
                f"SELECT b.history_id, b.run_id, b.start, b.length FROM {table} f"
                f" CROSS JOIN store_searchblock b ON b.id = f.rowid WHERE f.words MATCH %s AND b.history_id IN ({numbers})",
                [asked],
            )
            found.update(FoundBlock(history, Piece(*piece)) for history, *piece in cursor.fetchall())
    return found
