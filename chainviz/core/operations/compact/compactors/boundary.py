"""Where a state is cut: only a human message may come first (seed 3, Compaction Boundaries).

So every call keeps its result, and the tree loses whole sections from the front.
"""

from __future__ import annotations

from chainviz.core.operations.compact.compactors.contract import Boundary, NoBoundary, amount
from chainviz.core.state.message_index import Window


def boundary(messages: Window, wanted: int, if_none: NoBoundary) -> Boundary:
    """The cut for a state that should lose its first `wanted` messages."""
    after = messages.human_from(wanted)
    if after == wanted:
        return Boundary(wanted, wanted, f"Message {wanted + 1:,} is a human message: the state starts there.")
    if after is not None:
        moved = amount(after - wanted, "message")
        text = f"A state starts at a human message, so the cut moves by {moved}, to message {after + 1:,}."
        return Boundary(wanted, after, text)
    none = f"No human message follows the cut after message {wanted:,}"
    if if_none == "remove_all":
        return Boundary(wanted, len(messages), f"{none}: everything is removed.")
    before = messages.human_before(wanted)
    if not before:
        why = "no message is a human message" if before is None else "there is only one turn"
        return Boundary(wanted, 0, f"{none}, and {why}: nothing is removed.")
    return Boundary(wanted, before, f"{none}: the last turn is kept, from message {before + 1:,}.")
