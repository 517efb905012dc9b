"""Search in the contents of all chains of the library."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef
from django.urls import reverse

from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.render.visible_text import marks
from chainviz.core.chain.messages import ROLE_NAMES, Message, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.message_shapes import clean
from chainviz.store.content.pieces import Piece, Places
from chainviz.store.content.spans import stored_bytes
from chainviz.store.models import SearchState, Snapshot
from chainviz.store.outline.build import OutlineMissing, outline_of
from chainviz.store.outline.reader import OutlineReader, read_ahead
from chainviz.store.query.find import part_texts
from chainviz.store.search.full_text_tables import LONGEST_PHRASE, words
from chainviz.store.search.index import index_chain, pass_over, unindexed, waiting
from chainviz.store.search.lookup import SHORTEST_PREFIX, Excerpt, Phrase, blocks_with, excerpt, pattern_of

# The terms of the search field: words, “phrases”, excluded words, and filters such as `tool:grep`.


FILTERS = ("tool", "model", "problem", "verdict", "format", "label", "since", "until", "folder")
MOST_TERMS = 12
_TERM = re.compile(r'(?P<minus>-?)(?:(?P<name>[a-z]+):)?(?:"(?P<phrase>[^"]*)(?P<end>"?)|(?P<plain>\S+))')
OPEN_QUOTE = "A quotation mark is not closed: everything after it counts as one phrase."


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    """The typed text without quotation marks."""
    phrase: Phrase
    is_excluded: bool = False

    @property
    def is_indexed(self) -> bool:
        """Whether content can be searched for the term. A term without letters and digits is searched only in titles."""
        return bool(self.phrase.words)


@dataclass(frozen=True, slots=True)
class SearchText:
    terms: tuple[Term, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    """The filters, typed as `name:value`."""
    text: str = ""
    """The typed text without filters."""
    notices: tuple[str, ...] = ()
    """Sentences about parts of the text that may not mean what the person intended."""


def read_search_text(typed: str) -> SearchText:
    terms: list[Term] = []
    filters: list[tuple[str, str]] = []
    kept: list[str] = []
    notices: list[str] = []
    for found in _TERM.finditer(typed):
        value = found["phrase"] if found["plain"] is None else found["plain"]
        if found["phrase"] is not None and not found["end"]:
            notices.append(OPEN_QUOTE)
        if found["name"] in FILTERS and value and not found["minus"]:
            filters.append((found["name"], value))
            continue
        kept.append(found[0])
        value = f"{found['name']}:{value}" if found["name"] else value
        if value.strip():
            terms.append(_term(value, found, notices))
    if len(terms) > MOST_TERMS:
        notices.append(f"Only the first {MOST_TERMS} words or phrases are searched for.")
    return SearchText(tuple(terms[:MOST_TERMS]), tuple(filters), " ".join(kept), tuple(dict.fromkeys(notices)))


def _term(value: str, found: re.Match[str], notices: list[str]) -> Term:
    is_prefix = found["plain"] is not None and value.endswith("*")
    phrase = Phrase.of(value, is_prefix=is_prefix)
    if not phrase.words:
        notices.append(f"“{value}” has no letters or digits, so it is only searched for in titles and file names.")
    elif is_prefix and len(phrase.words[-1]) < SHORTEST_PREFIX:
        notices.append(f"“{value}” is too short: write at least {SHORTEST_PREFIX} letters before the *.")
        phrase = Phrase(phrase.words)
    elif len(words(value)) > LONGEST_PHRASE:
        notices.append(f"Only the first {LONGEST_PHRASE} words of a phrase are searched for.")
    return Term(value.removesuffix("*") if is_prefix else value, phrase, bool(found["minus"]))


# The matches in the chains of a page, each with its place and the text around it.


SHOWN = 3
READ = 2
"""The most blocks of a chain that are read for matches, one by one until there are enough."""
COUNTED = 4
"""The number of phrases by which blocks are chosen, if no block has all phrases."""
LONGEST = 1_000_000
"""The largest message, in bytes, that is read to show its match."""


@dataclass(frozen=True, slots=True)
class HitView:
    path: str
    number: str
    """The number of the node, such as 2.7."""
    role: str
    who: str
    """The role in words, or the tool."""
    url: str
    pieces: Excerpt
    """The text around the match; empty if the message is too long to be read for a page."""


@dataclass
class ChainHits:
    shown: list[HitView] = field(default_factory=list)
    more: int = 0
    has_more: bool = False
    """True if there are more matches than were counted."""
    more_url: str = ""


Found = tuple[StoredMessage, int | None, Excerpt, str]


@dataclass(slots=True)
class Matched:
    """The blocks of a chain with a phrase; those with the most phrases come first."""

    chain: Chain
    snapshot: Snapshot
    places: Places
    pieces: list[Piece]
    read: int = 0
    """The number of blocks that were read, and the matches in them."""
    found: list[Found] = field(default_factory=list)
    outline: OutlineReader | None = None
    """The matches; None if there are none, or a job is rebuilding the index."""

    @property
    def first_hits(self) -> list[Found]:
        return self.found[:SHOWN]

    def index_of(self, row: StoredMessage) -> int:
        return self.places.index(row.run, row.position)


def hits_of(chains: Sequence[Chain], terms: Collection[Term]) -> dict[int, ChainHits]:
    """Return the matches in chains by their keys, without those found by their titles only."""
    phrases = [term.phrase for term in terms if term.is_indexed and not term.is_excluded]
    if not phrases or not chains:
        return {}
    matched = list(_matched(chains, phrases))
    pattern = pattern_of(phrases)
    for _ in range(READ):
        _read_next([each for each in matched if len(each.found) < SHOWN and each.read < len(each.pieces)], pattern)
    text = next(term.text for term in terms if term.is_indexed and not term.is_excluded)
    for each in matched:
        each.outline = _outline(each.snapshot) if each.found else None
    read_ahead((each.outline, each.index_of(row)) for each in matched if each.outline for row, *_ in each.first_hits)
    return {each.chain.pk: _hits(each, text) for each in matched}


def _outline(snapshot: Snapshot) -> OutlineReader | None:
    try:
        return OutlineReader.of(snapshot, outline_of(snapshot))
    except OutlineMissing:
        return None  # a job is rebuilding it; the chain itself says so


def _counted(histories: Collection[int], phrases: Sequence[Phrase]) -> dict[int, dict[Piece, int]]:
    """Return the blocks of each chain, with the number of phrases in each block. If enough blocks have all phrases, other blocks are not
    searched, because frequent words are in very many. Otherwise only the longest phrases are counted, which are usually the rarest."""
    counts: dict[int, dict[Piece, int]] = {}
    for history, piece in blocks_with(phrases, histories, READ):
        counts.setdefault(history, {})[piece] = len(phrases)
    few = [history for history in histories if len(counts.get(history, ())) <= READ]
    if few and len(phrases) > 1:
        counts |= {history: {} for history in few}
        for phrase in sorted(phrases, key=lambda each: -len("".join(each.words)))[:COUNTED]:
            for history, piece in blocks_with([phrase], few, READ):
                counts[history][piece] = counts[history].get(piece, 0) + 1
    return {history: found for history, found in counts.items() if found}


def _matched(chains: Sequence[Chain], phrases: Sequence[Phrase]) -> Iterator[Matched]:
    counts = _counted([chain.history for chain in chains], phrases)
    states = SearchState.objects.filter(history__in=list(counts)).select_related("snapshot__outline")
    snapshots = {state.history_id: state.snapshot for state in states}
    for chain in chains:
        if (snapshot := snapshots.get(chain.history)) is not None:
            places, found = Places(pieces_of(snapshot)), counts[chain.history]
            order = {piece: (-found[piece], places.index(piece.run, piece.start)) for piece in found}
            yield Matched(chain, snapshot, places, sorted((p for p in order if order[p][1] >= 0), key=order.__getitem__))


def _read_next(matched: Sequence[Matched], pattern: re.Pattern[str]) -> None:
    """Search the next block of each chain, all in one read."""
    pieces = [each.pieces[each.read] for each in matched]
    rows = list(read_rows(pieces))
    messages, each_row = _messages(rows), iter(rows)
    for each, piece in zip(matched, pieces, strict=True):
        for row in islice(each_row, piece.length):
            each.found += _in_message(row, messages.get((row.run, row.position)), pattern)
        each.read += 1


def _messages(rows: Sequence[StoredMessage]) -> dict[tuple[int, int], Message]:
    short = [row for row in rows if stored_bytes(row.source) <= LONGEST]
    read = BodyReader().messages(short)
    return {(row.run, row.position): message for row, message in zip(short, read, strict=True)}


def _hits(matched: Matched, text: str) -> ChainHits:
    base = reverse("chains:version", args=[matched.chain.pk, matched.chain.version])
    hits = ChainHits(more=max(0, len(matched.found) - SHOWN), has_more=len(matched.pieces) > matched.read)
    hits.more_url = f"{base}find?{urlencode({'q': text})}"
    for row, part, pieces, who in matched.first_hits if matched.outline else ():
        node = matched.outline.path_at(matched.index_of(row))  # type: ignore[union-attr]
        path = Path(node.section, node.pair, node.message, part)
        role = row.shape.role
        url = f"{base}at/{path}{_find(pieces)}"
        hits.shown.append(HitView(str(path), path.number, role, who or ROLE_NAMES.get(role, role), url, pieces))
    return hits


def _find(pieces: Excerpt) -> str:
    """Return the query with which the explorer opens at the first match."""
    return next((f"?{urlencode({'find': words})}" for words, is_hit in pieces if is_hit), "")


def _in_message(row: StoredMessage, message: Message | None, pattern: re.Pattern[str]) -> Iterator[Found]:
    """Yield the parts that contain a phrase, or the whole message if it is too long to be read."""
    if message is None:
        yield row, None, (), ""
        return
    for number, part in enumerate(message.parts):
        for text in part_texts(part):
            pieces = excerpt(text, pattern)
            if pieces:
                shown = tuple((marks(clean(words)), is_hit) for words, is_hit in pieces)
                yield row, number, shown, part.name if isinstance(part, ToolCall | ToolResult) else ""
                break


# The job that updates the search index. Idle workers start it after imports and saves, after a purge or a restored backup, and once for all
# chains of an older installation.


INDEX = "index-library"
log = logging.getLogger(__name__)


def start_if_needed() -> Job | None:
    """Start the job, and return it, if there is anything to index and no such job is waiting or running."""
    jobs = Job.objects.filter(function=INDEX)
    if not waiting().exists() or jobs.unfinished().exists():
        return None
    jobs.filter(state__in=[Job.State.DONE, Job.State.INTERRUPTED]).delete()
    return start_job(INDEX, owner=None)


def index_library(context: JobContext) -> int:
    """Index the library, and return the number of indexed chains. Ends early if another job waits; the next idle worker
    continues. A chain whose content is damaged is passed over and named in the log."""
    keys = list(waiting().order_by("-head").values_list("pk", flat=True))
    done = 0
    for place, key in enumerate(keys):
        text = f"Chain {place + 1:,} of {len(keys):,}"
        start, share = place / len(keys), 1 / len(keys)
        context.report(start, text)
        try:
            done += index_chain(key, lambda part: context.report(start + part * share, text))  # noqa: B023
        except (ValueError, LookupError):
            log.exception("chain %s cannot be read, so its content is not searched; `chainviz fsck` says what is damaged", key)
            pass_over(key)
        if Job.objects.filter(state=Job.State.QUEUED).exists():
            break
    return done


def not_indexed(chains: ChainQuerySet) -> ChainQuerySet:
    """Return the chains that a search can find only by their titles."""
    return chains.filter(Exists(unindexed().filter(pk=OuterRef("history"))))
