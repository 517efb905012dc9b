"""The facts of the whole chain, for the inspector when no node is selected."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.overview import Growth, Overview
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.charts import GrowthLines, growth_svg
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.usage import ContextMeter, by_model, context_meter
from chainviz.core.counts import count_text
from chainviz.store.outline.measures import unpack_charts
from chainviz.web.formatting import bar_step, byte_text, round_tokens_text, token_text, tokens_text

MOST_TOOLS = 6


@dataclass(frozen=True, slots=True)
class ToolFact:
    name: str
    calls: str
    size: str
    bar: int
    url: str
    """The chart of bytes with its results selected."""


@dataclass(frozen=True, slots=True)
class TurnFact:
    turn: str
    url: str
    message: int
    prompt: str
    stored: str


@dataclass(frozen=True, slots=True)
class GrowthFacts:
    chart: SafeString
    model: str
    """The model whose context window is drawn; "" if no window is known."""
    is_recorded: bool
    is_mean: bool
    passing: TurnFact | None
    window: str
    table: tuple[TurnFact, ...]


@dataclass(frozen=True, slots=True)
class ChainFacts:
    size: str
    tokens: str
    messages: str
    pairs: str
    meter: ContextMeter | None
    growth: GrowthFacts | None
    tools: tuple[ToolFact, ...]
    tools_title: str
    recorded_turns: str
    """The turns with recorded tokens, in words; "" if there are none."""


def chain_facts(subject: Subject, overview: Overview) -> ChainFacts:
    total = subject.stored.outline.listing.total
    tools = unpack_charts(subject.outline.charts).tools
    usage, growth = overview.usage, overview.growth
    calls = sum(sums[0] for sums in tools.values())
    recorded = sum(each.calls for each in by_model(total.usage).values())
    window = overview.window
    # recorded values do not apply to a chain that was changed since
    call = None if subject.snapshot.operation else overview.last_call
    return ChainFacts(
        byte_text(subject.snapshot.size),
        token_text(subject.snapshot.size),
        f"{subject.snapshot.messages:,}",
        f"{total.pairs:,}",
        context_meter(window, call.usage.input if call else None, subject.snapshot.size) if window else None,
        _growth(subject, usage.model, growth) if growth is not None else None,
        _tools(subject, tools),
        f"{count_text(len(tools), 'tool')} · {count_text(calls, 'call')}" if tools else "",
        f"{recorded:,} of {count_text(total.pairs, 'turn')}" if total.usage else "",
    )


def _tools(subject: Subject, tools: dict[str, list[int]]) -> tuple[ToolFact, ...]:
    largest = sorted(tools.items(), key=lambda item: (-item[1][1] - item[1][3], item[0]))[:MOST_TOOLS]
    return tuple(
        ToolFact(
            marks(one_line(name, 60)) or "no name",
            count_text(calls, "call"),
            byte_text(call_size + result_size),
            bar_step(call_size + result_size, subject.snapshot.size),
            f"{subject.base_url}bytes?{urlencode({'tool': name}, errors='surrogatepass')}",
        )
        for name, (calls, call_size, _, result_size, _) in largest
    )


def _growth(subject: Subject, model: str, growth: Growth) -> GrowthFacts:
    facts = {point.turn: _turn(subject, point.turn, point.message, point.prompt, point.stored) for point in growth.table()}
    passing = growth.passing
    shown_model = marks(one_line(model, 60))
    return GrowthFacts(
        mark_safe(growth_svg(_lines(growth), _growth_sentence(growth, shown_model))),  # the renderer escapes
        shown_model if growth.window else "",
        growth.most_recorded is not None,
        growth.is_mean,
        _turn(subject, passing.turn, passing.message, passing.prompt, passing.stored) if passing else None,
        round_tokens_text(growth.window) if growth.window else "",
        tuple(facts.values()),
    )


def _lines(growth: Growth) -> GrowthLines:
    points = growth.points
    recorded = [(point.turn, point.prompt) for point in points if point.prompt is not None]
    stored = [(point.turn, point.stored) for point in points]
    return GrowthLines(recorded, stored, growth.window, growth.turns, growth.passing.turn if growth.passing else None)


def _growth_sentence(growth: Growth, model: str) -> str:
    """Return a sentence that describes the chart."""
    said = [f"The stored chain grows to {tokens_text(growth.points[-1].stored)} tokens (estimate) in {growth.turns:,} turns"]
    if growth.most_recorded is not None:
        said.append(f"the largest recorded prompt has {tokens_text(growth.most_recorded)}")
    if growth.window:
        said.append(f"the context window of {model} is {round_tokens_text(growth.window)}")
    return "; ".join(said)


def _turn(subject: Subject, turn: int, message: int, prompt: int | None, stored: int) -> TurnFact:
    recorded = "" if prompt is None else tokens_text(prompt)
    return TurnFact(f"{turn:,}", f"{subject.base_url}rows?near={message}", message, recorded, tokens_text(stored))
