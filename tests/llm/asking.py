"""How the tests of this folder ask: short deadlines, a request of any text, what a refusal says."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass
from typing import Any

import openai  # noqa: F401 - half a second once, which is no fault of the first deadline
import pytest

from chainviz.core.operations.summarize.writers.contract import SummaryRequest, WriterError
from chainviz.llm.endpoint import Endpoint, Limits
from chainviz.llm.openai_writer import OpenAIWriter
from tests.core.pictures import ai
from tests.waiting import PROMPT

KEY = "sk-secret-0123456789"
SECONDS = 30.0
"""Ample, so that a fault which is over at once is never taken for a late one on a busy machine."""
SHORT = 3.0
"""For those that only the deadline ends."""


def request(key: str = "pair:s1.p1", text: str = "Done.") -> SummaryRequest:
    return SummaryRequest(key=key, case=2, instructions="Sum up.", humans=(), messages=(ai(text),), target_bytes=400, exact=True)


def writer(url: str, key: str = KEY, seconds: float = SECONDS, **limits: Any) -> OpenAIWriter:
    endpoint = Endpoint(base_url=url, api_key=key, model="small", seconds=seconds)
    return OpenAIWriter(endpoint, Limits(**{"connect_seconds": 10.0, "first_pause": 0.05, **limits}))


@dataclass
class Fault:
    text: str
    retryable: bool
    seconds: float


def fault(asked: OpenAIWriter, *, within: float | None = None, **options: Any) -> Fault:
    """The refusal, in time and fit to be shown. Seconds: until the deadline of the one who asked, unless told."""
    start = time.monotonic()
    with pytest.raises(WriterError) as raised:
        asked.write(request(), **options)
    seconds = time.monotonic() - start
    assert seconds <= (asked.endpoint.seconds + PROMPT if within is None else within)
    text = str(raised.value)
    assert text.endswith((".", "?")), text
    assert len(text) < 500
    assert text.isprintable()
    assert KEY not in text
    assert "Traceback" not in text
    assert KEY not in "".join(traceback.format_exception(raised.value))
    return Fault(text, raised.value.retryable, seconds)
