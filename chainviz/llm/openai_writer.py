"""Summaries from an OpenAI-compatible server. The only module that imports openai, and only once somebody asks.

The library takes a stream that was cut for an answer, waits for ever while words drip, repeats and follows redirects by
itself; so deadline, limits, retries and what counts as an answer are ours.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chainviz.core.operations.summarize.writers.context_window import BETWEEN, split_request
from chainviz.core.operations.summarize.writers.contract import Summary, SummaryRequest, WriterError
from chainviz.core.usage.recorded import TokenUsage
from chainviz.llm import errors
from chainviz.llm.answer import Answer
from chainviz.llm.endpoint import Endpoint, Limits
from chainviz.llm.errors import is_passing, run_watched, seconds_to_wait

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

COUNT_SECONDS = 2.0
"""The seconds to wait for the server's count of tokens after the text is complete."""
KEYLESS = "none"
"""The library requires a key; this one is never sent."""


@dataclass(frozen=True, slots=True)
class OpenAIWriter:
    endpoint: Endpoint = field(default_factory=Endpoint)
    limits: Limits = field(default_factory=Limits)

    @property
    def name(self) -> str:
        return "openai"

    @property
    def label(self) -> str:
        """The name of the writer, which says where the text of the chain goes."""
        if self.endpoint.refusal:
            return "model, not allowed"
        return "model, not set up" if self.endpoint.problem else f"model {self.endpoint.model} at {self.endpoint.host}"

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float, str], None] = lambda done, text: None,
    ) -> Summary:
        if self.endpoint.problem:
            raise WriterError(self.endpoint.problem, retryable=False)
        parts = split_request(request, request.window or self.endpoint.window)
        texts: list[str] = []
        usage: TokenUsage | None = None
        for number, part in enumerate(parts):
            name = f"part {number + 1:,} of {len(parts):,}" if len(parts) > 1 else ""
            asking = _Asking(self.endpoint, self.limits, part)

            def look(asking: _Asking = asking, number: int = number, name: str = name) -> None:
                if cancelled():
                    raise WriterError("Cancelled before the summary was complete.")
                progress((number + asking.done) / len(parts), f"{name}, {asking.stage}" if name else asking.stage)

            texts.append(self._written(asking, look, name))
            if asking.usage is not None:
                usage = (usage or TokenUsage()) + asking.usage
        return Summary(BETWEEN.join(texts), usage)

    def _written(self, asking: _Asking, look: Callable[[], None], name: str) -> str:
        try:
            return run_watched(asking.ask(), seconds=self.endpoint.seconds, look=look)
        except TimeoutError:
            raise WriterError(f"{self.endpoint.host} had not finished after {self.endpoint.seconds:,.0f} s ({asking.stage}).") from None
        except WriterError as failed:
            if not name:
                raise
            raise WriterError(f"{name[0].upper()}{name[1:]}: {failed}", retryable=failed.retryable) from None


class _Asking:
    """One request with its repetitions, and its progress."""

    def __init__(self, endpoint: Endpoint, limits: Limits, request: SummaryRequest) -> None:
        self._endpoint = endpoint
        self._limits = limits
        # Half an emoji, as cut-off transcripts hold it, cannot be sent.
        self._prompt = request.prompt.encode("utf-8", "replace").decode("utf-8")
        self._target = max(request.target_bytes, 1)
        self._end = time.monotonic() + endpoint.seconds
        self._answer = Answer(endpoint, limits.text_bytes)
        self._pausing = ""
        self._counts = True

    @property
    def usage(self) -> TokenUsage | None:
        return self._answer.usage

    @property
    def done(self) -> float:
        """An estimate of the done share, because the length of the text is not known. Only a complete answer is 1."""
        return min(self._answer.size / self._target, 0.95)

    @property
    def stage(self) -> str:
        return self._pausing or (f"{self._answer.size:,} bytes written" if self._answer.size else "waiting for the model")

    async def ask(self) -> str:
        import httpx2
        import openai

        from chainviz.llm.http_client import open_client

        try:
            async with openai.AsyncOpenAI(
                base_url=self._endpoint.base_url,
                api_key=self._endpoint.api_key or KEYLESS,
                max_retries=0,
                http_client=open_client(self._endpoint, self._limits),
            ) as client:
                await self._read_patiently(client)
        except openai.APITimeoutError:
            seconds = self._limits.connect_seconds
            raise WriterError(f"{self._endpoint.host} did not accept a connection within {seconds:,.0f} s.") from None
        except (openai.APIConnectionError, httpx2.HTTPError, OSError) as error:
            raise errors.no_connection(self._endpoint, error) from None
        except openai.APIError as error:
            words = errors.quoted(self._endpoint, error.message)
            raise WriterError(f"{self._endpoint.host} stopped with an error{words}.") from None
        except (openai.OpenAIError, httpx2.InvalidURL, ValueError, RecursionError):
            raise WriterError(f"{self._endpoint.host} did not answer with a completion. Is CHAINVIZ_LLM_BASE_URL right?") from None
        return self._answer.text()

    async def _read_patiently(self, client: AsyncOpenAI) -> None:
        from openai import APIStatusError

        for attempt in range(1, self._limits.retries + 2):
            try:
                return await self._read(client)
            except APIStatusError as error:
                if self._counts and "stream_options" in str(error.body):
                    self._counts = False  # a server that does not know the option
                    continue
                pause = self._pause_after(error, attempt)
            self._pausing = f"asked to wait {pause:,.0f} s by the server"
            await asyncio.sleep(pause)
            self._pausing = ""
        raise AssertionError("the last attempt ends in an answer or an error")

    def _pause_after(self, error: APIStatusError, attempt: int) -> float:
        """Return how long to wait before the next attempt. Raises WriterError if another attempt makes no sense."""
        status = error.status_code
        if not is_passing(status) or attempt > self._limits.retries:
            raise errors.refusal(self._endpoint, status, errors.own_words(error.body), attempt) from None
        pause = seconds_to_wait(error.response.headers, self._limits.first_pause, attempt)
        left = self._end - time.monotonic()
        if pause >= left:
            raise errors.wait_too_long(self._endpoint, status, pause, left) from None
        return pause

    async def _read(self, client: AsyncOpenAI) -> None:
        from openai import omit

        self._answer = Answer(self._endpoint, self._limits.text_bytes)
        stream = await client.chat.completions.create(
            model=self._endpoint.model,
            messages=[{"role": "user", "content": self._prompt}],
            stream=True,
            stream_options={"include_usage": True} if self._counts else omit,
        )
        async with stream:
            if "json" in stream.response.headers.get("content-type", ""):
                self._answer.take_body(await stream.response.aread())
                return
            async for event in stream:
                if self._answer.take(event):
                    await self._wait_for_usage(stream)
                    return

    async def _wait_for_usage(self, stream: AsyncIterator[object]) -> None:
        """Wait for the count of tokens, which follows the text if the server sends one. The text is complete without it."""
        try:
            async with asyncio.timeout(COUNT_SECONDS):
                while self._answer.usage is None:
                    self._answer.take(await anext(stream))
        except Exception:
            return
