"""Attempts to reach a model, and its errors, each as one sentence for a person.

An attempt can be ended at any moment, and some are worth repeating. Loads no HTTP library; a sentence never contains a key.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from chainviz.core.operations.summarize.writers.contract import WriterError
from chainviz.llm.endpoint import Endpoint

T = TypeVar("T")
TICK = 0.1
FAREWELL = 0.5
"""The seconds for closing the connections of work that was stopped."""


def run_watched(work: Coroutine[Any, Any, T], *, seconds: float, look: Callable[[], None]) -> T:
    """Return the result of `work`. Raises TimeoutError after `seconds`, whatever it waits for. The event loop has its
    own thread. `look` is called now and then in the caller's thread, where a database may be used and another loop may
    be running. If it raises, the work ends."""
    end = time.monotonic() + seconds
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True, name="watched")
    thread.start()
    try:
        while _is_busy(thread, min(TICK, end - time.monotonic())):
            if time.monotonic() >= end:
                raise TimeoutError
            look()
        return task.result()
    finally:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is left to cancel
            loop.call_soon_threadsafe(task.cancel)
        thread.join(FAREWELL)


def _is_busy(thread: threading.Thread, seconds: float) -> bool:
    thread.join(max(seconds, 0.0))
    return thread.is_alive()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    try:
        loop.run_until_complete(asyncio.wait({task}))
        if not task.cancelled():
            task.exception()  # seen, so that asyncio does not log it when nobody wants the result any more
    finally:
        # Not asyncio.run, which would wait for a name look-up that nobody can interrupt.
        loop.close()


def is_passing(status: int) -> bool:
    """Return True if the same request may be accepted a little later."""
    return status in {408, 429} or status >= 500


def seconds_to_wait(headers: Mapping[str, str], first_pause: float, attempt: int) -> float:
    """Return the seconds to wait: as long as the server asks, else the first pause, doubled at each attempt."""
    wanted = retry_after(headers)
    return first_pause * 2 ** (attempt - 1) if wanted is None else wanted


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that the server asks to wait, in any of the three spellings in use, or None if it names none."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)


QUOTE = 200
"""The number of characters of a server's own words that an error repeats."""
REMEDIES = {
    401: "Check CHAINVIZ_LLM_API_KEY",
    403: "Check CHAINVIZ_LLM_API_KEY",
    404: "Check CHAINVIZ_LLM_MODEL, and CHAINVIZ_LLM_BASE_URL, which often ends in /v1",
    413: "Fold less at a time or choose a model with a larger context",
}


def quoted(endpoint: Endpoint, words: object) -> str:
    """Return a server's own words to append to a sentence: one line, cut, printable, and without the key that they may
    repeat."""
    text = str(words or "")
    text = text.replace(endpoint.api_key, "[key]") if endpoint.api_key else text
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    line = line if len(line) <= QUOTE else line[: QUOTE - 1] + "…"
    return f": “{line}”" if line else ""


def own_words(body: object) -> object:
    """Return the sentence inside an error answer, in the shapes that servers use; a page of HTML has none."""
    for name in ("error", "message", "detail"):
        if isinstance(body, Mapping) and body.get(name):
            body = body[name]
    return body if isinstance(body, str) and not body.lstrip().startswith("<") else ""


def refusal(endpoint: Endpoint, status: int, words: object, attempts: int = 1) -> WriterError:
    """Return the error for an answer that refuses by its status."""
    if 300 <= status < 400:
        text = f"{endpoint.host} answered with a redirect ({status}), which is not followed. Set CHAINVIZ_LLM_BASE_URL to the final address"
        return WriterError(f"{text}.", retryable=False)
    says = {429: "cannot take this request now", 401: "refused the key", 403: "refused the key"}
    verb = says.get(status, "failed" if status >= 500 else "refused the request")
    times = f" It was asked {attempts} times." if attempts > 1 else ""
    remedy = f" {REMEDIES[status]}." if status in REMEDIES else ""
    return WriterError(f"{endpoint.host} {verb} ({status}){quoted(endpoint, words)}.{remedy}{times}", retryable=is_passing(status))


def wait_too_long(endpoint: Endpoint, status: int, pause: float, left: float) -> WriterError:
    asked = f"{endpoint.host} cannot take requests now ({status}) and asks to wait {pause:,.0f} s"
    return WriterError(f"{asked}, longer than the {max(left, 0):,.0f} s that are left. Try again later.")


def no_connection(endpoint: Endpoint, error: BaseException) -> WriterError:
    """Return the reason for a library's “connection error”."""
    for cause in _causes(error):
        if isinstance(cause, WriterError):
            return cause
        if isinstance(cause, socket.gaierror):
            return WriterError(f"The host {endpoint.host} was not found. Check CHAINVIZ_LLM_BASE_URL and the network.")
        if isinstance(cause, ConnectionRefusedError):
            return WriterError(f"Nothing listens at {endpoint.host}: the connection was refused. Is the server running?")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return WriterError(
                f"The certificate of {endpoint.host} is not trusted{quoted(endpoint, cause.verify_message)}.", retryable=False
            )
        if isinstance(cause, ssl.SSLError):
            return WriterError(f"{endpoint.host} uses no supported TLS; should the address begin with http:// instead?", retryable=False)
    return WriterError(f"The connection to {endpoint.host} broke before the answer was complete.")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, each once; several attempts at one host are a group."""
    queue, seen = [error], set[int]()
    while queue:
        each = queue.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        queue += [behind for behind in (each.__cause__, each.__context__) if behind is not None]
        queue += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
