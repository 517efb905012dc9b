"""What a document records beside its messages: the model of a request, the usage of a response, the counts that a session
or a log keeps in lines and members of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from chainviz.core.documents.document_context import MOST_HOLDERS, DocumentContext
from chainviz.core.documents.json.edit import parse
from chainviz.core.usage.recorded import LastCall, TokenUsage, find_model, find_usage, read_usage

_AROUND_TOOLS = ("function", "toolSpec", "functionDeclarations", "function_declarations")
_WORDS = ("sage", "model", "metrics", "eval_count")


def recorded_beside(context: DocumentContext) -> dict[str, TokenUsage]:
    """Usage by model. A model without recorded usage has zeros; {} where neither is recorded."""
    return _in_lines(carried_lines(context, _WORDS)) if context.envelope.lines else _in_holders(context.holders())


def members_beside(context: DocumentContext) -> dict[str, Any]:
    """The members beside the list of messages, such as `tools` of a request; {} where there are none."""
    return next(context.holders(), {})


def declared_tools(beside: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The tool definitions in the members beside the messages, in the spellings of OpenAI, Anthropic, Gemini, Bedrock and
    MCP; each has a `name`."""
    config = beside.get("toolConfig")
    yield from _named(beside.get("tools") or (config.get("tools") if isinstance(config, dict) else None))


def _named(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        if isinstance(tool.get("name"), str):
            yield tool
        for key in _AROUND_TOOLS:
            inner = tool.get(key)
            yield from _named(inner if isinstance(inner, list) else [inner])


def carried_lines(context: DocumentContext, words: tuple[str, ...]) -> Iterator[Any]:
    """The values of the lines that hold one of the words and are not messages."""
    if context.size > MOST_HOLDERS:
        return
    for span in context.envelope.carried:
        text = context.read(span.start, span.end).decode("utf-8", "surrogateescape")
        if any(word in text for word in words):
            try:
                yield parse(text)
            except (ValueError, RecursionError):
                continue


def _in_holders(holders: Iterable[Mapping[str, Any]]) -> dict[str, TokenUsage]:
    found, model = None, ""
    for holder in holders:
        by_model = _by_model(holder.get("model_usage"))
        if by_model:
            return by_model
        found = found or find_usage(holder)
        model = model or find_model(holder)
    return {model: found or TokenUsage()} if found or model else {}


def _by_model(value: Any) -> dict[str, TokenUsage]:
    """Inspect's sums, by model."""
    given = {name: read_usage(usage) for name, usage in value.items()} if isinstance(value, dict) else {}
    # how many calls they are of is not recorded
    return {name: usage._replace(calls=0) for name, usage in given.items() if usage is not None}


def _in_lines(lines: Iterable[Any]) -> dict[str, TokenUsage]:
    total, session, model = TokenUsage(), TokenUsage(), ""
    for line in lines:
        model = find_model(line) or model
        running = _running_total(line)
        if running is None:
            total += find_usage(line) or TokenUsage()
        elif running[1:] != session[1:]:  # it is repeated when nothing was called
            session = running._replace(calls=session.calls + 1)
    usage = session if session.calls else total
    return {model: usage} if model or any(usage) else {}


def _running_total(line: Any) -> TokenUsage | None:
    """The usage of the session so far, in a token_count event of Codex."""
    return read_usage(_token_count(line).get("total_token_usage"))


def _token_count(line: Any) -> Mapping[str, Any]:
    """What a token_count event of Codex counts; {} for another line."""
    payload = line.get("payload") if isinstance(line, dict) else None
    info = payload.get("info") if isinstance(payload, dict) else None
    return info if isinstance(info, dict) else {}


def last_call_beside(context: DocumentContext) -> LastCall | None:
    """The last call that a session counts in a line of its own (Codex); None where no line does."""
    found = None
    for line in carried_lines(context, ("last_token_usage",)) if context.envelope.lines else ():
        info = _token_count(line)
        usage, window = read_usage(info.get("last_token_usage")), info.get("model_context_window")
        if usage is not None:
            found = LastCall(usage, window if type(window) is int else None)
    return found
