"""The chain while it is being repaired: passes read its tree, offer fixes, note edits, and settle them in one go.

Messages stay unread until a fix touches them, so a long stored chain costs only its shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from chainviz.core.chain import Chain, Splice
from chainviz.core.messages import Message, Part, Shape
from chainviz.core.operations.repair.fixes import Fix, Proposal
from chainviz.core.operations.repair.options import RepairOptions
from chainviz.core.operations.repair.places import Places
from chainviz.core.parse import parse
from chainviz.core.tree import ChainAST

MOVED = -1
WINDOW = 256


@dataclass(slots=True)
class Edit:
    """What happens to the message in one place."""

    parts: dict[int, tuple[Part, ...]] = field(default_factory=dict)
    """Part index to what takes its place."""
    added: list[Part] = field(default_factory=list)
    whole: Message | None = None
    """The message that stands there instead."""
    removed: bool = False
    before: list[tuple[Message, int]] = field(default_factory=list)
    after: list[tuple[Message, int]] = field(default_factory=list)
    """New neighbours, each with the original message it is about."""

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
    def __init__(self, chain: Chain, options: RepairOptions) -> None:
        self.chain = chain
        self.options = options
        self.fixes: list[Fix] = []
        self.warnings: list[str] = []
        self.shapes: list[Shape] = list(chain.shapes())
        self.kept = list(range(len(self.shapes)))
        """The original place of each message that is still as and where it was, else MOVED."""
        self.about = list(self.kept)
        """The original message that each one comes from or answers."""
        self._places = Places(chain)
        self._edits: dict[int, Edit] = {}
        self._chosen = options.chosen()
        self._ids: dict[str, int] = {}

    @cached_property
    def tree(self) -> ChainAST[Shape]:
        return parse(self.shapes)

    def message(self, place: int) -> Message:
        shape = self.shapes[place]
        return shape if isinstance(shape, Message) else self.chain[self.kept[place]]

    def read(self, wanted: Callable[[Shape], bool]) -> Iterator[tuple[int, Message]]:
        """The messages whose shape is wanted; those of a stored chain are read a window at a time."""
        window: dict[int, Message] = {}
        for place, shape in enumerate(self.shapes):
            if not wanted(shape):
                continue
            if isinstance(shape, Message):
                yield place, shape
                continue
            original = self.kept[place]
            if original not in window:
                window = dict(enumerate(self.chain.slice(original, original + WINDOW), original))
            yield place, window[original]

    def edit(self, place: int) -> Edit:
        return self._edits.setdefault(place, Edit())

    def offer(self, proposal: Proposal) -> str | None:
        """Record a fix; its choice if it is accepted."""
        choices = tuple(proposal.outcomes)
        path = replace(self._places.path(proposal.about), part=proposal.part)
        id = f"{choices[0]}@{path}" + (f":{proposal.detail}" if proposal.detail else "")
        self._ids[id] = self._ids.get(id, 0) + 1
        if self._ids[id] > 1:
            id = f"{id}#{self._ids[id]}"
        choice = self._choice(id, choices, proposal.rule)
        fix = Fix(
            id, proposal.rule, path, proposal.about, proposal.problem, choices, choice, True,
            proposal.default, proposal.before, proposal.outcomes[choice],
        )  # fmt: skip
        fix = replace(fix, accepted=self.options.accepts(fix))
        self.fixes.append(fix)
        return choice if fix.accepted else None

    def _choice(self, id: str, choices: tuple[str, ...], rule: str) -> str:
        for key in (id, rule, choices[0]):
            wanted = self._chosen.get(key)
            if wanted in choices:
                return wanted
            if wanted is not None and key == id:
                self.warnings.append(f"“{wanted}” cannot be done for {id} here; it can be {', '.join(choices)}.")
        return choices[0]

    def where(self, about: int) -> str:
        return self._places.words(about)

    def settle(self) -> None:
        """Carry out the noted edits; places count anew afterwards."""
        if not self._edits:
            return
        shapes: list[Shape] = []
        kept: list[int] = []
        about: list[int] = []
        start = 0
        for place in sorted(self._edits):
            edit = self._edits[place]
            shapes += self.shapes[start:place]
            kept += self.kept[start:place]
            about += self.about[start:place]
            start = place + 1
            for message, of in edit.before:
                _append(shapes, kept, about, message, MOVED, of)
            self._apply(place, edit, shapes, kept, about)
            for message, of in edit.after:
                _append(shapes, kept, about, message, MOVED, of)
        self.shapes, self.kept, self.about = (
            shapes + self.shapes[start:],
            kept + self.kept[start:],
            about + self.about[start:],
        )
        self._edits = {}
        self.__dict__.pop("tree", None)

    def _apply(self, place: int, edit: Edit, shapes: list[Shape], kept: list[int], about: list[int]) -> None:
        if not (edit.parts or edit.added or edit.whole or edit.removed):
            _append(shapes, kept, about, self.shapes[place], self.kept[place], self.about[place])
            return
        message = edit.apply(self.message(place))
        if message is not None:
            _append(shapes, kept, about, message, MOVED, self.about[place])

    def splices(self) -> tuple[Splice, ...]:
        """The difference to the original chain."""
        return splices(self.kept, self.shapes, len(self.chain))


def _append(shapes: list[Shape], kept: list[int], about: list[int], shape: Shape, original: int, of: int) -> None:
    shapes.append(shape)
    kept.append(original)
    about.append(of)


def splices(kept: Sequence[int], shapes: Sequence[Shape], length: int) -> tuple[Splice, ...]:
    """From a list in which `kept` names the original place of what stayed (rising, else MOVED)."""
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
