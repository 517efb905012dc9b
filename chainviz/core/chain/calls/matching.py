"""Which calls of a pair have results: matched by id, as the reference counts (seed 0, GetToolCallsInfo)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chainviz.core.chain.messages import CallRef


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Ids of one pair by state, sorted."""

    pending: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()


def match_calls(calls: Iterable[CallRef], results: Iterable[CallRef]) -> ToolCalls:
    """Calls sharing one id count once; the second result of an id is unmatched."""
    open_ids = {call.id for call in calls}
    completed: set[str] = set()
    unmatched: set[str] = set()
    for result in results:
        if result.id in open_ids:
            open_ids.discard(result.id)
            completed.add(result.id)
        else:
            unmatched.add(result.id)
    return ToolCalls(tuple(sorted(open_ids)), tuple(sorted(unmatched)), tuple(sorted(completed)))
