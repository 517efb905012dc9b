"""The operation: plan, have each piece written, fold. One piece that fails does not take the others along."""

from __future__ import annotations

import random
from collections.abc import Sequence

from chainviz.core.chain.chain import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Badge, Context, Outcome
from chainviz.core.operations.summarize.apply import fold
from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.planning.choose import plan
from chainviz.core.operations.summarize.writers.contract import (
    Left,
    Summary,
    SummaryRequest,
    Writer,
    WriterError,
    WriteSummaries,
)
from chainviz.core.operations.summarize.writers.extractive.writer import Extractive

CANCELLED = Left("It was cancelled.")


class Summarize:
    name = "summarize"
    label = "Summarize"
    doing = "Summarizing"
    badge = Badge("Summarized", "summary", "summarised")
    nothing = "Nothing is old or large enough to be summarized."
    Options = SummarizeOptions

    def run(self, chain: Chain, options: SummarizeOptions, context: Context) -> Outcome:
        """Writes one piece after the other, unless the context writes several at the same time, or has the texts already."""
        if context.summaries is not None:
            return fold(plan(chain, options, context.summaries), context.summaries, context.random)
        if context.write_summaries is not None:
            return summarized(chain, options, context.write_summaries, context.random)
        writer = context.writer or Extractive()

        def ask(requests: Sequence[SummaryRequest]) -> dict[str, str | Left]:
            texts = {}
            for done, request in enumerate(requests):
                context.progress(done / len(requests), request.key)
                texts[request.key] = _written(request, writer, context)
            return texts

        return summarized(chain, options, ask, context.random)


def summarized(chain: Chain, options: SummarizeOptions, ask: WriteSummaries, source: random.Random) -> Outcome:
    """Asks for what the plan needs, stage by stage; Refused where no piece at all could be written."""
    texts: dict[str, str | Left] = {}
    planned = plan(chain, options)
    while waiting := planned.waiting(texts):
        texts.update(ask([planned.request(piece) for piece in waiting]))
        planned = plan(chain, options, texts)
    failures = [text for text in texts.values() if isinstance(text, Left)]
    if failures and len(failures) == len(texts) and options.preset != "pentagi":
        raise Refused(f"Every summary failed. {failures[0].reason}")
    return fold(planned, texts, source)


def _written(request: SummaryRequest, writer: Writer, context: Context) -> str | Left:
    if context.cancelled():
        return CANCELLED
    try:
        written = writer.write(request, cancelled=context.cancelled)
        return written.text if isinstance(written, Summary) else written
    except WriterError as failed:
        return Left(str(failed))
