"""Tool messages to text: calls become an action section of their AI message, results one human message behind it.

Call ids are lost. A pair of which something cannot be written as text stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair, match_results
from chainviz.core.dialects.patching import is_object
from chainviz.core.documents.json.edit import quote
from chainviz.core.observations.actions import read_actions
from chainviz.core.observations.contract import LABELS, MARKDOWN, XML, Block
from chainviz.core.observations.reader import read_messages
from chainviz.core.observations.round_trip import Loss, check
from chainviz.core.observations.texts import ObservationReader, write_observation
from chainviz.core.operations.observations.contract import Kept, Rewrite, Task
from chainviz.core.operations.observations.options import ObservationsOptions
from chainviz.core.progress import counted
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain.chain_results import MISSING, is_error
from chainviz.core.toolchain.results import ERROR

Pair = BodyPair[Message]


def rewrites(task: Task) -> Iterator[Rewrite | Kept]:
    reader = ObservationReader(task.recognition.tools)
    messages = read_messages(task.chain, 0, len(task.chain))
    for place, pair in _pairs(counted(messages, len(task.chain), task.context.progress, "read")):
        if pair.ai is not None and pair.ai.calls:
            obstacle = _obstacle(pair)
            yield Kept(place, obstacle) if obstacle else _rewrite(place, pair, task.options, reader)


def _pairs(messages: Iterable[tuple[int, Message]]) -> Iterator[tuple[int, Pair]]:
    """Each AI message with what follows it, and its place."""
    start, ai, rest = 0, None, list[Message]()
    for place, message in messages:
        if message.role in (AI, SYSTEM, HUMAN):
            yield start, Pair(ai, tuple(rest))
            start, ai, rest = place, message if message.role == AI else None, []
        else:
            rest.append(message)
    yield start, Pair(ai, tuple(rest))


def _obstacle(pair: Pair) -> str:
    """Why the pair cannot become text; "" where it can."""
    assert pair.ai is not None
    if pair.tool_calls.unmatched:
        return "a result answers none of its calls"
    for part in pair.ai.parts:
        if isinstance(part, ToolCall) and not (part.has_function and is_object(part.arguments or "{}")):
            return f"the arguments of {part.name or 'a call'} are not a JSON object"
    return ""


def _rewrite(place: int, pair: Pair, options: ObservationsOptions, reader: ObservationReader) -> Rewrite:
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
    """The calls as a section at the end of the last text."""
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
    """The results in call order; an error begins with `Error:`, also where only its mark said so."""
    for ref, match in match_results(pair):
        result = pair.rest[match[0]].parts[match[1].part] if match else None
        if not isinstance(result, ToolResult):
            yield Block(ref.name, f"{ERROR}{MISSING.error}")
        else:
            is_marked = result.is_error and not is_error(result.content)
            yield Block(ref.name, f"{ERROR}{result.content}" if is_marked else result.content)


def _behind_text(tools: Iterable[Message]) -> Iterator[Part]:
    """Media of the results in the order of the messages, then the other parts of these."""
    tools = list(tools)
    for message in tools:
        for part in message.parts:
            if isinstance(part, ToolResult):
                yield from part.media
    for message in tools:
        yield from (replace(part, origin=-1) for part in message.parts if not isinstance(part, ToolResult))


def _call_losses(old: Message, new: Message, section: str) -> Iterator[Loss]:
    """Calls that would not be read back from the action, and what hangs on calls."""
    calls = [part for part in old.parts if isinstance(part, ToolCall)]
    read = [call for action in read_actions(new, section) for call in action.calls.calls]
    if [(call.name, call.text) for call in read] != [(call.name, call.arguments or "{}") for call in calls]:
        yield Loss("", "cut", "has calls that would not be read back from the action section", 0)
    for call in calls:
        if call.reasoning is not None and not call.reasoning.is_empty:
            yield Loss(call.name, "ignored", "loses the reasoning that belongs to its call", 0)
