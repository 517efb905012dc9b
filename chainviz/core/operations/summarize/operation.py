"""The operation: plan, have each piece written, execute. One piece that fails does not take the others along."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from chainviz.core.chain.chain import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.summarize.apply import execute
from chainviz.core.operations.summarize.extractive.writer import Extractive
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.plan import Left
from chainviz.core.operations.summarize.planning import plan
from chainviz.core.operations.summarize.writers import SummaryRequest, Writer, WriterError

CANCELLED = Left("It was cancelled.")

Asked = Callable[[Sequence[SummaryRequest]], Mapping[str, str | Left]]
"""Has several pieces written, one after the other or at the same time; gives back a text or a reason for each key."""


class Summarize:
    name = "summarize"
    label = "Summarize"
    Options = SummarizeOptions

    def run(self, chain: Chain, options: SummarizeOptions, context: Context) -> Outcome:
        """One piece after the other. Whoever wants them at the same time, or one by one, uses what this is made of."""
        writer = context.writer or Extractive()

        def ask(requests: Sequence[SummaryRequest]) -> dict[str, str | Left]:
            texts = {}
            for done, request in enumerate(requests):
                context.progress(done / len(requests), request.key)
                texts[request.key] = _written(request, writer, context)
            return texts

        return summarized(chain, options, ask, context.random)


def summarized(chain: Chain, options: SummarizeOptions, ask: Asked, source: random.Random) -> Outcome:
    """Asks for what the plan needs, stage by stage; Refused where no piece at all could be written."""
    texts: dict[str, str | Left] = {}
    planned = plan(chain, options)
    while waiting := planned.waiting(texts):
        texts.update(ask([planned.request(piece) for piece in waiting]))
        planned = plan(chain, options, texts)
    failures = [text for text in texts.values() if isinstance(text, Left)]
    if failures and len(failures) == len(texts) and options.preset != "pentagi":
        raise Refused(f"No summary was written. {failures[0].reason}")
    return execute(planned, texts, source)


def _written(request: SummaryRequest, writer: Writer, context: Context) -> str | Left:
    if context.cancelled():
        return CANCELLED
    try:
        return writer.write(request, cancelled=context.cancelled)
    except WriterError as failed:
        return Left(str(failed))
