"""The request of a chain moves with it: tools, settings, a line for fine-tuning, and the verdict on what was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.cli import main
from chainviz.core.errors import OptionsError

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CALL = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Ulm"}'}}
MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": "sun"},
]
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": CITY}}]
REQUEST = {"model": "gpt-5", "tools": TOOLS, "tool_choice": "required", "max_tokens": 50, "user": "u", "messages": MESSAGES}


def load(document: Any) -> chainviz.Chain:
    (chain,) = chainviz.load(json.dumps(document).encode())
    return chain


def converted(document: Any, to: str, **options: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The members beside the messages, and the warnings."""
    result = load(document).convert(to, **options)
    written = result.chain.to_bytes()
    assert [len(chain) for chain in chainviz.load(written, to)] == [len(result.chain)]
    members = json.loads(written)
    return {key: value for key, value in members.items() if key not in ("messages", "contents", "input")}, result.warnings


def verdicts(to: str, **options: Any) -> dict[str, str]:
    return {name: verdict.text for name, verdict in load(REQUEST).convert(to, **options).verdicts.items()}


def test_a_request_can_be_sent_to_another_api() -> None:
    members, warnings = converted(REQUEST, "anthropic")
    assert members == {
        "max_tokens": 50, "tools": [{"name": "weather", "input_schema": CITY}], "tool_choice": {"type": "any"}, "system": "Be brief.",
    }  # fmt: skip
    assert warnings == (
        "Fields beside the messages are left out: user.",
        "model: the model gpt-5 is left out; choose one for Anthropic Messages.",
    )


def test_a_model_stays_with_its_provider_and_can_be_named_for_another() -> None:
    assert converted(REQUEST, "openai_responses")[0]["model"] == "gpt-5"
    members, warnings = converted(REQUEST, "bedrock_converse", model="eu.anthropic.claude-sonnet-4-5-v1:0")
    assert members["modelId"] == "eu.anthropic.claude-sonnet-4-5-v1:0" and not any("model" in each for each in warnings)


def test_what_an_api_requires_is_added() -> None:
    members, warnings = converted(MESSAGES, "anthropic")
    assert members["max_tokens"] == 4096 and warnings == ("max_tokens is added as 4,096: Anthropic Messages requires it.",)
    members, warnings = converted(MESSAGES, "bedrock_converse")
    assert [tool["toolSpec"]["name"] for tool in members["toolConfig"]["tools"]] == ["weather"]
    assert len(warnings) == 1 and "those of weather are made from their calls" in warnings[0]


def test_tools_of_an_api_do_not_cross() -> None:
    function = {"name": "weather", "input_schema": CITY, "cache_control": {"type": "ephemeral"}}
    tools = [{"type": "web_search_20250305", "name": "web_search"}, function]
    document = {"max_tokens": 9, "tools": tools, "messages": [{"role": "user", "content": "hi"}], "mcp_servers": [{"name": "m"}]}
    members, warnings = converted(document, "openai_chat")
    assert members == {"max_completion_tokens": 9, "tools": TOOLS}
    assert warnings == (
        "Fields beside the messages are left out: tools[1].cache_control, mcp_servers.",
        "tools[0]: web_search_20250305 is a tool of its API and is left out.",
    )


def test_a_request_inside_a_log_is_found() -> None:
    answer = {"id": "r", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Sunny."}}]}
    members, warnings = converted({"request": REQUEST, "response": answer}, "gemini")
    assert members["tools"] == [{"functionDeclarations": [{"name": "weather", "parameters": CITY}]}]
    assert warnings == ("Fields beside the messages are left out: request.model, request.user, response.",)


def test_a_format_without_settings_names_them() -> None:
    said = load(REQUEST).convert("langchain").warnings
    assert said == ("Fields beside the messages are left out: model, max_tokens, tools, tool_choice, user.",)


def test_a_line_for_fine_tuning_has_messages_and_tools() -> None:
    anthropic = load(REQUEST).convert("anthropic").chain.to_bytes()
    line = chainviz.load(anthropic)[0].convert("openai_chat", fine_tuning=True).chain.to_bytes()
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    written = json.loads(line)
    assert list(written) == ["messages", "tools"]
    assert (written["messages"], written["tools"]) == (MESSAGES, TOOLS)
    with pytest.raises(OptionsError, match="fine-tuning"):
        load(REQUEST).convert("anthropic", fine_tuning=True)


def test_files_become_lines_for_fine_tuning(tmp_path: Path) -> None:
    file, out = tmp_path / "many.jsonl", tmp_path / "out.jsonl"
    file.write_text(f"{json.dumps(REQUEST)}\n{json.dumps({'messages': MESSAGES})}\n")
    assert main(["convert", str(file), "--to", "openai_chat", "--fine-tuning", "--out", str(out)]) == 0
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [list(line) for line in lines] == [["messages", "tools"], ["messages"]]


def test_the_verdict_is_on_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gemini 3 wants a signature on the call, which another API's call does not have."""
    assert verdicts("gemini") == {"gemini-2.5": "accepted", "gemini-3": "1 error"}
    assert verdicts("gemini", provider="gemini-3") == {"gemini-3": "accepted"}
    file, out = tmp_path / "request.json", str(tmp_path / "out.json")
    file.write_text(json.dumps(REQUEST))
    assert main(["convert", str(file), "--to", "gemini", "--out", out]) == 0
    assert "Gemini 3 generateContent: 1 error" in capsys.readouterr().err
    assert main(["convert", str(file), "--to", "gemini", "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"]["gemini-3"]["verdict"] == "rejected"
    assert main(["apply", "convert", str(file), "--set", "to=gemini", "--out", out]) == 0
    assert "Gemini 3 generateContent: 1 error" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("to", "settings"),
    [
        ("ollama", {"temperature": 0.5}),
        ("mistral", {"seed": 3}),
        ("cohere", {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]}),
    ],
)
def test_what_only_one_api_calls_so_tells_its_format(to: str, settings: dict[str, Any]) -> None:
    """Its messages are those of OpenAI."""
    written = load({"model": "m", "messages": MESSAGES, **settings}).convert(to).chain.to_bytes()
    assert [chain.format for chain in chainviz.load(written)] == [to]
