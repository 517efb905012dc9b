"""A scripted model that refuses what the providers' APIs refuse: it calls the shell once a conversation, then ends the turn.

Speaks Chat Completions, Responses and Gemini's generateContent, streamed. A call without its result, a result without its call
and an item that comes twice get status 400 in the API's words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import zip_longest
from pathlib import Path
from typing import Any

Body = dict[str, Any]
COMMAND = "cat depot.txt"
CALLED, DONE = "I read the file.", "There are 4 crates."
_SHELL_WORDS = ("shell", "bash", "exec", "terminal", "command")
_PLAIN = {"string": "read the file", "boolean": False, "integer": 10_000, "number": 10_000, "array": []}


@dataclass(frozen=True)
class Tool:
    name: str
    schema: Body

    def arguments(self) -> Body:
        """Arguments for a call: the command, and something plain for whatever else is required."""
        properties = self.schema.get("properties", {})
        names = set(self.schema.get("required", ())) | {"command", "cmd"} & set(properties)
        return {name: self._value(name, str(properties.get(name, {}).get("type", "string")).lower()) for name in names}

    @staticmethod
    def _value(name: str, kind: str) -> Any:
        if name not in ("command", "cmd"):
            return _PLAIN.get(kind, "")
        return ["bash", "-c", COMMAND] if kind == "array" else COMMAND


def shell_in(tools: Sequence[Body] | None) -> Tool | None:
    """Return the first tool that runs commands, in any of the ways in which the APIs spell tools."""
    for entry in tools or ():
        for tool in entry.get("functionDeclarations") or [entry.get("function") or entry]:
            schema = tool.get("parameters") or tool.get("parametersJsonSchema") or {}
            name = tool.get("name", "")
            if {"command", "cmd"} & set(schema.get("properties", ())) and any(word in name.lower() for word in _SHELL_WORDS):
                return Tool(name, schema)
    return None


def chat_fault(body: Body) -> str:
    """The rules of Chat Completions: results follow their calls at once, each call has one."""
    waiting: list[str] = []
    for message in [*body["messages"], {"role": "end"}]:
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
                f"The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or ()]
            if len(set(waiting)) < len(waiting):
                return "Duplicate value for 'tool_call_id'."
    return ""


def responses_fault(body: Body) -> str:
    """The rules of Responses: calls and outputs belong together, and no item comes twice."""
    items = body["input"]
    calls = [item["call_id"] for item in items if item.get("type") in ("function_call", "custom_tool_call")]
    outputs = [item["call_id"] for item in items if str(item.get("type")).endswith("_call_output")]
    ids = [item["id"] for item in items if item.get("id")]
    for call in calls:
        if call not in outputs:
            return f"No tool output found for function call {call}."
    for output in outputs:
        if output not in calls:
            return f"No tool call found for function call output with call_id {output}."
    twice = next((id for id in ids if ids.count(id) > 1), None)
    return f"Duplicate item found with id {twice}. Remove duplicate items from your input and try again." if twice else ""


def gemini_fault(body: Body) -> str:
    """The rules of generateContent: as many responses as calls in the next content, and none elsewhere."""
    before: list[Body] = []
    for content in [*body["contents"], {"parts": []}]:
        calls = sum("functionCall" in part for part in before)
        responses = sum("functionResponse" in part for part in content["parts"])
        if calls != responses:
            return (
                "Please ensure that the number of function response parts is equal to the number of function call parts "
                "of the function call turn."
            )
        before = content["parts"]
    return ""


def chat_answer(body: Body, number: int) -> Iterator[Body]:
    shell = shell_in(body.get("tools"))
    is_called = any(message["role"] == "tool" for message in body["messages"])
    delta: Body = {"role": "assistant", "content": DONE}
    if shell and not is_called:
        function = {"name": shell.name, "arguments": json.dumps(shell.arguments())}
        call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
        delta = {"role": "assistant", "content": CALLED, "tool_calls": [call]}
    shared = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    reason = "tool_calls" if "tool_calls" in delta else "stop"
    yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**shared, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**shared, "choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}


def responses_answer(body: Body, number: int) -> Iterator[Body]:
    shell = shell_in(body.get("tools"))
    is_called = any(str(item.get("type")).endswith("_output") for item in body["input"])
    item: Body = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": DONE, "annotations": []}]
    if shell and not is_called:
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": shell.name, "status": "completed"}
        item["arguments"] = json.dumps(shell.arguments())
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield {"type": "response.created", "response": {"id": f"resp_{number}"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": f"resp_{number}", "output": [item], "usage": {**usage, **details}}}


def gemini_answer(body: Body, number: int) -> Iterator[Body]:
    shell = shell_in(body.get("tools"))
    is_called = any("functionResponse" in part for content in body["contents"] for part in content["parts"])
    parts: list[Body] = [{"text": DONE}]
    if shell and not is_called:
        parts = [{"text": CALLED}, {"functionCall": {"name": shell.name, "args": shell.arguments()}}]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    yield {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}


@dataclass(frozen=True)
class API:
    path: str
    """How the path of its requests ends."""
    fault: Callable[[Body], str]
    """Why a request is refused; "" where it is not."""
    answer: Callable[[Body, int], Iterator[Body]]
    """The events of the answer to a request, by its number."""
    is_named: bool = False
    """Each event of a stream has its name on a line of its own."""


APIS = (
    API("/chat/completions", chat_fault, chat_answer),
    API("/responses", responses_fault, responses_answer, is_named=True),
    API("enerateContent", gemini_fault, gemini_answer),
)


def model_on(port: int, log: Path) -> ThreadingHTTPServer:
    """Return a server of the model on loopback, which writes each request to the log as a line of JSON: `path`, `fault`, `body`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
            api = next((api for api in APIS if self.path.partition("?")[0].endswith(api.path)), None)
            if api is None:
                return self._send(404, "application/json", "{}")
            fault = api.fault(body)
            with log.open("a") as lines:
                lines.write(json.dumps({"path": self.path, "fault": fault, "body": body}) + "\n")
            if fault:
                error = {"type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT", "message": fault}
                return self._send(400, "application/json", json.dumps({"error": error}))
            number = len(log.read_text().splitlines())
            return self._answer(api, list(api.answer(body, number)))

        def _answer(self, api: API, events: Sequence[Body]) -> None:
            names = [f"event: {event['type']}\n" if api.is_named else "" for event in events]
            stream = "".join(f"{name}data: {json.dumps(event)}\n\n" for name, event in zip_longest(names, events))
            self._send(200, "text/event-stream", stream + ("data: [DONE]\n\n" if api is APIS[0] else ""))

        def do_GET(self) -> None:
            self._send(200, "application/json", '{"object": "list", "data": [{"id": "m", "object": "model"}]}')

        def _send(self, status: int, kind: str, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args: object) -> None:
            pass

    return ThreadingHTTPServer(("127.0.0.1", port), Handler)
