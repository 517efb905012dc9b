"""Write several summaries at the same time, up to a limit. One that fails does not end the others; a cancellation ends them all."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Literal

from chainviz.core.operations.summarize.writers.contract import Summary, SummaryRequest, Unchanged, Writer, WriterError
from chainviz.core.usage.recorded import TokenUsage

log = logging.getLogger(__name__)
TICK = 0.1
GRACE = 1.0
"""The seconds that a writer has to react to a cancellation before its piece is abandoned."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of one request. If it failed or was cancelled, it can be given to `write_all` again."""

    request: SummaryRequest
    state: Literal["done", "failed", "cancelled"]
    text: str = ""
    cause: str = ""
    """The reason why there is no text."""
    retryable: bool = True
    usage: TokenUsage | None = None
    """The usage that the model's server counted."""

    @property
    def outcome(self) -> str | Unchanged:
        """Return the outcome in the form that a plan accepts."""
        return self.text if self.state == "done" else Unchanged(self.cause)


@dataclass(frozen=True, slots=True)
class Watch:
    """What the caller of `write_all` does meanwhile. The functions run in the caller's thread, so they may use its database connection.
    An exception from one of them ends all writing and is passed on; pieces already reported stay reported."""

    is_cancelled: Callable[[], bool] = lambda: False
    on_piece: Callable[[Written], None] = lambda written: None
    """Called with each result as soon as it is known."""
    on_progress: Callable[[SummaryRequest, float, str], None] = lambda request, done, stage: None
    """Called with a request, the done share from 0 to 1, and the stage in words."""


UNWATCHED = Watch()


def write_all(requests: Sequence[SummaryRequest], writer: Writer, *, concurrency: int, watch: Watch = UNWATCHED) -> tuple[Written, ...]:
    """Return one result for each request, in their order."""
    stop = threading.Event()
    stages: dict[int, tuple[float, str]] = {}
    results: dict[int, Written] = {}
    pool = ThreadPoolExecutor(max(1, concurrency), thread_name_prefix="summary")
    try:
        futures = {pool.submit(_write, request, writer, stop, stages, number): number for number, request in enumerate(requests)}
        for finished in _as_they_finish(set(futures), stop, watch.is_cancelled):
            for future in finished:
                results[futures[future]] = future.result()
                watch.on_piece(future.result())
            while stages:
                number, (done, stage) = stages.popitem()
                if number not in results:
                    watch.on_progress(requests[number], done, stage)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    for number in sorted(set(range(len(requests))) - set(results)):
        results[number] = _cancelled(requests[number])
        watch.on_piece(results[number])
    return tuple(results[number] for number in range(len(requests)))


def _as_they_finish(waiting: set[Future[Written]], stop: threading.Event, is_over: Callable[[], bool]) -> Iterator[set[Future[Written]]]:
    """Yield what has finished since the last look, until all has, or until a cancel was ignored for too long."""
    end = float("inf")
    while waiting and time.monotonic() < end:
        finished, waiting = wait(waiting, timeout=TICK, return_when=FIRST_COMPLETED)
        yield finished
        if waiting and not stop.is_set() and is_over():
            stop.set()
            end = time.monotonic() + GRACE


def _write(request: SummaryRequest, writer: Writer, stop: threading.Event, stages: dict[int, tuple[float, str]], number: int) -> Written:
    if stop.is_set():
        return _cancelled(request)

    def progress(done: float, stage: str) -> None:
        stages[number] = (done, stage)

    try:
        written = writer.write(request, cancelled=stop.is_set, progress=progress)
        text, usage = (written.text, written.usage) if isinstance(written, Summary) else (written, None)
        return Written(request, "done", text=text, usage=usage)
    except WriterError as error:
        if stop.is_set():
            return _cancelled(request)
        return Written(request, "failed", cause=str(error), retryable=error.retryable)
    except Exception as error:  # one piece's fault must not cost the others their texts
        log.exception("the writer %s failed", writer.name)
        cause = f"This is a bug in chainviz, not in your chain ({type(error).__name__}); the server's log says more."
        return Written(request, "failed", cause=cause)


def _cancelled(request: SummaryRequest) -> Written:
    return Written(request, "cancelled", cause="Cancelled before the summary was complete.")
