"""Text to tool messages: calls of action sections become tool calls, the results behind them tool messages.

Call ids are made up. An action converts as a whole or stays: each of its calls needs one result in the next message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.calls.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import TOOL, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.observations.actions import Action, read_actions
from chainviz.core.observations.contract import LABELS, Observation, ObservedMessage, TextObservation
from chainviz.core.observations.reader import walk
from chainviz.core.observations.round_trip import ignored_losses
from chainviz.core.operations.observations.contract import Kept, Rewrite, Task
from chainviz.core.progress import counted
from chainviz.core.toolchain.calls import Call


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
        """In the order of their calls."""
        return tuple(sorted(self.observed[0].results, key=lambda result: result.call.start if result.call else -1))

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(call for action in self.actions for call in action.calls.calls)


def rewrites(task: Task) -> Iterator[Rewrite | Kept]:
    ids = _new_ids(task)
    before: Message | None = None
    walked = walk(task.chain, task.recognition)
    for place, message, observed in counted(walked, len(task.chain), task.context.progress, "read"):
        texts = tuple(each for each in observed if each.text is not None)
        if texts and before is not None:
            exchange = _Exchange(before, read_actions(before, task.options.section), place, message, texts)
            obstacle = _obstacle(exchange)
            is_removed = task.options.action_text == "remove"
            yield Kept(place, obstacle) if obstacle else _rewrite(exchange, ids, is_removed)
        before = message


def _new_ids(task: Task) -> Iterator[str]:
    taken = {call.id for shape in task.chain.shapes() for call in shape.calls}
    template = parse_template(DEFAULT_TEMPLATE)
    while True:
        id = template.generate(task.context.random)
        if id not in taken:
            taken.add(id)
            yield id


def _obstacle(exchange: _Exchange) -> str:
    """Why the results stay text; "" where they need not."""
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


def _rewrite(exchange: _Exchange, ids: Iterator[str], is_removed: bool) -> Rewrite:
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
    """What else the message holds: the text around the results, and media of none of them."""
    moved = {id(medium) for result in observed.results for medium in result.media}
    for place, part in enumerate(human.parts):
        if place == observed.part and isinstance(part, Text):
            around = part.text[: text.start] + part.text[text.end :]
            if around.strip():
                yield replace(part, text=around.strip())
        elif id(part) not in moved:
            yield part
