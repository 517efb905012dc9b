"""Look phrases up in the index, find them in a text, and cut out the words around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Exists, OuterRef

from chainviz.store.content.pieces import Piece
from chainviz.store.models import SearchBlock, SearchState
from chainviz.store.search import full_text_tables
from chainviz.store.search.full_text_tables import LONGEST_PHRASE, LONGEST_WORD, SPELLED, folded, meant, words

SHORTEST_PREFIX = 4
"""The fewest letters of a prefix. FTS5 reads all rows of all words with the prefix, which are too many for shorter ones."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Consecutive words. The last one may be the beginning of a word."""

    words: tuple[str, ...]
    is_prefix: bool = False

    @classmethod
    def of(cls, text: str, *, is_prefix: bool = False) -> Phrase:
        return cls(tuple(words(text)[:LONGEST_PHRASE]), is_prefix)


class FoundBlock(NamedTuple):
    history: int
    piece: Piece


def histories_with(phrase: Phrase, among: Set[int]) -> set[int]:
    """Return the chains among these that contain the phrase. A chain may be missing until its first index is complete."""
    if not among:
        return set()
    if connection.vendor == "sqlite":
        return _in_tables(phrase, among)
    return _in_index([phrase], among) if len(phrase.words) == 1 else _with_one_block(phrase, among)


def histories_with_together(phrases: Sequence[Phrase], among: Set[int]) -> set[int]:
    """Return the chains that have all phrases in one block, which one query finds. Other chains must be searched phrase by phrase."""
    if connection.vendor == "sqlite":
        return _in_rows(phrases, "f.rowid < 0", among)
    single = all(len(phrase.words) == 1 for phrase in phrases)
    return _in_index(phrases, among) if single and among else set()


def _in_index(phrases: Iterable[Phrase], among: Set[int]) -> set[int]:
    """Return the chains with a phrase, for PostgreSQL, whose index finds the blocks without reading them. Sequential scans are off, because
    PostgreSQL underestimates the cost of long rows and would read all of them for a frequent word."""
    blocks = "(SELECT * FROM store_searchblock WHERE words @@ %s::tsquery OFFSET 0) b"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        found = _histories(f"SELECT DISTINCT b.history_id FROM {blocks}", _all_of(phrases))
        cursor.execute("SET LOCAL enable_seqscan = DEFAULT")
    return found & among


def _with_one_block(phrase: Phrase, among: Set[int]) -> set[int]:
    """Search chain by chain, so that the first matching block ends the search of a chain."""
    found = "SELECT 1 FROM store_searchblock b WHERE b.history_id = h.id AND b.words @@ %s::tsquery"
    return _histories(f"SELECT h.id FROM unnest(%s::bigint[]) AS h (id) WHERE EXISTS ({found})", list(among), _condition(phrase))


def _in_tables(phrase: Phrase, among: Set[int]) -> set[int]:
    if phrase.is_prefix:
        # FTS5 collects the rows of all words with the prefix, whichever rows are requested, so one query is enough
        return _in_rows([phrase], "f.rowid IS NOT NULL", among)
    found = _in_rows([phrase], "f.rowid < 0", among)
    return found | _in_rows([phrase], "f.rowid > 0", _long(among - found))


def _long(histories: Set[int]) -> set[int]:
    """Return the chains that have blocks other than the first."""
    others = SearchBlock.objects.filter(history=OuterRef("pk"), is_first=False)
    return set(SearchState.objects.filter(Exists(others), pk__in=histories).values_list("pk", flat=True))


def _in_rows(phrases: Iterable[Phrase], rows: str, among: Set[int]) -> set[int]:
    each = f"SELECT b.history_id FROM {{0}} f CROSS {full_text_tables.BLOCK} WHERE f.words MATCH %s AND {rows}"
    tables = {full_text_tables.table_of(history) for history in among}
    if not tables:
        return set()
    asked = _all_of(phrases)
    return _histories(" UNION ".join(each.format(table) for table in sorted(tables)), *[asked] * len(tables)) & among


def _histories(statement: str, *values: Any) -> set[int]:
    return {history for (history,) in _rows(statement, *values)}


def _rows(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
    return rows


def _condition(phrase: Phrase) -> str:
    return full_text_tables.condition(phrase.words, is_prefix=phrase.is_prefix)


def _all_of(phrases: Iterable[Phrase]) -> str:
    return full_text_tables.all_of(map(_condition, phrases))


def blocks_with(phrases: Iterable[Phrase], histories: Collection[int], enough: int) -> set[FoundBlock]:
    """Return the blocks of these chains that have all the phrases. A chain with more than `enough` such blocks may lack some."""
    phrases = list(phrases)
    asked = _all_of(phrases)
    columns = "b.history_id, b.run_id, b.start, b.length"
    if connection.vendor == "sqlite":
        rows = [row for history in histories for row in _rows(_of_chain(columns, history), asked, asked)]
    else:
        is_phrase = any(len(each.words) > 1 for each in phrases)
        rows = _rows_of_chains(columns, asked, histories, enough + 1 if is_phrase else None)
    return {FoundBlock(history, Piece(*piece)) for history, *piece in rows}


def _rows_of_chains(columns: str, asked: str, histories: Collection[int], most: int | None) -> list[Any]:
    """Search chain by chain, because the chains of a page have only a few of all matching blocks. `most` is the limit for each chain."""
    blocks = "(SELECT * FROM store_searchblock WHERE history_id = h.id OFFSET 0) c"
    found = f"SELECT * FROM {blocks} WHERE words @@ %s::tsquery LIMIT %s"
    return _rows(f"SELECT {columns} FROM unnest(%s::bigint[]) AS h (id), LATERAL ({found}) b", list(histories), asked, most)


def _of_chain(columns: str, history: int) -> str:
    """Return a query that searches only the row numbers of the chain's blocks, among the thousands in its table."""
    lowest, highest = (f"(SELECT {which}(id) FROM store_searchblock WHERE history_id = {history})" for which in ("min", "max"))
    chosen = f"SELECT {columns} FROM {full_text_tables.table_of(history)} f CROSS {full_text_tables.BLOCK}"
    where = f"WHERE b.history_id = {history} AND f.words MATCH %s AND f.rowid BETWEEN"
    return f"{chosen} {where} -{highest} AND -{lowest} UNION ALL {chosen} {where} {lowest} AND {highest}"


BEFORE, AFTER = 50, 110
"""The number of characters before and after the first place."""
AT_ONCE, OVERLAP = 8_000, 1_500
"""The number of characters that are searched together, and how many of them the next ones repeat."""

Excerpt = tuple[tuple[str, bool], ...]
"""Pieces of a text, each with whether it is one of the phrases."""


def pattern_of(phrases: Sequence[Phrase]) -> re.Pattern[str]:
    """Find any of the phrases in a folded text, as the index does."""
    return re.compile("|".join(f"(?:{_pattern(phrase)})" for phrase in phrases))


def _pattern(phrase: Phrase) -> str:
    found = ""
    for place, word in enumerate(phrase.words):
        is_spelled = bool(SPELLED.match(word))
        begin = rf"(?<!{SPELLED.pattern})" if is_spelled and not place else ""
        if place:
            begin = r"[\W_]+" if is_spelled and SPELLED.fullmatch(phrase.words[place - 1][-1:]) else r"[\W_]*"
        is_open = len(word) == LONGEST_WORD or (phrase.is_prefix and place == len(phrase.words) - 1)
        end = f"{SPELLED.pattern}*" if is_open else f"(?!{SPELLED.pattern})" if is_spelled else ""
        found += begin + re.escape(word) + end
    return found


def excerpt(text: str, pattern: re.Pattern[str]) -> Excerpt | None:
    """Return the first place of a phrase with the words around it, or None. Escapes of JSON are decoded."""
    for source in dict.fromkeys((meant(text), text)):
        for start in range(0, max(1, len(source)), AT_ONCE - OVERLAP):
            some = source[start : start + AT_ONCE]
            found = pattern.search(folded(some))
            if found and found.group():
                _, places = _with_places(some)
                return _around(source, start + places[found.start()], start + places[found.end()], pattern)
            if start + AT_ONCE >= len(source):
                break
    return None


def _around(text: str, begin: int, stop: int, pattern: re.Pattern[str]) -> Excerpt:
    """Return the excerpt around the first place, which is `begin:stop`."""
    at, end = _whole_words(text, max(0, begin - BEFORE), begin), min(len(text), stop + AFTER)
    start = max(0, begin - 1)
    plain, places = _with_places(text[start : stop + OVERLAP])
    pieces: list[tuple[str, bool]] = []
    for found in pattern.finditer(plain, bisect_left(places, begin - start)):
        begin, stop = start + places[found.start()], start + places[found.end()]
        if stop > end:
            break
        pieces += [(text[at:begin], False), (text[begin:stop], True)]
        at = stop
    return tuple(piece for piece in (*pieces, (text[at:end], False)) if piece[0])


def _whole_words(text: str, at: int, begin: int) -> int:
    """Return the first start of a whole word between the two; `at` if no white space ends the cut one."""
    cut = at and not text[at - 1].isspace() and re.compile(r"\S+\s+").match(text, at, begin)
    return cut.end() if cut else at


def _with_places(text: str) -> tuple[str, Sequence[int]]:
    """Return the folded text, and for each of its letters the index of the letter in the text."""
    plain = folded(text)
    if len(plain) == len(text):
        return plain, range(len(text) + 1)
    letters = [letter.lower() if letter.isascii() else folded(letter) for letter in text]
    places = [place for place, letter in enumerate(letters) for _ in letter]
    return "".join(letters), [*places, len(text)]
