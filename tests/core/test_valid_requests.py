"""Requests that OpenAI's own types describe, and Mistral's validator takes: none is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import document_of

USER = {"role": "user", "content": "Docks?"}
SAID = {"role": "assistant", "content": "Four."}
ITEMS: dict[str, list[dict[str, Any]]] = {
    "developer": [{"type": "message", "role": "developer", "content": "Be brief."}, USER],
    "phases": [USER, SAID | {"phase": "commentary"}, SAID | {"phase": "final_answer"}, USER],
    "compaction": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"}, USER],
    "server tools": [
        USER,
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "docks"}},
        {"type": "file_search_call", "id": "fs_1", "queries": ["docks"], "status": "completed", "results": None},
        {"type": "code_interpreter_call", "id": "ci_1", "code": "4", "container_id": "c", "outputs": [], "status": "completed"},
        SAID,
    ],
    "shell": [
        USER,
        {"type": "shell_call", "id": "sh_1", "call_id": "a", "action": {"commands": ["ls"]}, "status": "completed"},
        {"type": "shell_call_output", "call_id": "a", "output": []},
    ],
    "local shell": [
        USER,
        {"type": "local_shell_call", "id": "lsh_1", "call_id": "a", "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "a", "output": "x"},
    ],
    "patch": [
        USER,
        {"type": "apply_patch_call", "call_id": "a", "operation": {"type": "delete_file", "path": "a"}, "status": "completed"},
        {"type": "apply_patch_call_output", "call_id": "a", "status": "completed", "output": "ok"},
    ],
    "tool search by the caller": [
        USER,
        {"type": "tool_search_call", "id": "tsc_1", "call_id": "a", "execution": "client", "arguments": {}, "status": "completed"},
        {"type": "tool_search_output", "call_id": "a", "execution": "client", "tools": [], "status": "completed"},
    ],
    "tool search by the server": [
        USER,
        {"type": "tool_search_call", "id": "tsc_1", "call_id": None, "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []},
        SAID,
    ],
    "approval": [
        USER,
        {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s", "name": "n", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ],
    "picture in a result": [
        USER,
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "look", "arguments": "{}", "status": "completed"},
        {"type": "function_call_output", "id": "fc_2", "call_id": "a", "output": [{"type": "input_text", "text": "dock"}]},
    ],
}


@pytest.mark.parametrize("items", ITEMS.values(), ids=ITEMS)
def test_items_of_the_responses_api(items: list[dict[str, Any]]) -> None:
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "input": items}).encode())
    assert [each.text for each in chain.problems(provider="openai-responses") if each.severity in ("error", "unchecked")] == []


def test_tool_search_of_the_caller_needs_its_output() -> None:
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "input": [*ITEMS["tool search by the caller"][:2], USER]}).encode())
    assert "result-missing" in {each.rule for each in chain.problems(provider="openai-responses") if each.severity == "error"}


@pytest.mark.parametrize(
    ("name", "output"),
    [
        ("shell", "shell_call_output"),
        ("local shell", "function_call_output"),
        ("patch", "apply_patch_call_output"),
        ("tool search by the caller", "tool_search_output"),
    ],
)
def test_answer_of_a_call_has_the_type_that_belongs_to_it(name: str, output: str) -> None:
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "input": [*ITEMS[name][:2], USER]}).encode())
    fixed = chain.apply("repair", goal="openai-responses").chain
    assert fixed.verdict("openai-responses").state == "accepted"
    items = json.loads(b"".join(document_of([fixed])))["input"]
    assert [item.get("type", "") for item in items] == ["", ITEMS[name][1]["type"], output, ""]


@pytest.mark.parametrize(("before", "is_refused"), [(USER, False), (SAID, True)])
def test_mistral_takes_a_system_message_after_the_users(before: dict[str, str], is_refused: bool) -> None:
    messages = [USER, before, {"role": "system", "content": "Be brief."}, USER]
    (chain,) = chainviz.load(json.dumps({"model": "mistral-large-latest", "messages": messages}).encode())
    rules = {each.rule for each in chain.problems(provider="mistral") if each.severity == "error"}
    assert ("system-in-messages" in rules) == is_refused
