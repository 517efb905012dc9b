"""The 22 classes of errors with which APIs were seen to refuse chains: for each a chain, in the API's own format, that has the cause.

The letters are those of the survey from which they come: A Anthropic (and Bedrock), O OpenAI, G Gemini, D DeepSeek.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from tests.core.claude_messages import assistant, used, user

CLASSES = frozenset([f"A{number}" for number in range(1, 11)] + [f"O{number}" for number in range(1, 9)] + ["G1", "G2", "G3", "D1"])


@dataclass(frozen=True)
class ErrorCase:
    name: str
    """The class first."""
    provider: str
    document: Any
    pasted: str
    """The API's own message."""
    rule: str
    """"" where no rule can see the cause."""
    path: str
    fix: str

    @property
    def content(self) -> bytes:
        return json.dumps(self.document).encode()

    @property
    def format(self) -> str:
        return FORMATS.get(self.provider, "openai_chat")


FORMATS = {
    "anthropic": "anthropic", "bedrock": "bedrock_converse", "openai-responses": "openai_responses",
    "gemini-2.5": "gemini", "gemini-3": "gemini",
}  # fmt: skip
WIDE = base64.b64encode(b"GIF89a" + (9000).to_bytes(2, "little") + (20).to_bytes(2, "little")).decode()
GIF = {"type": "base64", "media_type": "image/gif", "data": WIDE}


def text(words: str = "and?") -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "look", "input": {}}


def thought(words: str = "hm") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": "sig"}


def claude(*messages: Any) -> dict[str, Any]:
    return {"model": "claude", "max_tokens": 9, "messages": list(messages)}


def calls(*ids: str, arguments: str = "{}", **members: Any) -> dict[str, Any]:
    made = [{"id": id, "type": "function", "function": {"name": "look", "arguments": arguments}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": made, **members}


def answers(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "seen"}


def chat(*messages: Any) -> dict[str, Any]:
    return {"model": "gpt", "messages": list(messages)}


def items(*input: Any) -> dict[str, Any]:
    return {"model": "gpt", "input": list(input)}


def function_call(call_id: str, **members: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": "look", "arguments": "{}", **members}


def output(id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": "seen"}


def contents(*turns: Any) -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": list(parts)} for role, *parts in turns]}


def model_call(name: str = "look", **members: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **members}


def response(name: str = "look") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "seen"}}}


def tool_use(id: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": "look", "input": {}}}


def tool_result(id: str) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id, "content": [{"text": "seen"}]}}


def converse(*messages: Any) -> dict[str, Any]:
    return {"modelId": "m", "messages": [{"role": role, "content": list(blocks)} for role, *blocks in messages]}


HI = {"text": "hi"}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
SAID = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "ok", "annotations": []}]}

CASES = (
    ErrorCase(
        "A1 missing result", "anthropic",
        claude(user(), assistant(use("toolu_1"), use("toolu_2")), user(used("toolu_1"), text()), assistant()),
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2. Each `tool_use` block must "
        "have a corresponding `tool_result` block in the next message.",
        "result-missing", "s1.p1.m0.c1", "answer-call",
    ),
    ErrorCase(
        "A1 result behind a text", "anthropic", claude(user(), assistant(use("toolu_1")), user(text(), used("toolu_1")), assistant()),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
        "result-missing", "s1.p1.m0.c0", "move-result",
    ),
    ErrorCase(
        "A2", "anthropic", claude(user(), assistant(text("ok")), user(used("toolu_9")), assistant()),
        "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have a "
        "corresponding `tool_use` block in the previous message.",
        "result-without-call", "s1.p1.m1.c0", "result-to-text",
    ),
    ErrorCase(
        "A3", "anthropic",
        claude(user(), assistant(text("ok"), {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}), user()),
        "messages.1.content.1: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each must have a "
        "corresponding `server_tool_use` block before it.",
        "server-result-without-call", "s1.p1.m0.c1", "server-result-to-text",
    ),
    ErrorCase(
        "A4 ids", "anthropic", claude(user(), assistant(use("a"), use("a")), user(used("a"), used("a", "other")), assistant()),
        "messages.1.content.1: `tool_use` ids must be unique", "call-id-reused", "s1.p1.m0.c1", "rename-calls",
    ),
    ErrorCase(
        "A4 ids of two turns", "anthropic",
        claude(user(), assistant(use("a")), user(used("a")), assistant(use("a")), user(used("a", "new")), assistant()),
        "messages.3.content.0: `tool_use` ids must be unique", "call-id-reused", "s1.p2.m0.c0", "rename-calls",
    ),
    ErrorCase(
        "A4 results", "anthropic", claude(user(), assistant(use("a")), user(used("a"), used("a")), assistant()),
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
        "result-repeated", "s1.p1.m1.c1", "drop-copy",
    ),
    ErrorCase(
        "A4 Bedrock", "bedrock",
        converse(("user", HI), ("assistant", tool_use("a"), tool_use("a")), ("user", tool_result("a"), tool_result("a"))),
        "The toolUse blocks at messages.1.content contain duplicate Ids: a", "call-id-shared", "s1.p1.m0.c1", "rename-calls",
    ),
    ErrorCase(
        "A5", "bedrock",
        converse(("user", HI), ("user", {"text": "there"}), ("assistant", {"text": "ok"}), ("user", {"text": "?"})),
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
        "roles-alternate", "s1.h.m1", "merge-human",
    ),
    ErrorCase(
        "A5 results apart", "bedrock",
        converse(("user", HI), ("assistant", tool_use("a"), tool_use("b")), ("user", tool_result("a")), ("user", tool_result("b"))),
        "Expected toolResult blocks at messages.2.content for the following Ids: b", "results-split", "s1.p1.m2", "join-turns",
    ),
    ErrorCase(
        "A5 text apart", "bedrock",
        converse(("user", HI), ("assistant", tool_use("a")), ("user", tool_result("a")), ("user", {"text": "and?"})),
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
        "roles-alternate", "s2.h.m0", "join-turns",
    ),
    ErrorCase(
        "A5 vLLM", "vllm", chat(user(), user(), assistant(), user()),
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        "roles-alternate", "s1.h.m1", "merge-human",
    ),
    ErrorCase(
        "A5 after a result", "mistral", chat(user(), calls("abcdefghi"), answers("abcdefghi"), user()),
        '{"object":"error","message":"Unexpected role \'user\' after role \'tool\'","type":"invalid_request_message_order","code":"3230"}',
        "user-after-result", "s2.h.m0", "insert-answer",
    ),
    ErrorCase(
        "A1 without a count", "anthropic", claude(user(), assistant(use("a")), user()),
        "messages.2: Did not find 1 `tool_result` block(s) at the beginning of this message. Messages following `tool_use` blocks must "
        "begin with a matching number of `tool_result` blocks.",
        "result-missing", "s1.p1.m0.c0", "answer-call",
    ),
    ErrorCase(
        "A8 one empty text", "anthropic", claude(user(), assistant(text("")), user()),
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
        "text-empty", "s1.p1.m0.c0", "drop-empty",
    ),
    ErrorCase(
        "A6", "anthropic", claude(user(), assistant(thought(), use("a")), user(used("a")), assistant(use("b")), user(used("b"))),
        "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a "
        "final `assistant` message must start with a thinking block",
        "thinking-missing", "s1.p2.m0", "drop-thinking",
    ),
    ErrorCase(
        "A7 emptied", "anthropic", claude(user(), assistant(thought(""), text("ok")), user()),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks "
        "must remain as they were in the original response.",
        "thinking-emptied", "s1.p1.m0.c0", "drop-thinking",
    ),
    ErrorCase(
        "A7 edited", "anthropic",
        claude(user(), assistant(thought("hm, changed"), use("a")), user(used("a")), assistant(text("ok")), user()),
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks "
        "must remain as they were in the original response.",
        "", "s1.p1.m0", "drop-signed",
    ),
    ErrorCase(
        "A8", "anthropic", claude(user(), assistant(thought(), text("ok"))),
        "messages.1: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
        "thinking-final", "s1.p1.m0", "drop-thinking",
    ),
    ErrorCase(
        "A9 empty", "anthropic", claude(user(), assistant(text(""), use("a")), user(used("a"))),
        "messages: text content blocks must be non-empty", "text-empty", "s1.p1.m0.c0", "drop-empty",
    ),
    ErrorCase(
        "A9 blank", "anthropic", claude(user(), assistant(text(" \n"), use("a")), user(used("a"))),
        "messages: text content blocks must contain non-whitespace text", "text-blank", "s1.p1.m0.c0", "drop-empty",
    ),
    ErrorCase(
        "A10", "anthropic",
        claude(user(text("look"), {"type": "image", "source": GIF}), assistant(), user()),
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        "image-too-large", "s1.h.m0.c1", "image-to-text",
    ),
    ErrorCase(
        "O1", "openai-chat", chat(user(), calls("call_a", "call_b"), answers("call_a"), user()),
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
        "tool_call_ids did not have response messages: call_b",
        "result-missing", "s1.p1.m0.c1", "answer-call",
    ),
    ErrorCase(
        "O1 DeepSeek", "deepseek", chat(user(), calls("call_a"), user()), "(insufficient tool messages following tool_calls message)",
        "result-missing", "s1.p1.m0.c0", "answer-call",
    ),
    ErrorCase(
        "O2", "openai-chat", chat(user(), assistant(), answers("call_a")),
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "result-without-call", "s1.p1.m1.c0", "result-to-text",
    ),
    ErrorCase(
        "O3", "openai-responses", items(user(), function_call("call_a"), output("call_a"), user(), function_call("call_b"), user()),
        "No tool output found for function call call_b.", "result-missing", "s2.p1.m0.c0", "answer-call",
    ),
    ErrorCase(
        "O4", "openai-responses", items(user(), function_call("call_a"), output("call_a"), output("call_z"), user()),
        "No tool call found for function call output with call_id call_z.", "result-without-call", "s1.p1.m2.c0", "add-call",
    ),
    ErrorCase(
        "O5", "openai-responses", items(user(), REASONING, user()),
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        "reasoning-without-item", "s1.p1.m0.c0", "drop-thinking",
    ),
    ErrorCase(
        "O6 call", "openai-responses", items(user(), function_call("call_a", id="fc_1"), output("call_a"), user()),
        "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        "item-without-reasoning", "s1.p1.m0.c0", "drop-item-id",
    ),
    ErrorCase(
        "O6 message", "openai-responses", items(user(), SAID, user()),
        "Item 'msg_1' of type 'message' was provided without its required 'reasoning' item: 'rs_1'.",
        "item-without-reasoning", "s1.p1.m0.c0", "drop-item-id",
    ),
    ErrorCase(
        "O7 id", "openai-responses", items(user(), function_call("call_a", id="call_a"), output("call_a"), user()),
        "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'.", "item-id", "s1.p1.m0.c0", "respell-item",
    ),
    ErrorCase(
        "O7 summary", "openai-responses",
        items(user(), {"type": "reasoning", "id": "rs_1"}, function_call("call_a"), output("call_a"), user()),
        "Input[1] missing required field summary", "member-missing", "s1.p1.m0.c0", "respell-item",
    ),
    ErrorCase(
        "O7 chat items", "openai-responses", items(user(), function_call("call_a"), answers("call_a"), user()),
        "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        "role-unknown", "s1.p1.m1.c0", "respell-item",
    ),
    ErrorCase(
        "O8 cut off", "vllm", chat(user(), calls("call_a", arguments='{"q": "x'), answers("call_a"), user()),
        "Unterminated string starting at: line 1 column 7 (char 6)", "arguments-no-json", "s1.p1.m0.c0", "mend-arguments",
    ),
    ErrorCase(
        "O8 no object", "openai-chat", chat(user(), calls("call_a", arguments="null"), answers("call_a"), user()),
        "litellm.BadRequestError: function.arguments must be a valid JSON object string",
        "arguments-no-object", "s1.p1.m0.c0", "wrap-arguments",
    ),
    ErrorCase(
        "G1", "gemini-2.5",
        contents(("user", HI), ("model", model_call(), model_call("hear")), ("user", response()), ("user", {"text": "?"})),
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        "result-count", "s1.p1.m0.c1", "answer-call",
    ),
    ErrorCase(
        "G2 begins with a call", "gemini-2.5", contents(("model", model_call()), ("user", response()), ("model", {"text": "ok"})),
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        "call-order", "s1.p1.m0", "insert-opening",
    ),
    ErrorCase(
        "G2 text between", "gemini-2.5",
        contents(("user", HI), ("model", model_call()), ("user", {"text": "?"}), ("user", response())),
        "Please ensure that function response turn comes immediately after a function call turn.",
        "result-without-call", "s2.p1.m1.c0", "move-result",
    ),
    ErrorCase(
        "G3", "gemini-3", contents(("user", HI), ("model", model_call()), ("user", response())),
        "Function call is missing a thought_signature in functionCall parts. Function call `default_api:look` , position 2.",
        "thought-signature-missing", "s1.p1.m0.c0", "sign-calls",
    ),
    ErrorCase(
        "D1", "deepseek-v3.2", chat(user(), calls("a", reasoning_content="hm"), answers("a"), calls("b"), answers("b")),
        "The `reasoning_content` in the thinking mode must be passed back to the API.", "reasoning-missing", "s1.p2.m0", "drop-thinking",
    ),
)  # fmt: skip
