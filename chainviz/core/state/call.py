"""Simulate one call of a model, from a state to the next. Running sums over messages give any size without reading them.

No model is called: the caller gives the replies and the tool results. `CallRules` decides where goaitools' specification and code
disagree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal, NamedTuple, Protocol

from chainviz.core.chain.chain import Chain, MemoryChain, Splice
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Shape, Text, ToolCall, ToolResult
from chainviz.core.errors import ChainError, Refused
from chainviz.core.state.document import RawMessage, State, dialect_of, known_fields, read_raw, write_raw
from chainviz.core.usage.model_catalog import estimated_tokens, tokenizer, tokens_of
from chainviz.core.usage.recorded import recorded_in


def ends_turn(message: Shape) -> bool:
    """Return True for an AI message without calls, which ends a turn. Tool rounds do not end it."""
    return message.role == AI and not message.calls


def leading_systems(messages: Sequence[Shape]) -> int:
    """Return the number of system messages at the beginning of a chain. They are not stored, because each call sends its own."""
    return sum(1 for _ in takewhile(lambda message: message.role == SYSTEM, messages))


class MessageIndex:
    """A list of messages that only grows; windows into it stay valid."""

    def __init__(self, messages: Iterable[Shape] = ()) -> None:
        self.messages: list[Shape] = []
        self.sizes = [0]
        """The total bytes before each message, and at the end the total of all."""
        self.humans: list[int] = []
        """Indexes of human messages. A state may be cut only at these."""
        self.turn_ends: list[int] = []
        """Indexes of AI messages without calls."""
        for message in messages:
            self.append(message)

    def append(self, message: Shape) -> None:
        place = len(self.messages)
        self.messages.append(message)
        self.sizes.append(self.sizes[-1] + message.size)
        if message.role == HUMAN:
            self.humans.append(place)
        elif ends_turn(message):
            self.turn_ends.append(place)


@dataclass(frozen=True, slots=True)
class Window:
    """The messages `start : stop` of a MessageIndex. Indexes count from the start of the window."""

    index: MessageIndex
    start: int
    stop: int

    @classmethod
    def of(cls, messages: Sequence[Shape]) -> Window:
        return cls(MessageIndex(messages), 0, len(messages))

    def __len__(self) -> int:
        return self.stop - self.start

    def __getitem__(self, place: int) -> Shape:
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self.index.messages[self.start + place]

    def __iter__(self) -> Iterator[Shape]:
        return (self.index.messages[place] for place in range(self.start, self.stop))

    @property
    def size(self) -> int:
        """Content bytes."""
        return self.size_before(len(self))

    @property
    def systems(self) -> int:
        return sum(message.role == SYSTEM for message in self)

    @property
    def first_role(self) -> str:
        """The role of the first message; "" if there is none."""
        return self[0].role if len(self) else ""

    @property
    def turns(self) -> int:
        ends = self.index.turn_ends
        return bisect_left(ends, self.stop) - bisect_left(ends, self.start)

    def size_before(self, place: int) -> int:
        """Return the content bytes of the messages before `place`."""
        return self.index.sizes[self.start + place] - self.index.sizes[self.start]

    def first_over(self, size: int) -> int:
        """Return the first index with at least `size` bytes before it; the length of the window if there is none."""
        sizes = self.index.sizes
        return bisect_left(sizes, sizes[self.start] + size, self.start, self.stop) - self.start

    def human_from(self, place: int) -> int | None:
        """Return the index of the first human message at or after `place`; None if there is none."""
        humans = self.index.humans
        at = bisect_left(humans, self.start + place)
        return humans[at] - self.start if at < len(humans) and humans[at] < self.stop else None

    def human_before(self, place: int) -> int | None:
        """Return the index of the last human message before `place`; None if there is none."""
        humans = self.index.humans
        at = bisect_left(humans, self.start + place) - 1
        return humans[at] - self.start if at >= 0 and humans[at] >= self.start else None


Source = Literal["recorded", "given", "estimated", "o200k"]
Counter = Literal["recorded", "o200k", "bytes"]
"""How prompt tokens are counted if nobody gives their number."""
COUNTERS: dict[str, str] = {
    "recorded": "As recorded, else 4 bytes per token",
    "o200k": "With the tokenizer o200k",
    "bytes": "4 bytes per token",
}
NO_TOKENIZER = 'The tokenizer is not installed: pip install "chainviz[tokens]".'


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int
    sent: int
    """Content bytes of the messages that the call sent, including leading system messages."""
    source: Source = "recorded"

    def __str__(self) -> str:
        label = "" if self.source == "recorded" else f" ({self.source})"
        return f"{self.prompt_tokens:,} prompt tokens{label}"


def last_answer(messages: Sequence[Shape]) -> int | None:
    """Return the index of the last AI message, the answer of the last call; None if there is none."""
    return next((place for place in range(len(messages) - 1, -1, -1) if messages[place].role == AI), None)


def usage_of(chain: Chain, given: int = 0, counter: Counter = "recorded") -> Usage:
    """Return the usage of the chain's last call: `given` if it is more than 0, otherwise counted with `counter`. Raises Refused if the
    tokenizer is not installed.

    Recorded usage is that of the original call. It is too high if messages before the call were removed since; in that case, give
    the number.
    """
    shapes = chain.shapes()
    last = last_answer(shapes)
    sent = sum(shape.size for shape in shapes[: len(shapes) if last is None else last])
    if given > 0:
        return Usage(given, sent, "given")
    if counter == "o200k":
        if tokenizer() is None:
            raise Refused(NO_TOKENIZER)
        return Usage(tokens_of(chain.slice(0, len(shapes) if last is None else last)), sent, "o200k")
    recorded = recorded_in(chain[last]) if last is not None and counter == "recorded" else None
    if recorded is not None:
        return Usage(recorded[1].input, sent)
    return Usage(estimated_tokens(sent), sent, "estimated")


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
    def did_compact(self) -> bool: ...

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
            if compaction.did_compact:
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
