"""Update the search index of a chain to its newest version, remove chains from it, and check that it is complete.

Content that two versions share is written once. A complete index contains every message of the chains that it covers, with their words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice

from django.db import connection, router, transaction
from django.db.models import F, Q, QuerySet

from chainviz.core.counts import count_text
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import Piece, Places, join, total
from chainviz.store.fsck import Finding, guarded
from chainviz.store.models import History, SearchBlock, SearchState
from chainviz.store.search import full_text_tables
from chainviz.store.search.full_text_tables import BREAK, RULES, Block, blocks_of, digest_of

WRITTEN = 200
"""The number of blocks written in one transaction. A message with more blocks is still written in one."""

UNREADABLE = 0
"""The edition of the rules in the state of a chain whose newest version could not be read."""

Report = Callable[[float], None]


def unindexed() -> QuerySet[History]:
    """Return the chains whose newest version is not in the index."""
    current = Q(search_state__snapshot=F("head__snapshot"), search_state__rules=RULES)
    return History.objects.filter(head__isnull=False).exclude(current)


def waiting() -> QuerySet[History]:
    """Return the chains that still have to be indexed. A chain that could not be read waits for its next version."""
    unreadable = Q(search_state__snapshot=F("head__snapshot"), search_state__rules=UNREADABLE)
    return unindexed().exclude(unreadable)


def pass_over(number: int) -> None:
    """Note that the newest version of a chain cannot be read, so that the index goes on without it."""
    history = History.objects.select_related("head").get(pk=number)
    if history.head is not None:
        defaults = {"snapshot_id": history.head.snapshot_id, "rules": UNREADABLE}
        SearchState.objects.update_or_create(history=history, defaults=defaults)


def index_chain(number: int, report: Report = lambda done: None) -> bool:
    """Index the newest version of a chain. Return False if the chain was purged, deleted or saved meanwhile; blocks written until then
    stay. Only one writer may run at a time."""
    history = History.objects.select_related("head__snapshot").filter(pk=number, head__isnull=False).first()
    if history is None or history.head is None:
        return False
    snapshot = history.head.snapshot
    if SearchState.objects.filter(history=number).exclude(rules=RULES).exists():
        with transaction.atomic():
            remove({number})
        return False
    pieces = pieces_of(snapshot)
    missing, length = _missing(number, Places(pieces)), 0
    wanted = sum(piece.length for piece in missing)
    for batch in _batches(blocks_of(missing)):
        with transaction.atomic():
            if not _is_same(history):
                return False
            blocks, done = iter(batch), set[Piece]()
            while some := list(islice(blocks, WRITTEN)):
                full_text_tables.write(number, some)
                done.update(block.piece for block in some)
        length += sum(piece.length for piece in done)
        report(length / wanted)
    with transaction.atomic():
        if not _is_same(history):
            return False
        SearchState.objects.update_or_create(history=history, defaults={"snapshot": snapshot, "rules": RULES})
    return True


def remove(histories: Collection[int]) -> None:
    """Remove chains and their words from the index. On SQLite, other chains in the same tables are removed too, until `index_chain` is
    called for the `unindexed` chains."""
    rows = Q(history__in=histories)
    if connection.vendor == "sqlite":
        shards = {number % full_text_tables.SHARDS for number in histories}
        rows = Q(history__in=[pk for pk in _known() if pk % full_text_tables.SHARDS in shards])
        for shard in sorted(shards):
            full_text_tables.empty(full_text_tables.TABLES[shard])
    for model in (SearchState, SearchBlock):
        found = model._default_manager.filter(rows)
        found._raw_delete(router.db_for_write(model))


def rebuild_index() -> int:
    """Build the whole index again. Returns the number of chains."""
    with transaction.atomic():
        remove(_known())
    return sum(index_chain(key) for key in list(unindexed().values_list("pk", flat=True)))


def _known() -> set[int]:
    blocks = SearchBlock.objects.values_list("history", flat=True).distinct()
    return {*blocks, *SearchState.objects.values_list("history", flat=True)}


def _is_same(history: History) -> bool:
    """Lock the chain until the transaction ends. Return False if it has changed since it was read."""
    same = History.objects.select_for_update().filter(pk=history.pk, edition=history.edition, head=history.head)
    return same.exists()


def _missing(number: int, places: Places) -> list[Piece]:
    """Return the messages of the newest version that are not in the index. Drops the blocks of messages that it no longer has."""
    kept, gone = [], []
    for block in SearchBlock.objects.filter(history=number).only("run", "start", "length"):
        piece = Piece(block.run_id, block.start, block.length)
        whole = [index >= 0 for index, _ in places.segments(piece)] == [True]
        kept += [piece] if whole else []
        gone += [] if whole else [block.pk]
    SearchBlock.objects.filter(pk__in=gone).delete()
    covered = Places(join(sorted(set(kept))))
    missing = (part for piece in places.pieces for index, part in covered.segments(piece) if index < 0)
    return join(missing)


def _batches(groups: Iterable[Iterable[Block]]) -> Iterator[Iterable[Block]]:
    """Yield batches of whole groups, so that the index has either all words of a message or none."""
    batch: list[Block] = []
    for group in groups:
        if not isinstance(group, list):
            yield chain(batch, group)
            batch = []
            continue
        batch += group
        if len(batch) >= WRITTEN:
            yield batch
            batch = []
    if batch:
        yield batch


REBUILD = "build it again with `chainviz fsck --rebuild`."


def fsck_search() -> Iterator[Finding]:
    states = SearchState.objects.filter(rules=RULES).select_related("snapshot")
    for state in states.order_by("pk").iterator(chunk_size=100):
        yield from guarded(f"The search index of chain {state.pk}", _chain(state))
    count = waiting().count()
    if count:
        yield Finding("note", f"{count_text(count, 'chain')} not in the search index yet; a worker adds them.")


def _chain(state: SearchState) -> Iterator[Finding]:
    rows: dict[Piece, Counter[bytes]] = defaultdict(Counter)
    keys: dict[bytes, int] = {}
    for pk, run, start, length, digest in SearchBlock.objects.filter(history=state.pk).values_list(
        "pk", "run", "start", "length", "digest"
    ):
        rows[Piece(run, start, length)][bytes(digest)] += 1
        keys[bytes(digest)] = pk
    places = Places(pieces_of(state.snapshot))
    wrong = Finding("error", f"The search index of chain {state.pk} does not have the words of its newest version; {REBUILD}")
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
