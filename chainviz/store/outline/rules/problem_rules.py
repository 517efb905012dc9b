"""The problems of some rows, found by looking at these rows, the row before them and the message behind them only.

The rules of core and of the providers are applied to small trees made of these rows, so that an edited outline has the
same problems as a new one. Providers check each row as a section of its own, and the rows up to the first AI message
together; rules about a message and the rest of its section use marks (section_rules.py). Indexes in the small trees are not those
of the chain unless the rows begin it, so packed problems keep none (rows.py).

No part of a chain can tell alone which calls repeat an earlier id. An edit that keeps the calls of its rows, as nearly all
do, takes the answers from the old rows. Any other edit reads the ids of the whole chain once (FirstUses), and the rows far
away whose call gained or lost the first use of its id are checked again too."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

from chainviz.core.chain.messages import AI, CallRef, Message, Role, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, opening_problem, section_problems, tree_problems
from chainviz.core.chain.tree import BodyPair, ChainAST, Section
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.check import call_ids_with_results, excerpt_of, excerpts
from chainviz.core.providers.contract import Called, Excerpt, Provider, WireForm
from chainviz.core.providers.findings import form_of_contents
from chainviz.core.providers.request import NO_REQUEST, Request, without_stored
from chainviz.store.content.message_reader import read_calls
from chainviz.store.content.pieces import Piece, PlacedMessage, PlacedSplice, Places, spliced
from chainviz.store.outline.measures import OPENING
from chainviz.store.outline.rows import Row, RowMessages, pack_problem
from chainviz.store.outline.rules.late_results import NO_LATE, LateIds

OPENING_RULE = "missing-human"
Repeated = Callable[[int, CallRef], bool]
"""Returns True if an earlier call of the chain has the id of this call of the given row."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The messages before and after some rows, and their context."""

    before: RowMessages[Any] | None = None
    """The row before, or None if the rows begin the chain."""
    after: Shape | None = None
    """The message after the rows, if there is one."""
    format: str = ""
    """The format in which the chain is written."""
    late: LateIds = NO_LATE
    """Ids of calls that have a result outside their row."""
    request: Request = NO_REQUEST
    """The request of the document, beside its messages."""


def check_rows(rows: Sequence[RowMessages[Message]], neighbours: Neighbours, repeated: Repeated) -> list[Row]:
    """Return the rows with their problems."""
    return _Check(rows, neighbours).check(repeated)


class _Check:
    def __init__(self, rows: Sequence[RowMessages[Message]], neighbours: Neighbours) -> None:
        self.rows = rows
        self.neighbours = neighbours
        self.begins = neighbours.before is None
        context = [neighbours.before] if neighbours.before is not None else []
        self.seen: list[RowMessages[Any]] = [*context, *rows]
        self.context = len(context)
        # index 0 is special: only a message that begins the chain may have it
        first = 0 if self.begins else 1
        self._known: dict[tuple[Hashable, ...], list[list[Any]]] = {}
        """The packed problems of usual rows, by their form."""
        self.starts = [first, *accumulate((len(row.messages) for row in self.seen), initial=first)][1:]

    def check(self, repeated: Repeated) -> list[Row]:
        found: list[list[Problem]] = [[] for _ in self.seen]
        for problem in fold(self._tree()):
            found[self._row_of(problem)].append(problem)
        single = self._opening_rows()
        said: list[list[Problem]] = [[] for _ in self.seen]
        for problem in self._together(self.rows[:single]) if single else ():
            said[self._row_of(problem)].append(problem)
        rows = []
        for i, row in enumerate(self.rows):
            of_tree, again = found[i + self.context], list(self._repeats(i, repeated))
            if i >= single and not (of_tree or again):
                rows.append(row.row(self._usual(i)))
            else:
                alone = said[i + self.context] if i < single else self._alone(i, bool(of_tree))
                rows.append(row.row(self._packed(i, of_tree, chain(alone, again))))
        return rows

    def _usual(self, i: int) -> list[list[Any]]:
        """Return the packed problems of a row without a problem of the tree. Rows of the same form have the same ones."""
        key = self._form_of(i)
        if key not in self._known:
            packed = self._packed(i, [], self._alone(i, is_suspect=False))
            if key is None:
                return packed
            self._known[key] = packed
        return self._known[key]

    def _form_of(self, i: int) -> tuple[Hashable, ...] | None:
        """Return a value that is equal for rows which every provider treats alike; None for a row that has to be checked."""
        messages, after = self.rows[i].messages, self._role_at(i + 1)
        if after is None or len(messages) > FEW:
            return None
        unusual = _unusual_in(self.neighbours.format)
        forms = [None if any(next(iter(find(each)), None) for find in unusual) else form_of_contents(each) for each in messages]
        return None if None in forms else (self.seen[i + self.context - 1].messages[-1].role, after, *forms)

    def _packed(self, i: int, of_tree: Sequence[Problem], said: Iterable[Problem]) -> list[list[Any]]:
        start = self.starts[i + self.context]
        ordered = sorted([*of_tree, *fold(said)], key=lambda problem: problem.message)
        return [pack_problem(problem, problem.message - start, _key_of(problem)) for problem in ordered]

    def _row_of(self, problem: Problem) -> int:
        return bisect_right(self.starts, problem.message, hi=len(self.seen)) - 1

    def _tree(self) -> Iterator[Problem]:
        tree = ChainAST(tuple(_sections(self.seen)))
        follows = self.neighbours.after is not None
        number = 1 if self.begins else 2
        found = tree_problems(tree, first_section=number, first_message=self.starts[0], follows=follows)
        for problem in without_stored(found, enumerate(tree.sections, number), self.neighbours.request):
            if problem.rule != OPENING_RULE:
                yield problem
        if self.begins and tree.sections and tree.sections[0].header:
            # as if another section followed: whether one does is known only when the chain is read
            yield from opening_problem(tree.sections[0], 0)

    def _opening_rows(self) -> int:
        """Return the number of rows that are checked together: at the beginning of the chain those up to the first AI message."""
        if not self.begins:
            return 0
        return next((i for i, row in enumerate(self.rows) if row.messages[0].role == AI), len(self.rows) - 1) + 1

    def _repeats(self, i: int, repeated: Repeated) -> Iterator[Problem]:
        here: set[str] = set()
        for call in self.rows[i].messages[0].calls:
            if repeated(i, call):
                yield from _repeats(call, self.starts[i + self.context], call.id in here)
            here.add(call.id)

    def _together(self, rows: Sequence[RowMessages[Message]]) -> Iterator[Problem]:
        after = self._role_at(len(rows))
        tree, document = ChainAST(tuple(_sections(rows))), (self.neighbours.format, self.neighbours.request)
        for excerpt in excerpts(tree, *document, after=after):
            yield from self._provider_problems(excerpt)

    def _alone(self, i: int, is_suspect: bool) -> Iterator[Problem]:
        """Check a row that does not begin the chain. `is_suspect` means that the tree found a problem of it in its
        context; otherwise it has none."""
        row = self.rows[i]
        index = self.starts[i + self.context]
        section = Section(row.messages) if row.is_header else Section((), (row.pair,))
        before = self.seen[i + self.context - 1].messages[-1].role
        after = self._role_at(i + 1)
        problems = tuple(section_problems(section, 2, index, after is not None)) if is_suspect else ()
        document = self.neighbours.format, self.neighbours.request
        yield from self._provider_problems(excerpt_of(section, (2, index), (before, after), document, problems))

    def _provider_problems(self, excerpt: Excerpt) -> Iterator[Problem]:
        if excerpt.problems:
            few = fold(excerpt.problems) if len(excerpt.problems) > LISTED else excerpt.problems
            late, joined = self.neighbours.late
            excerpt = replace(excerpt, problems=few, paired=call_ids_with_results(excerpt.section.body).union(late), joined=joined)
        for provider in _readers(excerpt.format) if excerpt.is_plain else PROVIDERS:
            yield from provider.check_rows(excerpt)

    def _role_at(self, row: int) -> Role | None:
        """Return the role of the first message of a row, or of the message after the rows; None after the end of the
        chain."""
        following = self.rows[row].messages[0] if row < len(self.rows) else self.neighbours.after
        return None if following is None else following.role


FEW = 8
"""The most messages of a row that may be a usual one."""


def _key_of(problem: Problem) -> str:
    """Return the name under which a problem is counted."""
    return OPENING if problem.rule == OPENING_RULE and not problem.provider else problem.provider


@lru_cache
def _unusual_in(format: str) -> tuple[WireForm, ...]:
    """Return the functions that yield something for a message which a provider has to check on its own."""
    return tuple(dict.fromkeys(provider.unusual_in(format) for provider in _readers(format)))


@lru_cache
def _readers(format: str) -> tuple[Provider, ...]:
    return tuple(provider for provider in PROVIDERS if provider.reads(format))


def _repeats(call: CallRef, index: int, is_in_message: bool) -> Iterator[Problem]:
    path = Path(2, 1, 0)
    before = Called(call.id, path, index if is_in_message else index - 1, call.part)
    for provider in PROVIDERS:
        yield from provider.check_ids((before, Called(call.id, path, index, call.part)))


ID_RULES = frozenset(problem.rule for problem in _repeats(CallRef("", "", 0), 1, True))


def _sections(rows: Sequence[RowMessages[Any]]) -> Iterator[Section[Any]]:
    header: list[Any] = []
    body: list[BodyPair[Any]] = []
    for row in rows:
        if row.is_header:
            if body:
                yield Section(tuple(header), tuple(body))
                header, body = [], []
            header.append(row.messages[0])
        else:
            body.append(row.pair)
    if header or body:
        yield Section(tuple(header), tuple(body))


class CallPlace(NamedTuple):
    run: int
    position: int
    part: int


class IdUse(NamedTuple):
    id: str
    place: CallPlace


def knows_repeats(row: Row) -> bool:
    """Return True if its problems name every call that repeats an id."""
    return not any(problem[0] in ID_RULES and problem[9:] for problem in row.problems)


def repeats_id(row: Row, call: CallRef) -> bool:
    return any(problem[0] in ID_RULES and problem[3] == call.part for problem in row.problems)


def uses_in(piece: Piece, calls: Iterable[CallRef]) -> Iterator[IdUse]:
    for call in calls:
        yield IdUse(call.id, CallPlace(piece.run, piece.start, call.part))


class FirstUses:
    """The first use of each id in a chain, before an edit and after it."""

    def __init__(self, pieces: Sequence[Piece], changes: Sequence[PlacedSplice]) -> None:
        self._places = Places(pieces)
        self.before = self._first(self._in(pieces))
        self.after = self._first(self._changed(pieces, changes))

    def _first(self, uses: Iterable[IdUse]) -> dict[str, CallPlace]:
        first: dict[str, CallPlace] = {}
        for use in uses:
            first.setdefault(use.id, use.place)
        return first

    def _in(self, pieces: Iterable[Piece]) -> Iterator[IdUse]:
        for run, position, calls in read_calls(pieces):
            yield from uses_in(Piece(run, position, 1), calls)

    def _changed(self, old: Sequence[Piece], changes: Sequence[PlacedSplice]) -> Iterator[IdUse]:
        for part in spliced(old, changes):
            if isinstance(part, PlacedMessage):
                yield from uses_in(part.piece, part.message.calls)
            else:
                yield from self._in(part)

    def moved(self) -> set[int]:
        """Return the messages of the old chain that gained or lost the first use of an id."""
        places = set()
        for id in self.before.keys() | self.after.keys():
            old, new = self.before.get(id), self.after.get(id)
            if old != new:
                places |= {place[:2] for place in (old, new) if place is not None}
        found = (self._places.index(run, position) for run, position in places)
        return {index for index in found if index >= 0}

    def is_repeated(self, use: IdUse) -> bool:
        return self.after.get(use.id) != use.place


LISTED = 50


def fold(problems: Iterable[Problem]) -> list[Problem]:
    """Keep the first LISTED problems of each node, provider, rule and severity, in their order.

    A pair with 100,000 results may break the same rule 100,000 times. The last one that is kept counts the rest, so that
    totals stay exact; `chainviz check` lists all of them.
    """
    folded: list[Problem] = []
    places: dict[tuple[object, ...], list[int]] = {}
    more = Counter[int]()
    for problem in problems:
        same = places.setdefault((problem.path.node, problem.provider, problem.rule, problem.severity), [])
        if len(same) < LISTED:
            same.append(len(folded))
            folded.append(problem)
        else:
            more[same[-1]] += 1 + problem.alike
    for place, count in more.items():
        folded[place] = replace(folded[place], alike=folded[place].alike + count)
    return folded
