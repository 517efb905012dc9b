"""Errors of gateways and of servers with another vendor's API lead to the message and to a fix that ends them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.formats.vendors import PROVIDERS, SERVERS
from chainviz.core.pasted_errors.locate import what_was_tried
from chainviz.core.pasted_errors.message import read_error
from chainviz.core.providers import contract
from tests.core.error_classes import (
    REASONING,
    SAID,
    answers,
    assistant,
    calls,
    chat,
    claude,
    contents,
    converse,
    function_call,
    items,
    model_call,
    output,
    response,
    text,
    thought,
    tool_result,
    tool_use,
    use,
    used,
    user,
)

HI, GO = user(), {"role": "user", "content": "go on"}
TURN = ("user", {"text": "go on"})
OTHER_SIGNATURE = model_call(thoughtSignature="QUJDREVGRw==")
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "aGk="}}
SIGNED = contents(("user", {"text": "hi"}), ("model", OTHER_SIGNATURE), ("user", response()), ("model", {"text": "ok"}), TURN)
ASSISTANT = {"role": "assistant", "content": "ok"}
THINKING = {**ASSISTANT, "reasoning_content": "hm"}
SEEN = {"type": "image_url", "image_url": {"url": "https://a.example/x.png"}}
COMPUTER = {"type": "computer_call", "id": "cu_1", "call_id": "call_7", "status": "completed"}
COMPUTER |= {"action": {"type": "screenshot"}, "pending_safety_checks": []}
TOOLS = {"toolConfig": {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}}
NOTES = {"format": "pdf", "name": "notes.pdf", "source": {"bytes": "JVBERi0xLjQK"}}


def searched(id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    call = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "a"}}
    return call, {"type": "web_search_tool_result", "tool_use_id": id, "content": []}


def of_llama(*messages: Any) -> dict[str, Any]:
    tools = {"tools": [{"toolSpec": {"name": "look", "inputSchema": {"json": {"type": "object"}}}}]}
    return {**converse(*messages), "modelId": "us.meta.llama4-maverick-17b-instruct-v1:0", "toolConfig": tools}


FOUND: dict[str, tuple[Any, str, str]] = {
    "Corrupted thought signature.": (SIGNED, "s1.p1.m0", "replace-signatures"),
    "[400]: Unable to submit request because Thought signature is not valid.. Learn more": (SIGNED, "s1.p1.m0", "replace-signatures"),
    "Unable to submit request because it must include at least one parts field, which describes the prompt input.": (
        contents(("user", {"text": "hi"}), ("model",), TURN), "s1.p1.m0", "drop-empty",
    ),
    "Unable to submit request because Model input cannot be empty.": (
        contents(("user", {"text": ""}, {"text": "hi"})), "s1.h.m0.c0", "drop-empty",
    ),
    "Requests ending with a model turn are not supported.": (
        contents(("user", {"text": "hi"}), ("model", {"text": "ok"})), "s1.p1.m0", "append-human",
    ),
    "Unable to submit request because `function_response.parts` is not supported for this model.": (
        contents(
            ("user", {"text": "hi"}), ("model", model_call()),
            ("user", {"functionResponse": {"name": "look", "response": {"output": "a"}, "parts": [PICTURE]}}), TURN,
        ), "s1.p1.m1.c0", "media-to-human",
    ),
    "Request contains an invalid argument.": (
        contents(
            ("user", {"text": "hi"}), ("model", *[{"functionCall": {"id": "a", "name": "look", "args": {}}}] * 2),
            ("user", *[{"functionResponse": {"id": "a", "name": "look", "response": {}}}] * 2), TURN,
        ), "s1.p1.m0.c1", "rename-calls",
    ),
    "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]": (
        chat(HI, THINKING, GO), "s1.p1.m0", "drop-reasoning",
    ),
    "'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property 'timestamp' is unsupported)]": (
        chat({**GO, "timestamp": 1}, ASSISTANT, GO), "s1.h.m0", "rewrite-message",
    ),
    "'messages.0' : for 'role:system' the following must be satisfied[('messages.0.content' : value must be a string)]": (
        chat({"role": "system", "content": [text("Be brief.")]}, GO), "s1.h.m0", "rewrite-message",
    ),
    "Invalid 'messages[1].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.": (
        chat(HI, {**ASSISTANT, "name": "Bob B"}, GO), "s1.p1.m0", "rewrite-message",
    ),
    "Invalid 'messages[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.": (
        chat(HI, {**ASSISTANT, "name": "Bob B"}, GO), "s1.p1.m0", "rewrite-message",
    ),
    "'Bob B' does not match '^[a-zA-Z0-9_-]{1,64}$' - 'messages.1.name'": (
        chat(HI, {**ASSISTANT, "name": "Bob B"}, GO), "s1.p1.m0", "rewrite-message",
    ),
    "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets.": (
        {"messages": [{"role": "user", "content": [{"text": "hi"}, {"document": NOTES}]}]}, "s1.h.m0.c1", "rewrite-message",
    ),
    "deepseek-reasoner does not support successive user or assistant messages (messages[0] and messages[1] in your input).": (
        chat(HI, GO, ASSISTANT, GO), "s1.h.m1", "merge-human",
    ),
    "deepseek-reasoner does not support successive user or assistant messages (messages[1] and messages[2] in your input).": (
        chat(HI, ASSISTANT, ASSISTANT, GO), "s1.p2.m0", "",
    ),
    "After the (optional) system message(s), user and assistant roles should be alternating.": (
        chat(HI, GO, ASSISTANT, GO), "s1.h.m1", "merge-human",
    ),
    "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).": (
        chat(HI, GO, ASSISTANT, GO), "s1.h.m1", "merge-human",
    ),
    "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected.": (
        chat({"role": "system", "content": "Be brief."}, ASSISTANT, GO), "s1.h.m0", "insert-opening",
    ),
    "The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on (refer to https://a.b).": (
        chat(HI, ASSISTANT), "s1.p1.m0", "append-human",
    ),
    "Last message must have role `user`.": (chat(HI, ASSISTANT), "s1.p1.m0", "append-human"),
    "Expected last role to be one of: [user, tool] but got assistant": (chat(HI, ASSISTANT), "s1.p1.m0", "append-human"),
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant": (
        chat(HI, ASSISTANT), "s1.p1.m0", "append-human",
    ),
    "Unable to tokenize message for model DeepSeek-V3.1: Invalid 'content' type. Expected one of: ['str'], got list.": (
        chat(HI, {"role": "assistant", "content": [text("ok")]}, GO), "s1.p1.m0", "rewrite-message",
    ),
    "Invalid request content: Each message must have at least one content element.": (
        chat(HI, {"role": "assistant", "content": [], "reasoning_content": "hm"}, GO), "s1.p1.m0", "drop-empty",
    ),
    "An empty message was provided. Every message needs at least one non-empty content element.": (
        chat({"role": "system", "content": ""}, GO), "s1.h.m0.c0", "drop-empty",
    ),
    "Invalid request: the message at position 1 with role 'assistant' must not be empty": (
        chat(HI, {**ASSISTANT, "content": ""}, GO), "s1.p1.m0.c0", "drop-empty",
    ),
    "Invalid request: tool_call_id look:3 is not found": (chat(HI, ASSISTANT, answers("look:3"), GO), "s1.p1.m1.c0", "result-to-text"),
    "invalid params, tool result's tool id(call_function_g0_1) not found (2013)": (
        chat(HI, ASSISTANT, answers("call_function_g0_1"), GO), "s1.p1.m1.c0", "result-to-text",
    ),
    "invalid params, tool call result does not follow tool call (2013)": (chat(HI, calls("c1"), GO), "s1.p1.m0.c0", "answer-call"),
    "invalid params, invalid function arguments json string, tool_call_id: call_function_ab_1 (2013)": (
        chat(HI, calls("call_function_ab_1", arguments='{"a": '), answers("call_function_ab_1"), GO), "s1.p1.m0.c0", "mend-arguments",
    ),
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1": (
        chat(HI, calls("look:0"), answers("look:0")), "s1.p1.m0", "empty-reasoning",
    ),
    "Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the other": (
        chat(HI, {**calls("c1"), "content": "I look.", "reasoning_content": "hm"}, answers("c1"), GO), "s1.p1.m0", "drop-reasoning",
    ),
    "Error from provider: Extra inputs are not permitted, field: 'messages[1].reasoning', value: 'hm'": (
        chat(HI, {**ASSISTANT, "reasoning": "hm"}, GO), "s1.p1.m0", "drop-reasoning",
    ),
    "The messages parameter is illegal. Please check the documentation.": (chat(HI, calls("c1"), GO), "s1.p1.m0.c0", "answer-call"),
    "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid. Provide a json object for the field": (
        converse(
            ("user", {"text": "hi"}), ("assistant", tool_use("a")),
            ("user", {"toolResult": {"toolUseId": "a", "content": [{"json": [1]}]}}),
        ), "s1.p1.m1.c0", "rewrite-message",
    ),
    "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.": (
        converse(
            ("user", {"text": "hi"}), ("assistant", tool_use("a")),
            ("user", {"toolResult": {"toolUseId": "a", "content": [], "status": "error"}}),
        ), "s1.p1.m1.c0", "note-result",
    ),
    "The conversation history is incorrectly formatted. The text in content block cannot be null or empty.": (
        converse(("user", {"text": "hi"}), ("assistant", {"text": ""}), TURN), "s1.p1.m0.c0", "drop-empty",
    ),
    "messages.2.content: Conversation blocks and tool result blocks cannot be provided in the same turn.": (
        of_llama(("user", {"text": "hi"}), ("assistant", tool_use("a")), ("user", tool_result("a"), {"text": "and?"})),
        "s2.h.m0", "insert-answer",
    ),
    "messages.1.content: Conversation blocks and tool use blocks cannot be provided in the same turn.": (
        of_llama(("user", {"text": "hi"}), ("assistant", {"text": "I look."}, tool_use("a")), ("user", tool_result("a"))),
        "s1.p1.m0", "split-calls",
    ),
    "* GenerateContentRequest.contents[1].parts[0].data: required oneof field 'data' must have one initialized field": (
        contents(("user", {"text": "hi"}), ("model", {"text": ""}), TURN), "s1.p1.m0.c0", "drop-empty",
    ),
    "A conversation must alternate between user and assistant roles. Make sure the conversation alternates": (
        converse(("user", {"text": "hi"}), TURN, ("assistant", tool_use("a")), ("user", tool_result("a"))), "s1.h.m1", "merge-human",
    ),
    "missing field `tool_call_id` at line 1 column 88": (
        chat(HI, ASSISTANT, {"role": "tool", "content": "seen"}, GO), "s1.p1.m1.c0", "result-to-text",
    ),
    "Unknown parameter: 'input[0].status'.": (items({**REASONING, "status": None}, SAID, HI), "s1.p1.m0.c0", "respell-item"),
    "Item with id 'rs_1' not found.": (
        items({"type": "reasoning", "id": "rs_1", "summary": []}, SAID, HI), "s1.p1.m0.c0", "drop-thinking",
    ),
    "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted": (
        claude(HI, assistant({**thought(), "cache_control": {"type": "ephemeral"}}, use("t1")), user(used("t1"))),
        "s1.p1.m0.c0", "rewrite-message",
    ),
    "messages.1.content.1.tool_use.index: Extra inputs are not permitted": (
        claude(HI, assistant(text("ok"), {**use("t1"), "index": 1}), user(used("t1"))), "s1.p1.m0.c1", "rewrite-message",
    ),
    "API Error: 400 due to tool use concurrency issues. Run /rewind to recover the conversation.": (
        claude(HI, assistant(use("t1")), GO), "s1.p1.m0.c0", "answer-call",
    ),
    "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true": (
        claude(HI, assistant(use("t1")), user({**used("t1", ""), "is_error": True})), "s1.p1.m1.c0", "note-result",
    ),
    "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'": (
        claude(HI, assistant(*searched("call_9.f")), GO), "s1.p1.m0.c0", "respell-id",
    ),
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: srvtoolu_1. Each `tool_use` block must": (
        claude(HI, assistant(use("srvtoolu_1"), searched("srvtoolu_1")[1], text("ok")), GO), "s1.p1.m0.c0", "call-to-server",
    ),
    "messages.1.content.0.tool_use.input: Input should be a valid dictionary": (
        claude(HI, assistant({**use("t1"), "input": '{"a": 1}'}), user(used("t1"))), "s1.p1.m0.c0", "wrap-arguments",
    ),
    "messages.2.content.0.tool_result.content: Input should be a valid list": (
        claude(HI, assistant(use("t1")), user(used("t1", {"a": 1}))), "s1.p1.m1.c0", "rewrite-message",
    ),
    "messages.0.content.0.image.source.base64: invalid base64 data": (
        claude(user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "data:image/png,aGk="}}, text())),
        "s1.h.m0.c0", "media-to-text",
    ),
    "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.": (
        contents(("user", {"text": "hi"}), ("model", model_call()), ("user", response(""))), "s1.p1.m1.c0", "name-result",
    ),
    'functionResponse.name "call_17" does not match functionCall.name "look"': (
        contents(("user", {"text": "hi"}), ("model", model_call()), ("user", response("call_17"))), "s1.p1.m1.c0", "name-result",
    ),
    "Invalid value at 'contents[1].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for \"QUJDR=QUJD\"": (
        contents(("user", {"text": "hi"}), ("model", model_call(thoughtSignature="QUJDR=QUJD")), ("user", response())),
        "s1.p1.m0.c0", "replace-signatures",
    ),
    "Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct), \"seen\"": (
        contents(
            ("user", {"text": "hi"}), ("model", model_call()), ("user", {"functionResponse": {"name": "look", "response": "seen"}}),
        ), "s1.p1.m1.c0", "rewrite-message",
    ),
    "Please ensure that single turn requests end with a user role or the role field is empty.": (
        contents(("user", {"text": "hi"}), ("model", model_call(thoughtSignature="QUJD"))), "s1.p1.m0.c0", "answer-call",
    ),
    "Value 'a.b' at 'messages.2.member.content.1.member.toolUse.name' failed to satisfy constraint: Member must satisfy regular "
    "expression pattern: [a-zA-Z0-9_-]+": (
        converse(
            ("user", {"text": "hi"}), ("assistant", {"toolUse": {"toolUseId": "a", "name": "a.b", "input": {}}}),
            ("user", tool_result("a")),
        ) | TOOLS, "s1.p1.m0.c0", "respell-name",
    ),
    "The model returned the following errors: messages.1.content.0.thinking.signature: Field required": (
        converse(
            ("user", {"text": "hi"}), ("assistant", {"reasoningContent": {"reasoningText": {"text": "hm"}}}, tool_use("a")),
            ("user", tool_result("a")),
        ) | {**TOOLS, "modelId": "anthropic.claude-sonnet-4-5"}, "s1.p1.m0.c0", "drop-thinking",
    ),
    "Invalid 'messages[2]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains": (
        chat(HI, calls("c1"), {**answers("c1"), "content": [SEEN]}, GO), "s1.p1.m1.c0", "media-to-human",
    ),
    "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' contains": (
        chat(HI, {**ASSISTANT, "content": [SEEN]}, GO), "s1.p1.m0.c0", "media-to-text",
    ),
    "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : one of the following must be satisfied["
    "('messages.0.content' : value must be a string) OR ('messages.0.content' : minimum number of items is 1)])]": (
        chat({"role": "user", "content": None}, GO), "s1.h.m0", "drop-empty",
    ),
    'can only concatenate str (not "NoneType") to str': (chat({"role": "system", "content": None}, GO), "s1.h.m0", "drop-empty"),
    'can only concatenate str (not "list") to str': (chat(HI, {**ASSISTANT, "content": [text("ok")]}, GO), "s1.p1.m0", "rewrite-message"),
    "Failed to deserialize the JSON body into the target type: messages[1]: invalid type: sequence, expected a string at line 17": (
        chat(HI, {**ASSISTANT, "content": [text("ok")]}, GO), "s1.p1.m0", "rewrite-message",
    ),
    "messages[0]: data did not match any variant of untagged enum ChatCompletionRequestContent at line 1 column 18254": (
        chat(user(text(), SEEN), GO), "s1.h.m0.c1", "media-to-text",
    ),
    "Cannot have 2 or more assistant messages at the end of the list.": (chat(HI, ASSISTANT, ASSISTANT), "s1.p2.m0", "append-human"),
    "No tool output found for computer call call_7.": (items(HI, COMPUTER, GO), "s1.p1.m0.c0", "call-to-text"),
    "Invalid type for 'input[2].output': expected one of an array of objects or string, but got an object instead.": (
        items(HI, function_call("c1"), {**output("c1"), "output": {"a": 1}}), "s1.p1.m1.c0", "rewrite-message",
    ),
    "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.": (
        items(HI, {"role": "assistant", "content": [{"type": "input_text", "text": "ok"}]}, HI), "s1.p1.m0.c0", "rewrite-message",
    ),
}  # fmt: skip
"""The document, the path that the error leads to, and a fix that is offered there; "" where only a person can say what is missing."""


@pytest.mark.parametrize("says", FOUND)
def test_an_error_leads_to_its_place_and_the_fix_ends_it(says: str) -> None:
    document, path, fix = FOUND[says]
    chain = chain_of(document)
    found = chain.locate_error(says)
    assert str(found.path) == path and (fix in found.fixes or not (fix or found.fixes))
    if fix:
        fixed = chain.apply("repair", only=(fix,))
        assert fix in {row.action for row in fixed.report}
        assert len(fixed.chain.locate_error(says).problems) < len(found.problems)


def chain_of(document: Any) -> chainviz.Chain:
    return chainviz.load(json.dumps(document).encode())[0]


def test_only_a_message_with_an_unknown_member_is_rewritten() -> None:
    odd, other = {"role": "user", "content": "hi", "timestamp": 1}, {**ASSISTANT, "name": "Bob"}
    fixed = chain_of(chat(odd, other, GO)).apply("repair", only=("rewrite-message",)).chain
    assert json.loads(fixed.to_bytes())["messages"] == [{"role": "user", "content": "hi"}, other, GO]


def test_other_models_take_a_text_beside_calls_and_results() -> None:
    turns = (("user", {"text": "hi"}), ("assistant", {"text": "I look."}, tool_use("a")), ("user", tool_result("a"), {"text": "and?"}))
    assert chain_of(of_llama(*turns)).verdict("bedrock").errors == 2
    assert chain_of({**of_llama(*turns), "modelId": "anthropic.claude-sonnet-4-5"}).verdict("bedrock").state == "accepted"


def test_thoughts_keep_their_text_without_their_signatures() -> None:
    thought = {"text": "plan", "thought": True, "thoughtSignature": "QUJD"}
    chain = chain_of(contents(("user", {"text": "hi"}), ("model", thought, OTHER_SIGNATURE), ("user", response())))
    fixed = chain.apply("repair", only=("replace-signatures",)).chain
    assert b"plan" in fixed.to_bytes() and b"QUJD" not in fixed.to_bytes()
    assert fixed.verdict("gemini-3").state == "accepted"


def test_no_chain_is_judged_by_a_server_of_which_only_errors_are_known() -> None:
    assert not {each.name for each in SERVERS} & {each.name for each in PROVIDERS}
    assert chain_of(chat(HI, THINKING, GO)).verdict("openai_chat").state != "rejected"


BESIDE = {
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 148002 tokens": "the length of the request",
    "prompt is too long: 216012 tokens > 200000 maximum": "the length of the request",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": "the length of the request",
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}': "the load of the API",
    "tools.0.custom.input_schema: input_schema does not support oneOf at the top level": "the tools that the request defines",
    "Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern": "the tools that",
    "`temperature` may only be set to 1 when thinking is enabled.": "a setting of the request",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'.": "a setting of the request",
}


@pytest.mark.parametrize("says", BESIDE)
def test_an_error_about_the_request_beside_its_messages_names_what_it_is_about(says: str) -> None:
    error = read_error(says)
    for document in (chat(HI, calls("c1"), answers("c1"), GO), claude(HI, assistant(thought(), use("t1")), user(used("t1")))):
        found = chain_of(document).locate_error(error)
        assert found.path is None and BESIDE[says] in " ".join(what_was_tried(error, found))


def test_a_result_keeps_its_name_where_another_function_has_it() -> None:
    others = contents(
        ("user", {"text": "hi"}), ("model", model_call("look"), model_call("list")), ("user", response("list"), response("list"))
    )
    fixed = chain_of(others).apply("repair", only=("name-result",))
    assert "name-result" not in {row.action for row in fixed.report}


def test_an_object_in_a_text_becomes_the_arguments() -> None:
    chain = chain_of(claude(HI, assistant({**use("t1"), "input": '{"a": 1}'}), user(used("t1"))))
    fixed = chain.apply("repair", only=("wrap-arguments",)).chain
    assert json.loads(fixed.to_bytes())["messages"][1]["content"][0]["input"] == {"a": 1}


def test_a_computer_call_is_not_answered_by_a_text() -> None:
    found = chain_of(items(HI, COMPUTER, GO)).locate_error("No tool output found for computer call call_7.")
    assert found.fixes == ("call-to-text",)


def test_results_of_other_names_are_searched_once_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [{"functionCall": {"name": f"call_{n}", "args": {}}} for n in range(9)]
    told = [{"functionResponse": {"name": f"result_{n}", "response": {}}} for n in range(5)]
    searched = []
    search = contract.misnamed_results
    monkeypatch.setattr(contract, "misnamed_results", lambda *given: searched.append(given) or search(*given))
    chain = chain_of(contents(("user", {"text": "hi"}), ("model", *asked), ("user", *told), TURN))
    assert chain.verdict("gemini-3").errors == 14 and len(searched) <= 2


@pytest.mark.parametrize("before", [(), (("assistant", tool_use("z")), ("user", tool_result("z")))])
def test_llama_accepts_a_chain_whose_calls_are_apart(before: tuple[Any, ...]) -> None:
    apart = (*before, ("assistant", {"text": "I look."}, tool_use("a")), ("user", tool_result("a"), {"text": "and?"}))
    chain = chain_of(of_llama(("user", {"text": "hi"}), *apart))
    fixes = {fix for problem in chain.problems("bedrock") if problem.provider for fix in problem.fixes}
    assert fixes == {"split-calls", "insert-answer"}
    fixed = chain.apply("repair", goal="bedrock").chain
    assert fixed.verdict("bedrock").state == "accepted"
    assert b"I look." in fixed.to_bytes() and b"and?" in fixed.to_bytes()


def test_llama_has_results_and_a_text_of_two_messages_apart_by_an_answer() -> None:
    turns = (("user", {"text": "hi"}), ("assistant", tool_use("a")), ("user", tool_result("a")), ("user", {"text": "and?"}))
    chain = chain_of(of_llama(*turns))
    assert [problem.fixes for problem in chain.problems("bedrock") if problem.severity == "error"] == [("insert-answer",)]
    assert chain.apply("repair", goal="bedrock").chain.verdict("bedrock").state == "accepted"


ONE_ANSWER = "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1"
NO_MATCH = "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each must have a corresponding `tool_use`"


@pytest.mark.parametrize(
    ("results", "error", "fix"),
    [
        (("t1", "t1", "other"), ONE_ANSWER, "join-results"),
        (("t1", "t1", "seen"), ONE_ANSWER, "drop-copy"),
        (("call_t1",), NO_MATCH.format(id="call_t1"), "rename-result"),
        (("call_t1",), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1", "rename-result"),
        (("t1", "t9", "ok"), NO_MATCH.format(id="t9"), "add-call"),
    ],
)  # fmt: skip
def test_the_first_fix_is_one_that_is_possible(results: tuple[str, ...], error: str, fix: str) -> None:
    told = [used(id) for id in results[:2]]
    told[1:] = [{**block, "content": results[2]} for block in told[1:]]
    chain = chain_of(claude(HI, assistant(use("t1")), user(*told), assistant({"type": "text", "text": "x"}), HI))
    found = chain.locate_error(error)
    assert found.fixes[0] == fix
    fixed = chain.apply("repair", only=(fix,)).chain
    assert fixed.to_bytes() != chain.to_bytes() and fixed.verdict("anthropic").state == "accepted"


NULL = {"type": "text", "text": None}
STRANGE = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}", "status": "done"}


@pytest.mark.parametrize(
    ("document", "error", "fix"),
    [
        (
            chat(user(NULL), GO),
            "Invalid type for 'messages[0].content[0].text': expected a string, but got null instead.", "rewrite-message",
        ),
        (
            claude(user(NULL, {"type": "text", "text": "x"}), assistant(use("t1")), user(used("t1"))),
            "messages.0.content.0.text.text: Input should be a valid string", "drop-empty",
        ),
        (
            items(HI, {**GO, "content": [{"type": "input_text", "text": None}]}),
            "Invalid type for 'input[1].content[0].text': expected a string, but got null instead.", "rewrite-message",
        ),
        (
            items(HI, STRANGE, {"type": "function_call_output", "call_id": "c1", "output": "ok"}),
            "Invalid value: 'done'. Supported values are: 'in_progress', 'completed', and 'incomplete'.", "rewrite-message",
        ),
        (
            chat(HI, {"role": "assistant", "content": "x", "reasoning": "hm"}, GO),
            "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning' is unsupported)]",
            "drop-reasoning",
        ),
    ],
)  # fmt: skip
def test_null_texts_and_odd_members_are_read_and_fixed(document: dict[str, Any], error: str, fix: str) -> None:
    chain = chain_of(document)
    found = chain.locate_error(error)
    assert chain.is_fully_read and found.fixes[0] == fix
    fixed = chain.apply("repair", only=(fix,)).chain
    again = fixed.locate_error(error)
    assert not again.problems and fixed.verdict(chain.provider).state == "accepted"
