"""Simulate one call of a model, from a state to the next: the messages that are sent, stored and logged.

Replies and results of tools are given; no model is called. `CallRules` chooses where the specification and its code
disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple, Protocol

from chainviz.core.chain.chain import Chain, MemoryChain, Splice
from chainviz.core.chain.messages import HUMAN, TOOL, Message, Shape, Text, ToolCall, ToolResult
from chainviz.core.errors import ChainError, Refused
from chainviz.core.state.document import RawMessage, State, dialect_of, known_fields, read_raw, write_raw
from chainviz.core.state.message_index import Usage, Window

# The seam between a call and core/operations/compact.


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """Seed 3, Compaction Interface."""

    messages: Window
    """The stored messages; leading system messages are not among them."""
    leading: Sequence[Shape] = ()
    """The leading system messages of the call: for information, never compacted."""
    usage: Usage | None = None
    """Of the last call; None where it is unknown."""
    provider: str = ""
    processed_length: int = 0
    chain: Chain | None = None
    """The stored messages with their bodies, for strategies that rewrite them; None where there are only sizes."""


class Compaction(Protocol):
    @property
    def was_compacted(self) -> bool: ...

    @property
    def splices(self) -> tuple[Splice, ...]:
        """What changes, in places of the stored messages."""


CompactionRun = Callable[[CompactionRequest], Compaction]
"""Raises CompactionFailed where it cannot be done."""


class CompactionFailed(Refused):
    """Raised if a compactor fails: the call that asked for it makes no new state."""


STOP = ("stop", "end_turn", "stop_sequence")
CALLS = ("tool_calls", "tool_use")
LENGTH = ("length", "max_tokens")
"""Finish reasons of OpenAI and Anthropic."""

TOOL_NOT_FOUND = "Error: tool not found"
NO_REPLY = "no_reply"
"""The event where replies run out, which the reference does not have: to it that is an error of the API."""


class ToolFailed(ChainError):
    """Raised if a tool cannot run. Its text is sent to the model, and the turn continues."""


Tools = Mapping[str, Callable[[str], str]]
"""By name: arguments to result. A tool may raise ToolFailed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers to one request."""

    message: str
    """JSON text."""
    finish_reason: str
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallRules:
    provider: str = "openai"
    """Of a new conversation; a state has its own."""
    most_rounds: int = 10
    """Requests in one call, tool rounds included."""
    developer_is_system: bool = False
    """Leading developer messages are not stored either; in the reference they are."""
    reference: bool = False
    """As goaitools: unknown fields are not sent and those of replies not stored, and a state that begins with a system
    message loses it."""


class NextState(NamedTuple):
    sent: tuple[tuple[str, ...], ...]
    """The messages of each request, as JSON texts."""
    state: State | None
    """None where the call fails: the caller keeps the old state."""
    events: tuple[str, ...]
    """What the reference logs; the last says why there is no state."""


DEFAULT_RULES = CallRules()


def next_state(
    state: State | None,
    options: Sequence[str],
    replies: Sequence[Reply],
    tools: Tools,
    compactor: CompactionRun | None = None,
    *,
    rules: CallRules = DEFAULT_RULES,
) -> NextState:
    """`options`: the messages of this call as JSON texts, leading system messages first. `state` is None at the start.

    Compaction runs once, after the answer that ends the turn, and never between tool rounds (seed 3, When Compaction
    Occurs).
    """
    return _Call(state, options, tools, rules).run(replies, compactor)


def append(state: State | None, messages: Sequence[str], provider: str = "openai") -> State:
    """The messages at the end, system ones too; nothing is called and nothing compacted, and the model has not seen them
    (seed 3, Processed Length Field). `provider` is that of a new state."""
    state = state or State(provider)
    dialect_of(state.provider)
    return replace(state, messages=(*state.messages, *messages))


def add_event(state: State | None, text: str, provider: str = "openai") -> State:
    """Something that happened, as a user message (seed 3, UpdateStateAfterEvent, which the reference does not have)."""
    dialect = dialect_of(state.provider if state else provider)
    event = write_raw(Message(HUMAN, (Text(text),)), dialect, state.messages[-1] if state and state.messages else "")
    return append(state, [raw.text for raw in event], provider)


class _Call:
    def __init__(self, state: State | None, options: Sequence[str], tools: Tools, rules: CallRules) -> None:
        self.state = state or State(rules.provider)
        self.dialect = dialect_of(self.state.provider)
        self.tools = tools
        self.rules = rules
        given = [read_raw(text, self.dialect) for text in options]
        self.leading = list(takewhile(self._is_leading, given))
        before = [read_raw(text, self.dialect) for text in self.state.messages]
        self.stored = [*before, *given[len(self.leading) :]]
        self.events: list[str] = []
        self.sent: list[tuple[str, ...]] = []

    def _is_leading(self, message: RawMessage) -> bool:
        return message.is_system(or_developer=self.rules.developer_is_system)

    def run(self, replies: Sequence[Reply], compactor: CompactionRun | None) -> NextState:
        for reply in replies[: self.rules.most_rounds]:
            before = [*self.leading, *self.stored]
            self.sent.append(tuple(self._wire(message.text) for message in before))
            answer = read_raw(self._wire(reply.message), self.dialect)
            if reply.finish_reason in STOP:
                self.stored.append(answer)
                size = sum(message.size for message in before)
                usage = None if reply.prompt_tokens is None else Usage(reply.prompt_tokens, size)
                return self._saved(usage, compactor)
            if reply.finish_reason not in CALLS:
                known = reply.finish_reason in LENGTH
                return self._failed("max_tokens_exceeded" if known else "unknown_finish_reason")
            self.stored += [answer, *self._results(answer)]
        return self._failed("max_iterations_exceeded" if len(replies) >= self.rules.most_rounds else NO_REPLY)

    def _wire(self, text: str) -> str:
        return known_fields(text) if self.rules.reference else text

    def _failed(self, event: str) -> NextState:
        return NextState(tuple(self.sent), None, (*self.events, event))

    def _results(self, answer: RawMessage) -> Iterator[RawMessage]:
        calls = [part for message in answer.messages for part in message.parts if isinstance(part, ToolCall)]
        results = tuple(ToolResult(call.id, "", self._run_tool(call)) for call in calls)
        return write_raw(Message(TOOL, results), self.dialect)

    def _run_tool(self, call: ToolCall) -> str:
        if call.name not in self.tools:
            return TOOL_NOT_FOUND
        try:
            return self.tools[call.name](call.arguments)
        except ToolFailed as failed:
            self.events.append("tool_execution_error")
            return f"Error: {failed}"

    def _saved(self, usage: Usage | None, compactor: CompactionRun | None) -> NextState:
        stored = self.stored
        if self.rules.reference:
            stored = stored[len(list(takewhile(RawMessage.is_system, stored))) :]
        texts = tuple(message.text for message in stored)
        if compactor is not None:
            try:
                compaction = compactor(self._request(stored, usage))
            except CompactionFailed:
                return self._failed("compaction_failed")
            if compaction.was_compacted:
                self.events.append("conversation_compacted")
            texts = self._spliced(texts, compaction.splices)
        others = () if self.rules.reference else self.state.others
        state = State(self.state.provider, texts, len(texts), others)
        return NextState(tuple(self.sent), state, tuple(self.events))

    def _request(self, stored: Sequence[RawMessage], usage: Usage | None) -> CompactionRequest:
        """The bodies go along where each stored message is one of a chain."""
        messages = tuple(message for raw in stored for message in raw.messages)
        chain = MemoryChain(messages, self.dialect.name) if len(messages) == len(stored) else None
        window, seen = Window.of(stored), self.state.processed_length
        return CompactionRequest(window, self.leading, usage, self.state.provider, seen, chain)

    def _spliced(self, texts: Sequence[str], splices: Sequence[Splice]) -> tuple[str, ...]:
        kept: list[str] = []
        place = 0
        for splice in splices:
            kept += texts[place : splice.start]
            kept += [raw.text for message in splice.messages for raw in write_raw(message, self.dialect)]
            place = splice.start + splice.removed
        return (*kept, *texts[place:])
