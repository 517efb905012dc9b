"""What the library shows of a chain beside its counts: model, tools, tokens, cost, errors, times. All of it is computed from
the outline of the newest version, and computed again with it (versions/judge_again.py)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from django.conf import settings

from chainviz.chains.models import Chain
from chainviz.chains.usage import by_model, models, recorded_times, recorded_usage
from chainviz.core.chain.unread import unread_rows
from chainviz.core.usage.chain_usage import ChainUsage, chain_usage
from chainviz.jobs.lease import storable
from chainviz.store.models import Outline
from chainviz.store.outline.build import broken_rules
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.transfer.document_context import envelope_of

MOST_TOOLS = 200
"""Tools of a chain that are kept, the ones called most often."""
FACTS = ("usage", "tokens", "model", "cost", "prices", "tools", "calls", "tool_errors", "rules_broken", "unread", "began_at", "duration")
"""What `copy_facts` writes."""


def copy_facts(chain: Chain, outline: Outline) -> None:
    _copy_usage(chain, recorded_usage(outline))
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
    chain.cost, chain.prices = _millionths(usage.cost(models())), price_edition()


def _millionths(cost: Decimal | None) -> int | None:
    return None if cost is None else int(cost * 1_000_000)


def priced_otherwise() -> list[int]:
    """Keys of the chains whose cost was computed from other list prices than today's."""
    return list(Chain.objects.exclude(prices=price_edition()).order_by("-changed_at").values_list("pk", flat=True))


def price_again(key: int) -> None:
    chain = Chain.objects.filter(pk=key).first()
    if chain is None:
        return
    cost = _millionths(chain_usage(by_model(chain.usage or {}), {}).cost(models()))
    Chain.objects.filter(pk=key, usage=chain.usage).update(cost=cost, prices=price_edition())


def price_edition() -> int:
    """A number that changes with the list prices: those of the package, and the person's own."""
    return _edition(settings.CHAINVIZ.models)


@lru_cache(maxsize=4)
def _edition(path: str) -> int:
    own = Path(path).read_bytes() if path else b""
    digest = blake2b(version("genai-prices").encode() + b"\0" + own, digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1
