"""`plan`: what a summary would do with these options and the texts there are so far, ours or the reference's way."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

from chainviz.core.chain.chain import Chain
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.planning.folding import plan_folding
from chainviz.core.operations.summarize.planning.plan import Plan, Texts
from chainviz.core.operations.summarize.planning.reference import replayed
from chainviz.core.operations.summarize.writers.contract import Left

NO_TEXTS: Mapping[str, str | Left] = MappingProxyType({})


def plan(chain: Chain, options: SummarizeOptions, texts: Texts = NO_TEXTS) -> Plan:
    """Calls no model. Refused (pentagi only) where the reference would not take the chain, or fail on a piece that is left."""
    if options.preset == "pentagi" and len(chain):
        return _plan_as_reference(chain, options, texts)
    return plan_folding(chain, options, texts)


def _plan_as_reference(chain: Chain, options: SummarizeOptions, texts: Texts) -> Plan:
    messages = chain.slice(0, len(chain))
    pieces, after = replayed(messages, options, random.Random(0), texts)
    size = sum(message.size for message in messages)
    return Plan(chain, options, pieces, (), size, sum(message.size for message in after))
