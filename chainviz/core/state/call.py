"""Simulate one call of a model, from a state to the next: the messages that are sent, stored and logged.

No model is called: the caller gives the replies and the tool results. `CallRules` decides where goaitools' specification and code
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

# The interface between a call and core/operations/compact.


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """The input of a compactor."""

    messages: Window
    """The stored messages, without leading system messages."""
    leading: Sequence[Shape] = ()
    """The leading system messages of the call, for information; they are never compacted."""
    usage: Usage | None = None
    """The token usage of the last call; None if it is unknown."""
    provider: str = ""
    processed_length: int = 0
    chain: Chain | None = None
    """The stored messages with their bodies, for strategies that rewrite them; None if only sizes are known."""


class Compaction(Protocol):
    @property
    def was_compacted(self) -> bool: ...

    @property
    def splices(self) -> tuple[Splice, ...]:
        """The changes, by index of the stored messages."""


CompactionRun = Callable[[CompactionRequest], Compaction]
"""A compactor. Raises CompactionFailed if it cannot compact."""


class CompactionFailed(Refused):
    """Raised if a compactor fails. The call then makes no new state."""


STOP = ("stop", "end_turn", "stop_sequence")
CALLS = ("tool_calls", "tool_use")
LENGTH = ("length", "max_tokens")
"""Finish reasons of OpenAI and Anthropic."""

TOOL_NOT_FOUND = "Error: tool not found"
NO_REPLY = "no_reply"
"""The event when no replies are left. goaitools has no such event, because it gets an error from the API."""


class ToolFailed(ChainError):
    """Raised if a tool cannot run. Its text is sent to the model, and the turn continues."""


Tools = Mapping[str, Callable[[str], str]]
"""Tools by name. A tool takes its arguments as JSON and returns its result; it may raise ToolFailed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to one request."""

    message: str
    """The JSON text of the message."""
    finish_reason: str
    prompt_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class CallRules:
    provider: str = "openai"
    """The provider of a new conversation. A state has its own provider."""
    most_rounds: int = 10
    """The most requests in one call, including tool rounds."""
    developer_is_system: bool = False
    """Leading developer messages are not stored, like system messages. goaitools stores them."""
    reference: bool = False
    """Behave like goaitools: unknown fields are neither sent nor stored from replies, and a leading system message in the state is
    dropped."""


class NextState(NamedTuple):
    sent: tuple[tuple[str, ...], ...]
    """The messages of each request, as JSON texts."""
    state: State | None
    """The new state; None if the call fails, so that the caller keeps the old one."""
    events: tuple[str, ...]
    """The events that goaitools logs. If there is no state, the last one says why."""


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
    """Simulate one call. `state` is None for a new conversation. `options` are the call's messages as JSON texts, leading system
    messages first.

    Compaction runs once, after the answer that ends the turn, and never between tool rounds.
    """
    return _Call(state, options, tools, rules).run(replies, compactor)


def append(state: State | None, messages: Sequence[str], provider: str = "openai") -> State:
    """Return the state with messages appended, including system messages. The model has not seen them; nothing is sent or compacted.
    `provider` is that of a new state."""
    state = state or State(provider)
    dialect_of(state.provider)
    return replace(state, messages=(*state.messages, *messages))


def add_event(state: State | None, text: str, provider: str = "openai") -> State:
    """Return the state with an event appended as a user message."""
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
        """Return the input of the compactor, with bodies if each stored message is exactly one message of a chain."""
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
