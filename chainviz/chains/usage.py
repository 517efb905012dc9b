"""The recorded and estimated tokens of a chain, its cost and its context window, for pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.surroundings import unread_rows
from chainviz.core.usage.model_catalog import ChainUsage, chain_usage, estimated_tokens
from chainviz.core.usage.recorded import LastCall, TokenUsage
from chainviz.core.usage.times import Times, duration_text
from chainviz.jobs.lease import storable
from chainviz.store.models import Outline
from chainviz.store.outline.build import broken_rules, outline_of
from chainviz.store.outline.cache import listing_of
from chainviz.store.outline.measures import Counts, unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.transfer.document_context import envelope_of, uploaded_state
from chainviz.web.formatting import full_time, round_tokens_text, token_text, tokens_text
from chainviz.web.prices import millionths, models, price_edition

Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ContextMeter:
    """The current size of the chain compared with the context window of its model."""

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
    """The size of a model's context window in tokens."""

    tokens: int
    model: str


@dataclass(frozen=True, slots=True)
class UsageView:
    summary: str
    """The tokens in the head of the page: recorded, or marked as an estimate."""
    facts: Facts
    """The recorded usage and times; empty if none are recorded."""
    model: str
    warning: str = ""
    """A warning about the recorded usage; "" if it is plausible."""


def usage_view(usage: ChainUsage, times: Times, size: int, warning: str) -> UsageView:
    took = f" · {duration_text(times.seconds)}" if times.seconds else ""
    facts = (*usage_facts(usage), *time_facts(times))
    return UsageView(f"{usage_line(usage, size)}{took}", facts, _model_text(usage.model), warning)


def recorded_times(outline: Outline) -> Times:
    """Return the times of the chain's messages, or those of its document."""
    return listing_of(outline).total.times or unpack_charts(outline.charts).times


def time_facts(times: Times) -> Facts:
    if not times:
        return ()
    began, ended = (full_time(datetime.fromtimestamp(each / 1000, UTC)) for each in times)
    if not times.seconds:
        return (("Written", began),)
    return ("First message", began), ("Last message", ended), ("Duration", duration_text(times.seconds))


def uploaded_outline(outline: Outline) -> Outline:
    """Return the outline of the file that the content was made from: an operation that changes or removes messages does not
    change what the file records of the run."""
    return outline_of(uploaded_state(outline.snapshot))


def recorded_usage(outline: Outline) -> ChainUsage:
    """Return the recorded usage of a chain. `outline` is that of the file (uploaded_outline)."""
    in_messages = by_model(listing_of(outline).total.usage)
    return chain_usage(in_messages, by_model(unpack_charts(outline.charts).beside))


def last_call(outline: Outline) -> LastCall | None:
    """Return the last model call with recorded tokens, in or beside the messages; None if there is none. `outline` is that of the file
    (uploaded_outline)."""
    beside = unpack_charts(outline.charts).last_call
    if beside:
        *usage, window = beside
        return LastCall(TokenUsage(*usage), window or None)
    reader = OutlineReader.of(outline.snapshot, outline)
    blocks = (index for index in reversed(range(len(reader.listing.rows))) if reader.listing.rows[index].measure.usage)
    for block in blocks:
        for row in reversed(reader.row_block(block).rows):
            for numbers in row.usage.values():
                return LastCall(TokenUsage(*numbers), None)
    return None


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
    several = [(f"Cost of {_model_text(name)}", models().cost(name, each)) for name, each in named] if len(named) > 1 else []
    costs = [*several, ("Cost at list prices", cost)]
    return (
        ("Model" if len(named) < 2 else "Models", ", ".join(_model_text(name) for name, _ in named) or "not recorded"),
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
    """Return the recorded facts of a node's messages; () if they record nothing."""
    return (*usage_facts(chain_usage(by_model(counts), {})), *time_facts(times))


def recorded_window(outline: Outline) -> ContextWindow | None:
    """Return the recorded context window, or that of the recorded model; None if neither is known."""
    outline = uploaded_outline(outline)
    model = recorded_usage(outline).model
    recorded = unpack_charts(outline.charts).last_call[-1:]
    return window_of(model, next(filter(None, recorded), None))


def window_of(model: str, recorded: int | None) -> ContextWindow | None:
    """Return the context window of a model. `recorded` is the recorded size of the window in tokens."""
    tokens = recorded or models().context_window(model)
    return ContextWindow(tokens, _model_text(model) or "the recorded model") if tokens else None


def context_meter(window: ContextWindow, prompt: int | None, size: int) -> ContextMeter:
    """Return the use of the context window. `prompt` are the tokens of the last recorded prompt; None estimates them from the size in
    bytes."""
    tokens = estimated_tokens(size) if prompt is None else prompt
    share = round(100 * tokens / window.tokens)
    return ContextMeter(prompt is not None, round_tokens_text(window.tokens), share, window.model)


def dollars(cost: Decimal) -> str:
    return f"${cost:,.2f}" if cost >= Decimal("0.01") or not cost else "<$0.01"


def cost_text(millionths: int) -> str:
    return dollars(Decimal(millionths) / 1_000_000)


def sum_text(millionths: int) -> str:
    """Format the cost of many sessions: without cents from $1,000 up."""
    return cost_text(millionths) if millionths < 1_000_000_000 else f"${millionths / 1_000_000:,.0f}"


def _model_text(model: str) -> str:
    return marks(one_line(model, 60))


# Facts of a chain for the library: model, tools, tokens, cost, errors and times. They are computed from the outline of the newest version,
# and again whenever that is rebuilt.


MOST_TOOLS = 200
"""The most tools that are stored for a chain, most called first."""
FACTS = ("usage", "tokens", "model", "cost", "prices", "tools", "calls", "tool_errors", "rules_broken", "unread", "began_at", "duration")
"""The fields that `copy_facts` writes."""


def copy_facts(chain: Chain, outline: Outline) -> None:
    _copy_usage(chain, recorded_usage(uploaded_outline(outline)))
    charts = unpack_charts(outline.charts)
    tools = sorted(charts.tools.items(), key=lambda tool: (-tool[1][0], tool[0]))
    chain.tools = [[name, numbers[0]] for name, numbers in tools if numbers[0]][:MOST_TOOLS]
    chain.calls = sum(numbers[0] for _, numbers in tools)
    chain.tool_errors = sum(numbers[4] for _, numbers in tools)
    chain.rules_broken = broken_rules(outline)
    chain.unread = unread_rows(envelope_of(outline.snapshot).unread)
    times = recorded_times(outline)
    chain.began_at = datetime.fromtimestamp(times.began / 1000, UTC) if times else None
    chain.duration = times.ended - times.began if times else None


def _copy_usage(chain: Chain, usage: ChainUsage) -> None:
    chain.usage = {model: list(each) for model, each in usage.by_model.items()} or None
    chain.tokens = usage.total.input + usage.total.output if usage.is_recorded else None
    chain.model = storable(usage.model)[:200]
    chain.cost, chain.prices = millionths(usage.cost(models())), price_edition()


def priced_otherwise() -> list[int]:
    """Return the keys of the chains whose cost was computed with other list prices than the current ones."""
    return list(Chain.objects.exclude(prices=price_edition()).order_by("-changed_at").values_list("pk", flat=True))


def price_again(key: int) -> None:
    chain = Chain.objects.filter(pk=key).first()
    if chain is None:
        return
    cost = millionths(chain_usage(by_model(chain.usage or {}), {}).cost(models()))
    Chain.objects.filter(pk=key, usage=chain.usage).update(cost=cost, prices=price_edition())
