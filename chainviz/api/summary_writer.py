"""Writers of summaries by name; several pieces are written at the same time. What a model's tokens cost, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.chain.chain import Chain
from chainviz.core.operations.summarize import Left, SummarizeOptions, SummaryRequest, plan
from chainviz.core.operations.summarize.cost import estimated_usage
from chainviz.core.usage.recorded import TokenUsage
from chainviz.llm import WRITERS, Endpoint, write_all, writer_named
from chainviz.llm.openai_writer import OpenAIWriter


def writers_in_words() -> str:
    return ", ".join(writer.name for writer in WRITERS)


class SummaryWriters:
    """Has pieces written by the writer of a name. OptionsError where there is none."""

    def __init__(self, name: str) -> None:
        from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

        self.endpoint = Endpoint.configured(CHAINVIZ)
        self.writer = writer_named(name, self.endpoint)
        self.usage: TokenUsage | None = None
        """Of all pieces so far, as the model's server counted it; None where it did not."""

    def __call__(self, requests: Sequence[SummaryRequest]) -> dict[str, str | Left]:
        written = write_all(requests, self.writer, concurrency=self.endpoint.concurrency)
        for each in written:
            if each.usage is not None:
                self.usage = (self.usage or TokenUsage()) + each.usage
        return {each.request.key: each.text if each.state == "done" else Left(each.cause) for each in written}

    def estimate(self, chain: Chain, options: SummarizeOptions) -> str:
        """Before anything is sent; "" where no model would be asked."""
        planned = plan(chain, options)
        if not isinstance(self.writer, OpenAIWriter) or self.endpoint.problem or not planned.pieces:
            return ""
        window = options.context_window or self.endpoint.window
        return f"estimate: {self._in_words(estimated_usage(planned, window))}"

    def counted(self) -> str:
        """After all is written; "" where no server counted."""
        return f"counted: {self._in_words(self.usage)}" if self.usage is not None else ""

    def _in_words(self, usage: TokenUsage) -> str:
        price = self.endpoint.price(usage)
        cost = "no list price" if price is None else f"${price:,.4f} at list prices"
        prompts = f"{usage.calls:,} prompt{'' if usage.calls == 1 else 's'}"
        return f"{prompts} to {self.endpoint.model}, {usage.input:,} tokens in, {usage.output:,} tokens out, {cost}"
