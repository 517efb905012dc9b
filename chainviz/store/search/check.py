"""Check that the search index contains every message of the chains that it covers, with their words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from django.db import connection

from chainviz.core.counts import count_text
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import Piece, Places, join, total
from chainviz.store.fsck.findings import Finding, guarded
from chainviz.store.models import SearchBlock, SearchState
from chainviz.store.search import full_text_tables
from chainviz.store.search.blocks import BREAK, blocks_of, digest_of
from chainviz.store.search.index import unindexed
from chainviz.store.search.words import RULES

REBUILD = "build it again with `chainviz fsck --rebuild`."


def fsck_search() -> Iterator[Finding]:
    states = SearchState.objects.filter(rules=RULES).select_related("snapshot")
    for state in states.order_by("pk").iterator(chunk_size=100):
        yield from guarded(f"The search index of chain {state.pk}", _chain(state))
    waiting = unindexed().count()
    if waiting:
        yield Finding("note", f"{count_text(waiting, 'chain')} not in the search index yet; a worker adds them.")


def _chain(state: SearchState) -> Iterator[Finding]:
    rows: dict[Piece, Counter[bytes]] = defaultdict(Counter)
    keys: dict[bytes, int] = {}
    for pk, run, start, length, digest in SearchBlock.objects.filter(history=state.pk).values_list(
        "pk", "run", "start", "length", "digest"
    ):
        rows[Piece(run, start, length)][bytes(digest)] += 1
        keys[bytes(digest)] = pk
    places = Places(pieces_of(state.snapshot))
    wrong = Finding(
        "error", f"The search index of chain {state.pk} does not have the words of its newest version; {REBUILD}"
    )
    if total(join(sorted(rows))) != total(places.pieces) or any(places.index(p.run, p.start) < 0 for p in rows):
        yield wrong
        return
    for piece in sorted(rows):
        found = [block for group in blocks_of([piece]) for block in group]
        if Counter(digest_of(block.words) for block in found) != rows[piece]:
            yield wrong
            return
        for block in found:
            rarest = max((word for word in block.words if word != BREAK), key=len, default="")
            if rarest and not _has(state.pk, keys[block.digest], rarest):
                yield wrong
                return


def _has(history: int, key: int, word: str) -> bool:
    """Return True if the database has the block with this word, the longest one of the block."""
    asked = full_text_tables.condition([word], is_prefix=False)
    statement = "SELECT 1 FROM store_searchblock WHERE id = %s AND words @@ %s::tsquery"
    if connection.vendor == "sqlite":
        statement = f"SELECT 1 FROM {full_text_tables.table_of(history)} WHERE rowid IN (%s, -{key}) AND words MATCH %s"
    with connection.cursor() as cursor:
        cursor.execute(statement, [key, asked])
        return cursor.fetchone() is not None
