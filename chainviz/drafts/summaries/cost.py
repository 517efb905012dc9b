"""What the writing of summaries costs, in words: estimated before, as the model's server counted it after."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chainviz.chains.render.numbers import count_text
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.usage import dollars, models
from chainviz.core.operations.summarize import Plan
from chainviz.core.operations.summarize.cost import estimated_usage
from chainviz.core.usage.chain_usage import chain_usage
from chainviz.core.usage.recorded import TokenUsage
from chainviz.llm import Endpoint
from chainviz.web.formatting.token_estimate import round_tokens_text, tokens_text


def estimated_cost(plan: Plan, endpoint: Endpoint) -> str:
    """ "" where nothing would be written, or no model is set up."""
    if endpoint.problem or not plan.pieces:
        return ""
    window = plan.options.context_window or endpoint.window
    usage = estimated_usage(plan, window)
    price = endpoint.price(usage)
    model = marks(one_line(endpoint.model, 60))
    said = [f"≈ {tokens_text(usage.input)} tokens in, {tokens_text(usage.output)} out"]
    said.append("no list price" if price is None else f"≈ {dollars(price)} at list prices")
    window_text = f"prompts of at most {round_tokens_text(window)} tokens" if window else "its context window is not known"
    return f"{count_text(usage.calls, 'prompt')} to {model}: {' · '.join(said)} (estimate; {window_text})"


def counted_cost(pieces: Iterable[dict[str, Any]]) -> str:
    """ "" where no server counted."""
    by_model: dict[str, TokenUsage] = {}
    counted = 0
    for usage in pieces:
        if usage:
            counted += 1
            by_model[usage["model"]] = by_model.get(usage["model"], TokenUsage()) + TokenUsage(*usage["tokens"])
    if not counted:
        return ""
    total, cost = chain_usage(by_model, {}).total, chain_usage(by_model, {}).cost(models())
    tokens = f"{tokens_text(total.input)} tokens in, {tokens_text(total.output)} out"
    price = "no list price" if cost is None else f"{dollars(cost)} at list prices"
    summaries = "1 summary" if counted == 1 else f"{counted:,} summaries"
    return f"Used for {summaries}: {tokens} · {price}"
