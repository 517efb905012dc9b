"""Writers of summaries by name; several pieces are written at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.summarize import Left, SummaryRequest
from chainviz.core.operations.summarize.writers.contract import WriteSummaries
from chainviz.llm import WRITERS, Endpoint, write_all, writer_named


def writers_in_words() -> str:
    return ", ".join(writer.name for writer in WRITERS)


def write_summaries_with(name: str) -> WriteSummaries:
    """Has pieces written by the writer of that name; OptionsError where there is none."""
    from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

    endpoint = Endpoint.configured(CHAINVIZ)
    writer = writer_named(name, endpoint)

    def ask(requests: Sequence[SummaryRequest]) -> dict[str, str | Left]:
        written = write_all(requests, writer, concurrency=endpoint.concurrency)
        return {each.request.key: each.text if each.state == "done" else Left(each.cause) for each in written}

    return ask
