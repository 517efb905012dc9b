"""The options of converting tool results, and the three ways: to another text convention, from tool messages to text, and back.

A change of convention keeps roles, media and the text around results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.chain.tree import BodyPair, match_results
from chainviz.core.dialects.values import is_object
from chainviz.core.documents.json.edit import quote
from chainviz.core.observations.contract import LABELS, MARKDOWN, XML, Block, Observation, ObservedMessage, TextObservation
from chainviz.core.observations.reader import Action, Recognition, read_actions, read_messages, walk
from chainviz.core.observations.texts import Loss, ObservationReader, check, ignored_losses, is_wrapped, rewrite, write_observation
from chainviz.core.operations.contract import Context, Options
from chainviz.core.progress import counted
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain.calls import Call
from chainviz.core.toolchain.results import ERROR, MISSING, is_error

ConventionName = Literal["raw", "brackets", "markdown", "xml"]


class ObservationsOptions(Options):
    to: ConventionName = Field(
        "xml",
        title="Write results as",
        description="raw has no headers, brackets has [tool] lines, markdown # headers, xml <tool> tags.",
        json_schema_extra={
            "choices": {**LABELS},
            "hint": "Raw has no headers, brackets [tool] lines, Markdown # headers, XML <tool> tags.",
        },
    )
    roles: Literal["keep", "to_text", "to_tools"] = Field(
        "keep",
        title="Message roles",
        description="keep rewrites results in texts; to_text turns tool messages into text, to_tools text into tool messages.",
        json_schema_extra={
            "choices": {"keep": "Keep", "to_text": "Tool messages to text", "to_tools": "Text to tool messages"},
            "hint": "",
        },
    )
    wrapper: Literal["auto", "none", "section"] = Field(
        "auto",
        title="Wrapper",
        description="auto wraps XML and brackets in <observation>; section also wraps Markdown, under a header.",
        json_schema_extra={
            "choices": {"auto": "Automatic", "none": "None", "section": "Always"},
            "hint": "Automatic: <observation> around XML and brackets, none around Markdown.",
        },
    )
    sources: tuple[ConventionName, ...] = Field(
        ("brackets", "markdown", "xml"),
        title="Rewrite from",
        description="Conventions to rewrite. raw reads the text after an AI message with one call as its result.",
        json_schema_extra={"choices": {**LABELS}, "hint": "Raw reads the text after an AI message with one call as its result."},
    )
    names: tuple[str, ...] = Field((), title="More tools", description="Names of tools that have results in the chain but no calls.")
    section: str = Field("action", title="Calls in", description="The section of AI messages that holds calls as text.")
    action_text: Literal["remove", "keep"] = Field(
        "remove",
        title="Text of calls",
        description="With to_tools: remove or keep the sections that become calls.",
        json_schema_extra={"hint": "When text becomes tool messages."},
    )
    force: bool = Field(False, title="Convert anyway", description="Convert even if results would not read back or call ids are lost.")


@dataclass(frozen=True, slots=True)
class Task:
    chain: Chain
    options: ObservationsOptions
    recognition: Recognition
    context: Context


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A change to consecutive messages."""

    splice: Splice
    what: str
    """The change in words: `brackets to XML`."""
    results: int
    survived: int
    """The number of results that read back with the same name, order and bytes."""
    size_before: int
    """The size in bytes of the old messages."""
    losses: tuple[Loss, ...] = ()
    ids: int = 0
    """The number of call ids that are lost or generated."""

    @property
    def size_after(self) -> int:
        return sum(message.size for message in self.splice.messages)


@dataclass(frozen=True, slots=True)
class Skip:
    """A message that could not be converted, and why."""

    message: int
    reason: str


def reformat_texts(task: Task) -> Iterator[Rewrite]:
    return (rewrite for _, rewrite in reformat_texts_to(task, (task.options.to,)))


def reformat_texts_to(task: Task, targets: Sequence[ConventionName]) -> Iterator[tuple[ConventionName, Rewrite]]:
    """Yield the rewrites for each of several conventions. Reads the chain once."""
    reader = ObservationReader(task.recognition.tools)
    choices = [task.options.model_copy(update={"to": target}) for target in targets]
    walked = walk(task.chain, task.recognition)
    for place, message, observed in counted(walked, len(task.chain), task.context.progress, "read"):
        for options in choices:
            chosen = [each for each in observed if _is_to_change(each, options)]
            if chosen:
                yield options.to, _reformat_text(place, message, chosen, options, reader)


def _is_to_change(observed: ObservedMessage, options: ObservationsOptions) -> bool:
    text = observed.text
    if text is None or text.convention not in options.sources:
        return False
    return text.convention != options.to or text.is_wrapped != is_wrapped(options.to, options.wrapper)


def _reformat_text(
    place: int, message: Message, observed: Sequence[ObservedMessage], options: ObservationsOptions, reader: ObservationReader
) -> Rewrite:
    parts = list(message.parts)
    losses: list[Loss] = []
    survived = 0
    for each in observed:
        part = parts[each.part]
        assert isinstance(part, Text) and each.text is not None
        new = rewrite(part.text, each.text, options.to, options.wrapper, reader)
        parts[each.part] = replace(part, text=new.text)
        losses += new.losses
        survived += new.survived
    before = ", ".join(dict.fromkeys(LABELS[each.convention] for each in observed))
    return Rewrite(
        Splice(place, 1, (replace(message, parts=tuple(parts)),)),
        f"{before} to {LABELS[options.to]}",
        results=sum(len(each.results) for each in observed),
        survived=survived,
        size_before=message.size,
        losses=tuple(losses),
    )


# To text: calls become an action section of their AI message, and results become one human message after it. Call ids are lost. A pair
# with anything that cannot be written as text stays unchanged.


Pair = BodyPair[Message]


def move_to_text(task: Task) -> Iterator[Rewrite | Skip]:
    reader = ObservationReader(task.recognition.tools)
    messages = read_messages(task.chain)
    for place, pair in _pairs(counted(messages, len(task.chain), task.context.progress, "read")):
        if pair.ai is not None and pair.ai.calls:
            obstacle = _obstacle_to_text(pair)
            yield Skip(place, obstacle) if obstacle else _pair_to_text(place, pair, task.options, reader)


def _pairs(messages: Iterable[tuple[int, Message]]) -> Iterator[tuple[int, Pair]]:
    """Yield each AI message and the messages that follow it, with its place."""
    start, ai, rest = 0, None, list[Message]()
    for place, message in messages:
        if message.role in (AI, SYSTEM, HUMAN):
            yield start, Pair(ai, tuple(rest))
            start, ai, rest = place, message if message.role == AI else None, []
        else:
            rest.append(message)
    yield start, Pair(ai, tuple(rest))


def _obstacle_to_text(pair: Pair) -> str:
    """Return the reason why the pair cannot become text; "" if it can."""
    assert pair.ai is not None
    if pair.tool_calls.unmatched:
        return "a result answers none of its calls"
    for part in pair.ai.parts:
        if isinstance(part, ToolCall) and not (part.has_function and is_object(part.arguments or "{}")):
            return f"the arguments of {part.name or 'a call'} are not a JSON object"
    return ""


def _pair_to_text(place: int, pair: Pair, options: ObservationsOptions, reader: ObservationReader) -> Rewrite:
    assert pair.ai is not None
    ai = _with_action(pair.ai, options)
    tools = [message for message in pair.rest if message.role == TOOL]
    blocks = list(_blocks(pair)) if tools else []
    text = write_observation(blocks, options.to, options.wrapper)
    losses = list(check(text, 0, blocks, (options.to, options.wrapper), reader))
    human = [Message(HUMAN, (Text(text), *_behind_text(tools)))] if tools else []
    others = [message for message in pair.rest if message.role != TOOL]
    return Rewrite(
        Splice(place, len(pair.messages), (ai, *human, *others)),
        f"tool messages to {LABELS[options.to]}",
        results=len(blocks),
        survived=len(blocks) - len(losses),
        size_before=pair.size,
        losses=(*losses, *_call_losses(pair.ai, ai, options.section)),
        ids=len(pair.ai.calls),
    )


def _with_action(ai: Message, options: ObservationsOptions) -> Message:
    """Return the AI message with its calls as a section at the end of its last text."""
    calls = [_call_text(part) for part in ai.parts if isinstance(part, ToolCall)]
    content = calls[0] if len(calls) == 1 else "[\n  " + ",\n  ".join(calls) + "\n]"
    action = get_text_format(MARKDOWN if options.to == MARKDOWN else XML).format_section(options.section, content)
    parts = [part for part in ai.parts if not isinstance(part, ToolCall)]
    texts = [place for place, part in enumerate(parts) if isinstance(part, Text)]
    if not texts:
        return replace(ai, parts=(*parts, Text(action)))
    last = parts[texts[-1]]
    assert isinstance(last, Text)
    parts[texts[-1]] = replace(last, text=f"{last.text}\n\n{action}" if last.text.strip() else action)
    return replace(ai, parts=tuple(parts))


def _call_text(call: ToolCall) -> str:
    return f'{{"tool": {quote(call.name, ascii_only=False)}, "args": {call.arguments or "{}"}}}'


def _blocks(pair: Pair) -> Iterator[Block]:
    """Yield the results in call order. An error begins with `Error:`, even if only its mark said so."""
    for ref, match in match_results(pair):
        result = pair.rest[match[0]].parts[match[1].part] if match else None
        if not isinstance(result, ToolResult):
            yield Block(ref.name, f"{ERROR}{MISSING.error}")
        else:
            is_marked = result.is_error and not is_error(result.content)
            yield Block(ref.name, f"{ERROR}{result.content}" if is_marked else result.content)


def _behind_text(tools: Iterable[Message]) -> Iterator[Part]:
    """Yield the media of the results in order, then the other parts of the tool messages."""
    tools = list(tools)
    for message in tools:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield from part.media
    for message in tools:
        yield from (replace(part, origin=-1) for part in message.parts if not isinstance(part, ToolResult))


def _call_losses(old: Message, new: Message, section: str) -> Iterator[Loss]:
    """Yield the losses of calls that would not be read back from the action section, and of their reasoning."""
    calls = [part for part in old.parts if isinstance(part, ToolCall)]
    read = [call for action in read_actions(new, section) for call in action.calls.calls]
    if [(call.name, call.text) for call in read] != [(call.name, call.arguments or "{}") for call in calls]:
        yield Loss("", "cut", "has calls that would not be read back from the action section", 0)
    for call in calls:
        if call.reasoning is not None and not call.reasoning.is_empty:
            yield Loss(call.name, "ignored", "loses the reasoning that belongs to its call", 0)


# To tool messages: calls in action sections become tool calls with generated ids, and the results after them become tool messages. An
# action is converted only if each of its calls has one result in the next message.


@dataclass(frozen=True, slots=True)
class _Exchange:
    """An AI message whose calls are text, and the message with the results."""

    ai: Message
    actions: tuple[Action, ...]
    place: int
    human: Message
    observed: tuple[ObservedMessage, ...]

    @property
    def results(self) -> tuple[Observation, ...]:
        """The results in the order of their calls."""
        return tuple(sorted(self.observed[0].results, key=lambda result: result.call.start if result.call else -1))

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for action in self.actions for call in action.calls.calls)


def move_to_tools(task: Task) -> Iterator[Rewrite | Skip]:
    ids = _new_ids(task)
    before: Message | None = None
    walked = walk(task.chain, task.recognition)
    for place, message, observed in counted(walked, len(task.chain), task.context.progress, "read"):
        texts = tuple(each for each in observed if each.text is not None)
        if texts and before is not None:
            exchange = _Exchange(before, read_actions(before, task.options.section), place, message, texts)
            obstacle = _obstacle_to_tools(exchange)
            is_removed = task.options.action_text == "remove"
            yield Skip(place, obstacle) if obstacle else _exchange_to_tools(exchange, ids, is_removed)
        before = message


def _new_ids(task: Task) -> Iterator[str]:
    taken = {call.id for shape in task.chain.shapes() for call in shape.calls}
    template = parse_template(DEFAULT_TEMPLATE)
    while True:
        id = template.generate(task.context.random)
        if id not in taken:
            taken.add(id)
            yield id


def _obstacle_to_tools(exchange: _Exchange) -> str:
    """Return the reason why the results stay text; "" if they can become tool messages."""
    errors = [action.calls.error for action in exchange.actions if action.calls.error]
    if errors:
        return f"the action before it cannot be read ({str(errors[0]).rstrip('.')})"
    if not exchange.calls or exchange.observed[0].answers != exchange.place - 1:
        return "no calls are written in the message before it"
    if len(exchange.observed) > 1:
        return "several of its texts hold results"
    results = exchange.results
    if len(results) != len(exchange.calls) or any(result.call is None or result.call.start < 0 for result in results):
        return "its results do not match the calls before it one by one"
    return ""


def _exchange_to_tools(exchange: _Exchange, ids: Iterator[str], is_removed: bool) -> Rewrite:
    observed = exchange.observed[0]
    assert observed.text is not None
    calls = [ToolCall(next(ids), call.name, call.text) for call in exchange.calls]
    parts = _without_actions(exchange.ai, exchange.actions) if is_removed else exchange.ai.parts
    ai = replace(exchange.ai, parts=(*parts, *calls))
    tools = [_tool_message(call, result) for call, result in zip(calls, exchange.results, strict=True)]
    rest = tuple(_without_results(exchange.human, observed, observed.text))
    human = [replace(exchange.human, parts=rest)] if rest else []
    text = exchange.human.parts[observed.part]
    assert isinstance(text, Text)
    return Rewrite(
        Splice(exchange.place - 1, 2, (ai, *tools, *human)),
        f"{LABELS[observed.convention]} to tool messages",
        results=len(tools),
        survived=len(tools),
        size_before=exchange.ai.size + exchange.human.size,
        losses=tuple(ignored_losses(text.text, observed.text)),
        ids=len(calls),
    )


def _tool_message(call: ToolCall, result: Observation) -> Message:
    media = tuple(replace(medium, origin=-1) for medium in result.media)
    return Message(TOOL, (ToolResult(call.id, call.name, result.content, result.is_error, media),))


def _without_actions(ai: Message, actions: Sequence[Action]) -> tuple[Part, ...]:
    place = actions[0].part
    part = ai.parts[place]
    assert isinstance(part, Text)
    text = part.text
    for action in reversed(actions):
        section = action.section
        text = f"{text[: section.outer_start].rstrip()}\n\n{text[section.outer_end :].lstrip()}".strip()
    left = (replace(part, text=text),) if text else ()
    return (*ai.parts[:place], *left, *ai.parts[place + 1 :])


def _without_results(human: Message, observed: ObservedMessage, text: TextObservation) -> Iterator[Part]:
    """Yield the parts of the message without the results: the text around them, and media that belong to no result."""
    moved = {id(medium) for result in observed.results for medium in result.media}
    for place, part in enumerate(human.parts):
        if place == observed.part and isinstance(part, Text):
            around = part.text[: text.start] + part.text[text.end :]
            if around.strip():
                yield replace(part, text=around.strip())
        elif id(part) not in moved:
            yield part
