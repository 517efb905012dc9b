"""The facts that a document records beside its messages: the model of a request, the usage of a response, tools with
their schemas, token counts of agents, and a title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.chain.messages import Message, Text
from chainviz.core.documents.document_context import MOST_HOLDERS, DocumentContext
from chainviz.core.documents.json.edit import parse
from chainviz.core.usage.recorded import LastCall, TokenUsage, find_model, find_usage, read_usage

_AROUND_TOOLS = ("function", "toolSpec", "functionDeclarations", "function_declarations")
USAGE_WORDS = ("sage", "model", "metrics", "eval_count")


def recorded_beside(context: DocumentContext) -> dict[str, TokenUsage]:
    """Usage by model. A model without recorded usage has zeros; {} where neither is recorded."""
    return _in_lines(carried_lines(context, USAGE_WORDS)) if context.envelope.lines else _in_holders(context.holders())


def members_beside(context: DocumentContext) -> dict[str, Any]:
    """Return the members beside the list of messages, such as `tools` of a request; {} if there are none."""
    return next(context.holders(), {})


def declared_tools(beside: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the tool definitions in the members beside the messages, in the spellings of OpenAI, Anthropic, Gemini,
    Bedrock and MCP; each has a `name`."""
    config = beside.get("toolConfig")
    yield from _tool_definitions(beside.get("tools") or (config.get("tools") if isinstance(config, dict) else None))


def _tool_definitions(tools: Any) -> Iterator[dict[str, Any]]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        if isinstance(tool.get("name"), str):
            yield tool
        for key in _AROUND_TOOLS:
            inner = tool.get(key)
            yield from _tool_definitions(inner if isinstance(inner, list) else [inner])


def carried_lines(context: DocumentContext, words: tuple[str, ...]) -> Iterator[Any]:
    """Yield the values of the lines that hold one of the words and are not messages."""
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
    """Return Inspect's totals by model."""
    given = {name: read_usage(usage) for name, usage in value.items()} if isinstance(value, dict) else {}
    # how many calls they are of is not recorded
    return {name: usage._replace(calls=0) for name, usage in given.items() if usage is not None}


def _in_lines(lines: Iterable[Any]) -> dict[str, TokenUsage]:
    total, session, model = TokenUsage(), TokenUsage(), ""
    for line in lines:
        model = find_model(line) or model
        running = running_total(line)
        if running is None:
            total += find_usage(line) or TokenUsage()
        elif running[1:] != session[1:]:  # it is repeated when nothing was called
            session = running._replace(calls=session.calls + 1)
    usage = session if session.calls else total
    return {model: usage} if model or any(usage) else {}


def running_total(line: Any) -> TokenUsage | None:
    """Return the usage of the session so far, in a token_count event of Codex."""
    return read_usage(_token_count(line).get("total_token_usage"))


def _token_count(line: Any) -> Mapping[str, Any]:
    """Return what a token_count event of Codex counts; {} for another line."""
    payload = line.get("payload") if isinstance(line, dict) else None
    info = payload.get("info") if isinstance(payload, dict) else None
    return info if isinstance(info, dict) else {}


def last_call_beside(context: DocumentContext) -> LastCall | None:
    """Return the last call that a session counts in a line of its own (Codex), or None if no line does."""
    found = None
    for line in carried_lines(context, ("last_token_usage",)) if context.envelope.lines else ():
        info = _token_count(line)
        usage, window = read_usage(info.get("last_token_usage")), info.get("model_context_window")
        if usage is not None:
            found = LastCall(usage, window if type(window) is int else None)
    return found


# Schemas are read in the spellings of OpenAI (Chat and Responses), Anthropic, Gemini, Bedrock Converse and MCP.


Schema = Mapping[str, Any]
_ARGUMENTS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
_RESULTS = ("outputSchema", "output_schema", "response", "responseJsonSchema")


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    arguments: Mapping[str, Schema] = field(default_factory=dict)
    results: Mapping[str, Schema] = field(default_factory=dict)


NO_SCHEMAS = ToolSchemas()


def tool_schemas(beside: Mapping[str, Any]) -> ToolSchemas:
    """Read tool schemas from the members beside the messages, such as `tools` of a request. Invalid ones are left out."""
    arguments: dict[str, Schema] = {}
    results: dict[str, Schema] = {}
    for tool in declared_tools(beside):
        for schemas, keys in ((arguments, _ARGUMENTS), (results, _RESULTS)):
            schema = next((tool[key] for key in keys if isinstance(tool.get(key), dict)), None)
            if schema is not None:
                schemas[tool["name"]] = schema.get("json", schema)
    return ToolSchemas(arguments, results)


def allows_text(schema: Any) -> bool:
    """Return True if a value of this schema may be a string."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return "string" in kind if isinstance(kind, list) else kind == "string"


_LINE_KEYS = ("customTitle", "aiTitle", "summary")
"""Members of a line with the name of a session; a name that a person gave comes first."""
_MEMBERS = ("customTitle", "title", "summary", "name")
"""Members with the name, in the object around a list of messages. `name` counts only beside the lists of `_CHATS`;
elsewhere it names an agent."""
_CHATS = frozenset(("chat_messages", "conversation"))
"""The names of the list of messages in claude.ai, goose and Cursor."""
_HEADS = ("info", "session")
"""Members in which opencode and Crush store the facts of a session."""
_UNNAMED = re.compile(r"(?:New|Child) session - \d{4}-|Untitled Session$|New Agent$")
"""The names that opencode, Crush and Cursor give to sessions without a name."""
_CONTEXT_TAGS = (
    "environment_context", "environment_details", "user_instructions", "system-reminder", "command-name", "command-message",
    "command-args", "command-contents", "local-command-stdout", "local-command-stderr", "local-command-caveat",
    "ide_opened_file", "ide_selection", "user-prompt-submit-hook", "turn_aborted", "INSTRUCTIONS",
)  # fmt: skip
"""Elements that agents put before or in place of a person's text."""
_CONTEXT = re.compile(rf"\s*<({'|'.join(_CONTEXT_TAGS)})(?:\s[^<>]*)?>.*?</\1\s*>\s*", re.DOTALL)
_AGENT_NOTES = ("Caveat: The messages below", "# AGENTS.md instructions", "[Request interrupted by user")
_MOVED_TEXTS = ("[Result of the ", "[Error result of the ", "[Call of ", "[Call (")
_MOVED_MESSAGES = ("[System message]", "[Tool message without a call]", "[Message of the role ")
"""The beginnings of texts that a repair moved into a human message, and marks before a text of another message
(operations/repair)."""
_COMMAND = re.compile(r"/[\w:-]{1,40}\s*")
"""A command to the agent itself, such as /clear."""
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,100}>")
_WHOLE_SESSION = re.compile(r'\{\s*"kind"\s*:\s*0\s*,')
_NAMED = re.compile(r'"customTitle"\s*:\s*("(?:[^"\\]|\\.)+")')
_LOOKED_AT = 20_000
"""The number of characters of a request that are read."""


def recorded_title(context: DocumentContext) -> str:
    """Return the title that the document records beside its messages; "" if it records none."""
    if context.envelope.lines:
        return _title_of_lines(carried_lines(context, tuple(f'"{key}"' for key in _LINE_KEYS)))
    members = members_beside(context)
    keys = _MEMBERS if _CHATS & members.keys() else _MEMBERS[:3]
    inner = (members.get(key) for key in _HEADS)
    holders = [members, *(each for each in inner if isinstance(each, dict))]
    titles = (_text(holder.get(key)) for holder in holders for key in keys)
    return next((title for title in titles if title and not _UNNAMED.match(title)), "")


def _title_of_lines(lines: Any) -> str:
    found: dict[str, str] = {}
    for line in lines:
        members = members_set(line) if isinstance(line, dict) else {}
        for key in _LINE_KEYS:
            found[key] = _text(members.get(key)) or found.get(key, "")
    return next((found[key] for key in _LINE_KEYS if found.get(key)), "")


def members_set(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a line of VS Code's log of a session sets: the whole session, or one of its members; any other record unchanged."""
    value, place = record.get("v"), record.get("k")
    if record.get("kind") == 0 and isinstance(value, dict):
        return value
    if record.get("kind") == 1 and isinstance(value, str) and isinstance(place, list) and len(place) == 1:
        return {str(place[0]): value}
    return record


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def title_of(message: Message) -> str:
    """Return the title that the first request of a chain gives it: the one in its record, if VS Code's log begins with the whole
    session, else the request. The record may be cut."""
    record = message.source[0].text if message.source else ""
    named = _NAMED.search(record) if _WHOLE_SESSION.match(record) else None
    return _text(parse(named[1])) if named else request_of(message)


def request_of(message: Message) -> str:
    """Return the request of a human message in one line, without texts that the agent or a repair added; "" if there is
    nothing else."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    while texts and texts[0].startswith((*_MOVED_TEXTS, *_MOVED_MESSAGES)):
        texts = texts[2 if texts[0].startswith(_MOVED_MESSAGES) else 1 :]
    return request_title("\n".join(texts))


def request_title(text: str) -> str:
    """Return the request in a message's text in one line, without what the agent added; "" if there is nothing else."""
    text, place = text[:_LOOKED_AT], 0
    while found := _CONTEXT.match(text, place):
        place = found.end()
    asked = text[place:].lstrip()
    if asked.startswith(_AGENT_NOTES) or _COMMAND.fullmatch(asked):
        return ""
    return " ".join(_TAG.sub(" ", asked).split()).lstrip("#>*- ")
