"""Recorded and estimated tokens of a chain, its cost and its context window, as pages show them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from django.conf import settings

from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.usage.chain_usage import ChainUsage, chain_usage
from chainviz.core.usage.duration_text import duration_text
from chainviz.core.usage.estimate import estimated_tokens
from chainviz.core.usage.prices_and_windows import Models, read_overrides
from chainviz.core.usage.recorded import TokenUsage
from chainviz.core.usage.recorded_times import Times
from chainviz.store.models import Outline
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.cache import listing_of
from chainviz.store.outline.measures import Counts, unpack_charts
from chainviz.store.transfer.document_context import uploaded_state
from chainviz.web.formatting.relative_time import full_time
from chainviz.web.formatting.token_estimate import round_tokens_text, token_text, tokens_text

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ContextMeter:
    """The chain as it is now beside what its model takes at once."""

    is_recorded: bool
    window: str
    percent: int
    model: str

    @property
    def state(self) -> str:
        return "problem" if self.percent > 100 else "changed" if self.percent > 80 else "ok"

    @property
    def bar(self) -> int:
        return min(100, self.percent)


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """How many tokens a model takes at once."""

    tokens: int
    model: str


@dataclass(frozen=True, slots=True)
class UsageView:
    summary: str
    """In the head of the page: recorded tokens, else an estimate that says so."""
    facts: Facts
    """Recorded usage and times; empty where none are recorded."""
    model: str


def usage_view(outline: Outline, size: int) -> UsageView:
    usage, times = recorded_usage(outline), recorded_times(outline)
    took = f" · {duration_text(times.seconds)}" if times.seconds else ""
    facts = (*usage_facts(usage), *time_facts(times))
    return UsageView(f"{usage_line(usage, size)}{took}", facts, _shown(usage.model))


def recorded_times(outline: Outline) -> Times:
    """Of its messages, else of its document."""
    return listing_of(outline).total.times or unpack_charts(outline.charts).times


def time_facts(times: Times) -> Facts:
    if not times:
        return ()
    began, ended = (full_time(datetime.fromtimestamp(each / 1000, UTC)) for each in times)
    if not times.seconds:
        return (("Written", began),)
    return ("First message", began), ("Last message", ended), ("Duration", duration_text(times.seconds))


def recorded_usage(outline: Outline) -> ChainUsage:
    """What the file records of the run: an operation that changes or removes messages does not change it."""
    outline = outline_of(uploaded_state(outline.snapshot))
    in_messages = by_model(listing_of(outline).total.usage)
    return chain_usage(in_messages, by_model(unpack_charts(outline.charts).beside))


def by_model(counts: Counts) -> dict[str, TokenUsage]:
    return {model: TokenUsage(*numbers) for model, numbers in counts.items()}


def usage_line(usage: ChainUsage, size: int) -> str:
    if not usage.is_recorded:
        return f"{token_text(size)} tokens (estimate)"
    total, cost = usage.total, usage.cost(models())
    tokens = f"{tokens_text(total.input)} tokens in, {tokens_text(total.output)} out"
    return tokens if cost is None else f"{tokens} · {dollars(cost)}"


def usage_facts(usage: ChainUsage) -> Facts:
    if not usage.is_recorded:
        return ()
    cost = usage.cost(models())
    named = [(name, each) for name, each in usage.by_model.items() if name]
    several = [(f"Cost of {_shown(name)}", models().cost(name, each)) for name, each in named] if len(named) > 1 else []
    costs = [*several, ("Cost at list prices", cost)]
    return (
        ("Model" if len(named) < 2 else "Models", ", ".join(_shown(name) for name, _ in named) or "not recorded"),
        *token_facts(usage.total),
        *((name, "no list price" if each is None else dollars(each)) for name, each in costs),
    )


def token_facts(usage: TokenUsage) -> Iterable[tuple[str, str]]:
    if usage.calls:
        yield "Calls", f"{usage.calls:,}"
    yield "Input", tokens_text(usage.input)
    if usage.cached:
        yield "of that, cached", f"{tokens_text(usage.cached)} · {100 * usage.cached // max(1, usage.input)}%"
    if usage.written:
        yield "of that, cache writes", tokens_text(usage.written)
    yield "Output", tokens_text(usage.output)
    yield "of that, reasoning", tokens_text(usage.reasoning) if usage.reasoning else "not recorded"


def node_facts(counts: Counts, times: Times) -> Facts:
    """What the messages of a node record; () where they record nothing."""
    return (*usage_facts(chain_usage(by_model(counts), {})), *time_facts(times))


def recorded_window(usage: ChainUsage) -> ContextWindow | None:
    """The context window of the recorded model; None if no model is recorded, or its window is not known."""
    tokens = models().context_window(usage.model)
    return ContextWindow(tokens, _shown(usage.model)) if tokens else None


def context_meter(window: ContextWindow, prompt: int | None, size: int) -> ContextMeter:
    """`prompt`: tokens of the last recorded prompt; None estimates them from the size of the chain in bytes."""
    tokens = estimated_tokens(size) if prompt is None else prompt
    share = round(100 * tokens / window.tokens)
    return ContextMeter(prompt is not None, round_tokens_text(window.tokens), share, window.model)


def dollars(cost: Decimal) -> str:
    return f"${cost:,.2f}" if cost >= Decimal("0.01") or not cost else "under $0.01"


def cost_text(millionths: int) -> str:
    return dollars(Decimal(millionths) / 1_000_000)


def _shown(model: str) -> str:
    return marks(one_line(model, 60))


def models() -> Models:
    return _models(settings.CHAINVIZ.models)


@lru_cache(maxsize=4)
def _models(path: str) -> Models:
    return Models(read_overrides(path))
