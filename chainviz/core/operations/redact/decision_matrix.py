"""Find what follows each message, and its row of the decision matrix, in one backward pass over the shapes.

Each message is represented by letters: A plain assistant message, C assistant message with tool calls, T tool result, U user,
S system, X any other role.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, CallRef, Shape


class MatrixRow(StrEnum):
    ANSWER = "1"
    ONLY_TOOLS = "2"
    END = "3"
    USER_THEN_TOOLS = "4"
    TOOLS_THEN_ANSWER = "5"
    USER_OR_SYSTEM_ONLY = "user_or_system_only"
    """Not in the matrix. Treated like rows 3 and 4, since no answer followed yet."""
    MALFORMED = "malformed"
    """Not in the matrix. A message of an unknown role follows, and no plain answer."""


REASONS = {
    MatrixRow.ANSWER: "a plain answer follows",
    MatrixRow.ONLY_TOOLS: "only tool calls and results follow",
    MatrixRow.END: "nothing follows",
    MatrixRow.USER_THEN_TOOLS: "a user or system message and tool calls follow, no plain answer",
    MatrixRow.TOOLS_THEN_ANSWER: "tool calls or results follow, then a plain answer",
    MatrixRow.USER_OR_SYSTEM_ONLY: "a user or system message follows, no plain answer yet",
    MatrixRow.MALFORMED: "a message of an unknown role follows, and no plain answer",
}

_LEGACY_RESULT = "function"
_LETTERS = {HUMAN: "U", SYSTEM: "S", TOOL: "T", _LEGACY_RESULT: "T"}


def letters_of(shape: Shape) -> str:
    """Return the letter of a message, or one for each of its results. So it does not matter whether results share a message."""
    if shape.role == AI:
        return "C" if shape.calls else "A"
    return _LETTERS.get(shape.role, "X") * max(1, len(shape.results))


@dataclass(slots=True)
class _Rest:
    """Facts about all messages after a place."""

    empty: bool = True
    answer: bool = False
    tools_first: bool = False
    """True if a call or result precedes the first plain answer."""
    user: bool = False
    call: bool = False
    call_after_user: bool = False
    odd: bool = False

    def row(self) -> MatrixRow:
        if self.answer:
            return MatrixRow.TOOLS_THEN_ANSWER if self.tools_first else MatrixRow.ANSWER
        if self.odd:
            return MatrixRow.MALFORMED
        if self.empty:
            return MatrixRow.END
        if not self.user:
            return MatrixRow.ONLY_TOOLS
        return MatrixRow.USER_THEN_TOOLS if self.call_after_user else MatrixRow.USER_OR_SYSTEM_ONLY

    def put_before(self, letter: str) -> None:
        self.empty = False
        if letter == "A":
            self.answer, self.tools_first = True, False
        elif letter in "CT":
            self.tools_first = self.answer
            self.call = self.call or letter == "C"
        elif letter in "US":
            self.user = True
            self.call_after_user = self.call_after_user or self.call
        else:
            self.odd = True


def rows_behind(letters: str) -> list[MatrixRow]:
    """Return the row for each letter, which depends on the letters after it."""
    rest = _Rest()
    rows: list[MatrixRow] = []
    for letter in reversed(letters):
        rows.append(rest.row())
        rest.put_before(letter)
    rows.reverse()
    return rows


Place = tuple[int, int]
"""Index of the message, and of the part."""


@dataclass(frozen=True)
class History:
    """Facts about the chain that policies use, taken from shapes."""

    shapes: Sequence[Shape]
    letters: str
    starts: list[int]
    """Index of the first letter of each message."""
    rows: list[MatrixRow]
    size: int
    tools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By call id: the names of all tools that are called with it."""
    last_called: dict[str, int] = field(default_factory=dict)
    """By tool: the last message that calls it."""
    results: list[tuple[int, CallRef]] = field(default_factory=list)
    """All results in order, with the index of their message."""
    use_of_call: dict[Place, int] = field(default_factory=dict)
    """By call: the number of the result that answers it. Calls and results with the same id are matched in order."""
    last_same_call: dict[Place, int] = field(default_factory=dict)
    """By call: the last message with a call of the same tool and arguments. Filled only if a policy needs it."""


def read_history(shapes: Sequence[Shape]) -> History:
    pieces = [letters_of(shape) for shape in shapes]
    starts, place = [], 0
    for piece in pieces:
        starts.append(place)
        place += len(piece)
    letters = "".join(pieces)
    history = History(shapes, letters, starts, rows_behind(letters), sum(shape.size for shape in shapes))
    waiting: dict[str, deque[Place]] = {}
    for message, shape in enumerate(shapes):
        for call in shape.calls:
            known = history.tools.get(call.id, ())
            history.tools[call.id] = known if call.name in known else (*known, call.name)
            history.last_called[call.name] = message
            waiting.setdefault(call.id, deque()).append((message, call.part))
        for result in shape.results:
            asked = waiting.get(result.id)
            if asked and result.id:
                history.use_of_call[asked.popleft()] = len(history.results)
                if not asked:
                    del waiting[result.id]  # an empty queue has a size of 760 bytes
            history.results.append((message, result))
    return history
