"""Parts as text that a person and a model can read, for what cannot stay the part that it was."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.chain.messages import HUMAN, Message, Part, Text, Thinking, ToolCall, ToolResult, is_blank


def as_human(message: Message, mark: str) -> Message:
    """A new human message that begins with `mark` and says all that `message` says."""
    return Message(HUMAN, (Text(mark), *(said for part in message.parts for said in readable(part))))


def readable(part: Part) -> tuple[Part, ...]:
    """The part for a human message: calls, results and reasoning as text, everything else as it is."""
    match part:
        case ToolResult():
            return (Text(result_text(part)), *part.media)
        case ToolCall():
            return (Text(call_text(part)),)
        case Thinking():
            return (Text(f"[Reasoning]\n{part.content}"),) if part.content else ()
        case Text() if is_blank(part):
            return ()
        case _:
            return (replace(part, origin=-1),)


def result_text(result: ToolResult) -> str:
    kind = "Error result" if result.is_error else "Result"
    return f"[{kind} of the call {called(result.name, result.call_id)}, which is not in this chain]\n{result.content}"


def call_text(call: ToolCall) -> str:
    return f"[Call {called(call.name, call.id)} with {call.arguments or 'no arguments'}: never answered]"


def said_by_user(part: ToolCall | ToolResult) -> tuple[Part, ...]:
    """A call that the user made, or its result; nothing is said about an answer, which may follow."""
    if isinstance(part, ToolCall):
        return (Text(f"[Call {called(part.name, part.id)} by the user with {part.arguments or 'no arguments'}]"),)
    return (Text(f"[Result of the user's call {called(part.name, part.call_id)}]\n{part.content}"), *part.media)


def called(name: str, id: str) -> str:
    return f"of {name} ({id})" if name else f"({id})"


def detached(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts for another message than the one they were read from."""
    return tuple(replace(part, origin=-1) for part in parts)
