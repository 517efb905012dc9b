"""Compares two runs of one task: aligned by what they ask, call and say, for their call ids have nothing in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import astuple, replace
from hashlib import blake2b
from itertools import groupby

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message, Part, ToolCall, ToolResult
from chainviz.core.diff.chains import ChainDiff, diff_chains
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.groups import Group, Side
from chainviz.core.diff.matching import RUN_RULES
from chainviz.core.diff.rows import Rows, ShapeRows

READ_TOGETHER = 500
"""Messages that are read at once."""
ONLY_IDS = "Both make the same calls and say the same; only the ids of the calls differ."


def are_runs(one: Chain, other: Chain) -> bool:
    """Whether both chains make calls whose ids do not say which is which; else they are taken for two states of one chain.

    So it is where fewer than half of the calls of the shorter chain are calls of the other too, by id and tool: in
    tau-bench's recorded runs some ids come again in other runs, for other tools. And so it is where both make the same call
    under two ids that each of them has: ids that are counted, such as call_1, come in every run.
    """
    calls, others = ({(call.id, call.name) for shape in chain.shapes() for call in shape.calls} for chain in (one, other))
    if not calls or not others:
        return False
    return 2 * len(calls & others) < min(len(calls), len(others)) or _ids_differ(one, other)


def _ids_differ(one: Chain, other: Chain) -> bool:
    """Whether a call of one is a call of the other under another id, and both ids occur on both sides."""
    calls, others = _calls(one), _calls(other)
    shared = {id for id, _ in calls} & {id for id, _ in others}
    left, right = ({said for id, said in alone if id in shared} for alone in (calls - others, others - calls))
    return bool(left & right)


def _calls(chain: Chain) -> Counter[tuple[str, int]]:
    """Of every call its id, and a hash of what it asks."""
    return Counter(
        (part.id, hash((part.name, part.arguments)))
        for start in range(0, len(chain), READ_TOGETHER)
        for message in chain.slice(start, min(start + READ_TOGETHER, len(chain)))
        for part in message.parts
        if isinstance(part, ToolCall)
    )


def diff_runs(
    one: Chain, other: Chain, *, rows: Callable[[Chain], Rows] = lambda chain: ShapeRows(chain.shapes())
) -> ChainDiff:
    """Neighbouring pairs of one side alone are one group."""
    diff = diff_chains(one, other, rows=rows, keys=content_keys, rules=RUN_RULES)
    notes = diff.notes if diff.changes else (ONLY_IDS,)
    return replace(diff, groups=GroupTable.of(_joined(diff.groups)), notes=notes, ids_matter=False)


def content_keys(chain: Chain, start: int, stop: int) -> list[Hashable]:
    """A key for each message: equal where they say and call the same, whatever the ids of the calls are."""
    keys: list[Hashable] = []
    for first in range(start, stop, READ_TOGETHER):
        keys += [_key(message) for message in chain.slice(first, min(first + READ_TOGETHER, stop))]
    return keys


def _key(message: Message) -> bytes:
    content = repr((message.role, [(type(part).__name__, astuple(_without_id(part))) for part in message.parts]))
    return blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _without_id(part: Part) -> Part:
    if isinstance(part, ToolCall):
        return replace(part, id="", origin=-1)
    if isinstance(part, ToolResult):
        return replace(part, call_id="", origin=-1)
    return replace(part, origin=-1)


def _joined(groups: Sequence[Group]) -> Iterator[Group]:
    for kind, run in groupby(groups, key=lambda group: group.kind):
        if kind not in ("added", "removed"):
            yield from run
            continue
        members = list(run)
        yield Group(kind, _union([each.old for each in members]), _union([each.new for each in members]))


def _union(sides: list[Side]) -> Side:
    first, last = sides[0], sides[-1]
    measure = first.measure
    for side in sides[1:]:
        measure += side.measure
    return Side(first.start, last.stop, measure, first.first, last.last)
