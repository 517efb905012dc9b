"""The model that writes summaries, the limits of patience with it, and several summaries at the same time, up to a limit."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Literal, Protocol
from urllib.parse import urlsplit

from chainviz.core.operations.summarize.writers.contract import Summary, SummaryRequest, Unchanged, Writer, WriterError
from chainviz.core.usage.model_catalog import Models, read_overrides
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


class Configured(Protocol):
    """The application's settings, as far as they concern a model."""

    @property
    def llm_base_url(self) -> str: ...
    @property
    def llm_api_key(self) -> str: ...
    @property
    def llm_model(self) -> str: ...
    @property
    def llm_concurrency(self) -> int: ...
    @property
    def llm_seconds(self) -> int: ...
    @property
    def models(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server. Private addresses are fine: the operator chose them."""

    base_url: str = ""
    api_key: str = field(default="", repr=False)
    """The key; empty for servers without one, such as Ollama, vLLM and LM Studio."""
    model: str = ""
    concurrency: int = 4
    seconds: float = 600.0
    """The seconds for one prompt, from the first connection to the last word, including repeated attempts."""
    models: str = ""
    """The file with the person's own figures of models; "" if there is none."""
    refusal: str = ""
    """The reason why no model may be called, whatever is configured; empty if it may."""

    @classmethod
    def configured(cls, settings: Configured) -> Endpoint:
        return cls(
            base_url=settings.llm_base_url.strip(),
            api_key=settings.llm_api_key.strip(),
            model=settings.llm_model.strip(),
            concurrency=settings.llm_concurrency,
            seconds=settings.llm_seconds,
            models=settings.models,
        )

    @property
    def window(self) -> int:
        """The context window of the model in tokens; 0 if it is not known."""
        return _models(self.models).context_window(self.model) or 0 if self.model else 0

    def price(self, usage: TokenUsage) -> Decimal | None:
        """The list price of the model; None if it has none."""
        return _models(self.models).cost(self.model, usage)

    @property
    def host(self) -> str:
        """The part of the address that errors and labels may show."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def problem(self) -> str:
        """The reason why the model cannot be called with these settings; empty if they are fine."""
        if self.refusal:
            return self.refusal
        if not self.base_url:
            return "No model is set up: CHAINVIZ_LLM_BASE_URL is empty. Set it to an address such as http://127.0.0.1:11434/v1."
        if not _is_address(self.base_url):
            return "CHAINVIZ_LLM_BASE_URL is not an address such as http://127.0.0.1:11434/v1; correct it and restart."
        if "@" in urlsplit(self.base_url).netloc:
            return "CHAINVIZ_LLM_BASE_URL contains a password; put it in CHAINVIZ_LLM_API_KEY instead."
        if not self.model:
            return "No model is chosen: CHAINVIZ_LLM_MODEL is empty. Set it to a model that the server offers."
        if not (self.api_key.isascii() and self.api_key.isprintable()) or " " in self.api_key:
            # An HTTP library would refuse it too, in an error that quotes the key.
            return "CHAINVIZ_LLM_API_KEY contains a character that is not allowed in a key, such as a space or a line break."
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of an answer."""

    connect_seconds: float = 10.0
    retries: int = 2
    first_pause: float = 1.0
    """The pause before the second attempt if the server names none; it doubles with each further attempt."""
    wire_bytes: int = 16 * 1024 * 1024
    """The size of the answer as it is sent: a streamed token of four bytes takes about three hundred."""
    text_bytes: int = 1024 * 1024


@lru_cache(maxsize=4)
def _models(path: str) -> Models:
    return Models(read_overrides(path))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0 and text.isprintable()
    except ValueError:
        return False
