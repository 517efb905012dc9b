"""A job that lets a model write."""

from __future__ import annotations

from typing import Any

from chainviz.jobs.tasks import JobContext
from chainviz.llm import Endpoint, Watch, Written, write_all, writer_named
from tests.llm.asking import request


def summarize(context: JobContext, url: str, pieces: int) -> list[Any]:
    endpoint = Endpoint(base_url=url, model="small", concurrency=2, seconds=60)
    finished: list[Written] = []

    def on_piece(written: Written) -> None:
        finished.append(written)
        context.report(len(finished) / pieces, written.cause)

    results = write_all(
        [request(key=f"pair:s{number}.p1") for number in range(pieces)],
        writer_named("openai", endpoint),
        concurrency=endpoint.concurrency,
        watch=Watch(context.is_cancelled, on_piece, lambda request, done, stage: context.report(len(finished) / pieces, stage)),
    )
    return [[written.state, written.text] for written in results]
