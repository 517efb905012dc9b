"""What a summary would do, before anybody writes a word: the pieces to fold and why, what stays and why, the size after."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import PairType
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.summary_pair import carried_size
from chainviz.core.operations.summarize.writers.contract import Case, Left, SummaryRequest
from chainviz.core.operations.summarize.writers.prompt import instructions, prompt_body

Rule = Literal["section", "pair", "rotation", "qa", "qa-human"]
"""An old section; a large pair of a last section; the oldest pairs of a last section; old sections joined; their questions."""

STAGES: dict[Rule, int] = {"section": 0, "pair": 0, "rotation": 1, "qa": 2, "qa-human": 2}
"""Whether a later stage is needed, and for what, depends on how long the texts of the earlier ones are."""


Texts = Mapping[str, str | Left]
"""By the key of the piece."""


@dataclass(frozen=True, slots=True)
class Material:
    """What a piece folds, with bodies."""

    humans: tuple[Message, ...]
    messages: tuple[Message, ...]
    places: tuple[Path, ...]
    """Where each of `messages` (for questions: of `humans`) stands in the chain."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring nodes that one summary would replace."""

    rule: Rule
    first: Path
    last: Path
    """Pairs, or for joined sections the sections; the same path twice for a single one."""
    reason: str
    measure: int
    limit: int
    """What was measured against which setting: bytes, or a count of sections."""
    size: int
    """Bytes of what is folded."""
    type: PairType
    """Of the summary pair."""
    target: int
    """Bytes that the text should have."""
    estimate: int
    """Bytes of the replacement, estimated."""
    read: Callable[[], Material] = field(repr=False, compare=False)
    """Reads what is folded."""
    after: int = -1
    """Bytes of the replacement, once there is a text; -1 where there is none."""
    left: str = ""
    """Why the piece stays as it is although somebody was asked."""
    continues: bool = False
    """Its text goes on the summary of the piece before: together they were too long for one prompt."""
    provisional: bool = False
    """Depends on texts that are not written yet, and may look different then."""

    @property
    def key(self) -> str:
        return f"{self.rule}:{self.first}" if self.first == self.last else f"{self.rule}:{self.first}-{self.last}"

    @property
    def stage(self) -> int:
        return STAGES[self.rule]

    @property
    def expected(self) -> int:
        """Bytes of the replacement, as far as is known."""
        if self.left:
            return self.size
        return self.after if self.after >= 0 else self.estimate


@dataclass(frozen=True, slots=True)
class Kept:
    """Neighbouring nodes that stay, and why."""

    first: Path
    last: Path
    why: str
    protected: bool = False
    """Stays whatever the settings say."""


@dataclass(frozen=True, slots=True)
class Plan:
    chain: Chain
    options: SummarizeOptions
    pieces: tuple[Piece, ...]
    """In the order of the chain."""
    kept: tuple[Kept, ...]
    size_before: int
    size_after: int
    warnings: tuple[str, ...] = ()

    def request(self, piece: Piece) -> SummaryRequest:
        """What a writer would be asked; reads the bodies of this piece only."""
        material = piece.read()
        messages = () if piece.rule == "qa-human" else material.messages
        case: Case = 3 if not messages else 1 if material.humans else 2
        exact = self.options.preset == "pentagi"
        body = prompt_body(material.humans, messages, exact=exact)
        target = piece.target
        if piece.rule in ("pair", "rotation") and piece.type is PairType.SUMMARIZATION:
            target = max(1, min(target, piece.size - (piece.estimate - target) - carried_size(messages)))
        said = instructions(case, target)
        window = self.options.context_window
        return SummaryRequest(piece.key, case, said, body, material.humans, messages, target, window=window, exact=exact)

    def waiting(self, texts: Texts) -> tuple[Piece, ...]:
        """The pieces to write now; empty when nothing is left to write. Plan again with each new text."""
        unwritten = [piece for piece in self.pieces if piece.key not in texts and not piece.left]
        stage = min((piece.stage for piece in unwritten), default=0)
        return tuple(piece for piece in unwritten if piece.stage == stage)


def target_bytes(size: int) -> int:
    """How long a summary of so much should be: short things keep more of themselves."""
    return min(size, 400 + size // 12, 4_000)


def joined(kept: Sequence[Kept]) -> tuple[Kept, ...]:
    """Neighbours that stay for the same reason, as one."""
    result: list[Kept] = []
    for each in kept:
        last = result[-1] if result else None
        if (
            last is not None
            and (last.why, last.protected) == (each.why, each.protected)
            and _follows(last.last, each.first)
        ):
            result[-1] = Kept(last.first, each.last, each.why, each.protected)
        else:
            result.append(each)
    return tuple(result)


def _follows(path: Path, next: Path) -> bool:
    if path.pair is None:
        return next.pair is None and next.section == path.section + 1
    return next.section == path.section and next.pair == path.pair + 1
