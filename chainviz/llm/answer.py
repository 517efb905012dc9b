"""Collect the answer of a model piece by piece; it is a summary only if it is whole. Knows no network.

A stream that was cut, a login page and an empty object arrive without any error; so the answer must prove that it is
one.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

from chainviz.core.operations.summarize.writers.contract import WriterError
from chainviz.core.usage.recorded import TokenUsage, read_usage
from chainviz.llm.endpoint import Endpoint
from chainviz.llm.errors import own_words, quoted


class _Lenient(BaseModel):
    """An object of an answer. Fields that servers add are ignored; those that are read must have the right type."""

    model_config = ConfigDict(from_attributes=True, frozen=True)


class _Message(_Lenient):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(_Lenient):
    delta: _Message | None = None
    message: _Message | None = None
    """The message of an answer that was not streamed, instead of `delta`."""
    finish_reason: str | None = None


class _Event(_Lenient):
    choices: list[_Choice] | None = None
    usage: Any = None


UNFINISHED = {
    "length": "The model reached its length limit in the middle of the summary; allow longer answers.",
    "content_filter": "The server's content filter stopped the summary.",
    "tool_calls": "The model called a tool instead of writing a summary.",
    "function_call": "The model called a tool instead of writing a summary.",
    None: "The answer ended before the model finished; the connection may have been interrupted.",
}


class Answer:
    """The text so far. `take` says whether the model has finished; `text` gives the summary or says why there is none."""

    def __init__(self, endpoint: Endpoint, max_bytes: int) -> None:
        self.size = 0
        self._endpoint = endpoint
        self._max_bytes = max_bytes
        self._pieces: list[str] = []
        self._finish: str | None = None
        self._called_tool = False
        self._refusal = ""
        self._empty = True
        self.usage: TokenUsage | None = None
        """The usage that the server counted."""

    def take(self, event: object) -> bool:
        """Add one event of a stream, or a whole answer. Raises ValueError if it has another shape."""
        said_now = _Event.model_validate(event)
        self._count(said_now.usage)
        for choice in (said_now.choices or [])[:1]:
            self._empty = False
            said = choice.delta or choice.message or _Message()
            self._called_tool = self._called_tool or bool(said.tool_calls or said.function_call)
            self._refusal += said.refusal or ""
            self._finish = choice.finish_reason or self._finish
            self._add(said.content or "")
        return self._finish is not None

    def take_body(self, body: bytes) -> None:
        """Read an answer that was sent in one piece although a stream was requested."""
        content = json.loads(body)
        if isinstance(content, dict) and content.get("error"):
            raise WriterError(f"{self._endpoint.host} answered with an error{quoted(self._endpoint, own_words(content))}.")
        self.take(content)

    def text(self) -> str:
        if self._empty:
            raise WriterError(f"{self._endpoint.host} answered, but not with a summary; is CHAINVIZ_LLM_BASE_URL right?")
        if self._refusal:
            raise WriterError(f"The model refused to write the summary{quoted(self._endpoint, self._refusal)}.")
        if self._called_tool:
            raise WriterError(UNFINISHED["tool_calls"])
        if self._finish != "stop":
            raise WriterError(UNFINISHED.get(self._finish, f"The model stopped for another reason{quoted(self._endpoint, self._finish)}."))
        text = _without_thoughts("".join(self._pieces))
        if not text.strip():
            raise WriterError("The model finished without writing anything.")
        return text

    def _count(self, usage: Any) -> None:
        """Record the usage. Servers report it at the end, or more with each event, so the last report counts."""
        counted = usage.model_dump() if isinstance(usage, BaseModel) else usage
        self.usage = read_usage(counted) or self.usage

    def _add(self, content: str) -> None:
        self.size += len(content.encode("utf-8", "surrogatepass"))
        if self.size > self._max_bytes:
            raise WriterError(f"The answer is longer than {self._max_bytes:,} bytes; no summary is that long.")
        self._pieces.append(content)


def _without_thoughts(text: str) -> str:
    """Return the text without the thoughts that some servers of reasoning models leave before the answer."""
    opening, thoughts, rest = text.partition("</think>")
    return rest.lstrip() if thoughts and opening.lstrip().startswith("<think>") else text
