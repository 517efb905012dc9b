"""Compaction strategies with every operation of the registry as a possible part: one alone, or the lines of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from chainviz.core.chain.messages import Shape
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact import Compact, CompactOptions
from chainviz.core.operations.compact.estimates import Estimate, RedactionEstimate, SummaryEstimate
from chainviz.core.operations.compact.simulation import Line
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import get_operation, read_options

ESTIMATES: dict[str, Callable[[Sequence[Shape]], Estimate]] = {
    "Summarize": SummaryEstimate,
    "Redact": RedactionEstimate,
}
"""Other ways to keep requests small, by sizes alone; nothing is written."""
PLAIN = "No compaction"


def strategy_of(options: CompactOptions | Mapping[str, Any], context: Context | None = None) -> Strategy:
    """What `next_state` and a simulation call. Raises OptionsError for options that are none, Refused where no limit is
    chosen."""
    operation = get_operation("compact")
    assert isinstance(operation, Compact)
    chosen = options if isinstance(options, CompactOptions) else read_options(operation, options)
    assert isinstance(chosen, CompactOptions)
    return operation.strategy(chosen, context or Context())


def simulation_lines(
    messages: Sequence[Shape], strategies: Mapping[str, Strategy], estimates: Collection[str] = tuple(ESTIMATES)
) -> list[Line]:
    """The chain as it is, each strategy by its name, and the estimates that are named. Raises OptionsError for an unknown one."""
    for name in estimates:
        if name not in ESTIMATES:
            raise OptionsError(f"There is no estimate “{name[:40]}”; there are {', '.join(ESTIMATES)}.")
    return [
        Line(PLAIN),
        *(Line(name, strategy) for name, strategy in strategies.items()),
        *(Line(name, estimate=make(messages)) for name, make in ESTIMATES.items() if name in estimates),
    ]
