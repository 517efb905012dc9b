"""The chain during a repair. Passes read its tree, offer fixes and record edits, which are then applied together.

A message is read only if a fix changes it, so a long stored chain costs only its shapes. Problems that only the content
shows are searched beforehand: each message is read once and passed to every search.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import TOOL, CallRef, Message, Part, Shape
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.chain.problems import place_in_words
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.chain.tree import ChainAST, parse
from chainviz.core.operations.repair.fixes import Fix, Proposal, RepairOptions
from chainviz.core.progress import Progress, counted, ignore_progress
from chainviz.core.providers.findings import form_of_contents
from chainviz.core.providers.request import Request, request_of


class Places:
    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._pair_starts: dict[int, list[int]] = {}

    @cached_property
    def _section_starts(self) -> list[int]:
        lengths = [len(section) for section in self._chain.tree.sections]
        return list(accumulate(lengths, initial=0))[:-1]

    def path(self, index: int) -> Path:
        number = bisect_right(self._section_starts, index)
        section = self._chain.tree.sections[number - 1]
        inside = index - self._section_starts[number - 1]
        if inside < len(section.header):
            return Path(number, 0, inside)
        starts = self._starts(number)
        pair = bisect_right(starts, inside)
        place = inside - starts[pair - 1]
        return Path(number, pair, place if section.body[pair - 1].ai is not None else place + 1)

    def _starts(self, number: int) -> list[int]:
        if number not in self._pair_starts:
            section = self._chain.tree.sections[number - 1]
            lengths = [len(pair.rest) + (pair.ai is not None) for pair in section.body]
            self._pair_starts[number] = list(accumulate(lengths, initial=len(section.header)))[:-1]
        return self._pair_starts[number]

    def words(self, index: int) -> str:
        return place_in_words(self.path(index))


@dataclass(slots=True)
class Turn:
    """One body pair."""

    ai: int | None
    rest: range
    calls: tuple[CallRef, ...]
    end: int
    """The place after which new messages of this pair are inserted: that of its last tool message before another role."""


def turns_of(tree: ChainAST[Shape]) -> Iterator[Turn]:
    place = 0
    for section in tree.sections:
        place += len(section.header)
        for pair in section.body:
            ai = None if pair.ai is None else place
            start = place + (pair.ai is not None)
            place = start + len(pair.rest)
            tools = next((i for i, message in enumerate(pair.rest) if message.role != TOOL), len(pair.rest))
            yield Turn(ai, range(start, place), pair.ai.calls if pair.ai is not None else (), start + tools - 1)


_SURROGATE = re.compile("[\ud800-\udfff]")
MOVED = -1
WINDOW = 256
GAP = 16
"""Two requested messages with up to this many messages between them are read together, to save a query."""

Look = Callable[[Message], bool]
"""Returns True if a pass has to handle the message; it sees only that message, and answers alike for usual messages whose contents have
the same form."""


@dataclass(slots=True)
class Edit:
    """The changes to the message in one place."""

    parts: dict[int, tuple[Part, ...]] = field(default_factory=dict)
    """The parts that replace a part, by the index of that part."""
    added: list[Part] = field(default_factory=list)
    whole: Message | None = None
    """The message that replaces this one."""
    removed: bool = False
    before: list[tuple[Message, int]] = field(default_factory=list)
    after: list[tuple[Message, int]] = field(default_factory=list)
    """New messages before and after this one, each with the index of the original message that it comes from."""

    def apply(self, message: Message) -> Message | None:
        if self.removed:
            return None
        if self.whole is not None:
            message = self.whole
        if not self.parts and not self.added:
            return message
        kept: list[Part] = []
        for i, part in enumerate(message.parts):
            kept.extend(self.parts.get(i, (part,)))
        kept += self.added
        return replace(message, parts=tuple(kept)) if kept else None


class Worklist:
    def __init__(self, chain: Chain, options: RepairOptions, looks: Iterable[Look] = (), progress: Progress = ignore_progress) -> None:
        self.chain = chain
        self.options = options
        self.fixes: list[Fix] = []
        self.warnings: list[str] = []
        self.around: Rewrite | None = None
        """Rewrites the JSON beside the messages."""
        self.shapes: list[Shape] = list(chain.shapes())
        self.kept = list(range(len(self.shapes)))
        """The original place of each message that is unchanged and still in order, and MOVED for the others."""
        self.about = list(self.kept)
        """For each message, the original message that it comes from or answers."""
        self._places = Places(chain)
        self._edits: dict[int, Edit] = {}
        self._chosen = options.chosen()
        self._since = chain.span(parse_path(options.since)).start if options.since else 0
        self._ids: dict[str, int] = {}
        self._found: dict[Look, set[int]] = {look: set() for look in looks}
        if self._found:
            self._look(progress)

    def _look(self, progress: Progress) -> None:
        count = len(self.shapes)
        usual: dict[Hashable, list[Look]] = {}
        for original, message in enumerate(counted(self.chain.stream(0, count), count, progress, "read")):
            # usual messages with contents of the same form need the same passes
            form = form_of_contents(message) if len(message.source) == 1 and message.source[0].is_usual else None
            looks = usual.get(form)
            if form is None or looks is None:
                looks = [look for look in self._found if look(message)]
                usual[form] = looks
            for look in looks:
                self._found[look].add(original)

    @cached_property
    def request(self) -> Request:
        return request_of(self.chain.surroundings)

    @cached_property
    def tree(self) -> ChainAST[Shape]:
        return parse(self.shapes)

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turns_of(self.tree))

    def message(self, place: int) -> Message:
        shape = self.shapes[place]
        return shape if isinstance(shape, Message) else self.chain[self.kept[place]]

    def places(self, look: Look) -> Iterator[int]:
        """Yield the places of the messages that `look` accepts."""
        found = self._found[look]
        for place, original in enumerate(self.kept):
            if original in found if original != MOVED else look(self.message(place)):
                yield place

    def read(self, look: Look) -> Iterator[tuple[int, Message]]:
        """Yield the messages that `look` accepts, with their places; those of a stored chain are read in batches."""
        stretch: dict[int, Message] = {}
        for place in self.places(look):
            shape = self.shapes[place]
            if isinstance(shape, Message):
                yield place, shape
                continue
            original = self.kept[place]
            if original not in stretch:
                stretch = self._stretch(original, self._found[look])
            yield place, stretch[original]

    def _stretch(self, start: int, wanted: Container[int]) -> dict[int, Message]:
        end = start + 1
        for place in range(end, min(start + WINDOW, len(self.chain))):
            if place in wanted:
                end = place + 1
            elif place - end >= GAP:
                break
        return dict(enumerate(self.chain.slice(start, end), start))

    def edit(self, place: int) -> Edit:
        return self._edits.setdefault(place, Edit())

    def offer(self, proposal: Proposal) -> str | None:
        """Record a fix, and return its choice if it is accepted, else None."""
        choices = tuple(proposal.outcomes)
        path = replace(self._places.path(proposal.about), part=proposal.part)
        # a form sends the id back, and no form can hold a lone surrogate
        detail = _SURROGATE.sub("\ufffd", proposal.detail)
        id = f"{choices[0]}@{path}" + (f":{detail}" if detail else "")
        self._ids[id] = self._ids.get(id, 0) + 1
        if self._ids[id] > 1:
            id = f"{id}#{self._ids[id]}"
        choice = self._choice(id, choices, proposal.rule)
        sizes = (sum(part.size for part in parts) for parts in (proposal.before, proposal.outcomes[choice]))
        fix = Fix(id, proposal.rule, path, proposal.about, proposal.problem, choices, choice, True, proposal.default, *sizes)
        fix = replace(fix, accepted=self.options.accepts(fix) and fix.message >= self._since)
        self.fixes.append(fix)
        return choice if fix.accepted else None

    def _choice(self, id: str, choices: tuple[str, ...], rule: str) -> str:
        for key in (id, rule, choices[0]):
            wanted = self._chosen.get(key)
            if wanted in choices:
                return wanted
            if wanted is not None and key == id:
                self.warnings.append(f"“{wanted}” cannot be done for {id} here; it can be {', '.join(choices)}.")
        return next((choice for choice in choices if choice in self.options.only), choices[0])

    def where(self, about: int) -> str:
        return self._places.words(about)

    def settle(self) -> None:
        """Apply the recorded edits and count the places again."""
        if not self._edits:
            return
        settled: list[tuple[Shape, int, int]] = []
        start = 0
        for place in sorted(self._edits):
            edit = self._edits[place]
            settled += self._rows(start, place)
            settled += ((message, MOVED, of) for message, of in edit.before)
            settled += self._applied(place, edit)
            settled += ((message, MOVED, of) for message, of in edit.after)
            start = place + 1
        settled += self._rows(start, len(self.shapes))
        self.shapes, self.kept, self.about = map(list, zip(*settled, strict=True)) if settled else ([], [], [])
        self._edits = {}
        for made_of_shapes in ("tree", "turns"):
            self.__dict__.pop(made_of_shapes, None)

    def _rows(self, start: int, stop: int) -> Iterator[tuple[Shape, int, int]]:
        return zip(self.shapes[start:stop], self.kept[start:stop], self.about[start:stop], strict=True)

    def _applied(self, place: int, edit: Edit) -> Iterator[tuple[Shape, int, int]]:
        if not (edit.parts or edit.added or edit.whole or edit.removed):
            yield from self._rows(place, place + 1)
            return
        message = edit.apply(self.message(place))
        if message is not None:
            yield message, MOVED, self.about[place]

    def splices(self) -> tuple[Splice, ...]:
        """Return the difference from the original chain."""
        return splices(self.kept, self.shapes, len(self.chain))


def splices(kept: Sequence[int], shapes: Sequence[Shape], length: int) -> tuple[Splice, ...]:
    """Return the splices that turn the original list into this one. `kept` contains the original place of each message, in
    rising order, or MOVED."""
    changes: list[Splice] = []
    start = 0
    new: list[Message] = []
    for original, shape in zip((*kept, length), (*shapes, None), strict=True):
        if original == MOVED:
            assert isinstance(shape, Message)
            new.append(shape)
            continue
        if new or original > start:
            changes.append(Splice(start, original - start, tuple(new)))
        start, new = original + 1, []
    return tuple(changes)
