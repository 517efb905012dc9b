"""The sessions and exports of tools are read with their roles, parts, calls and results."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from chainviz.core.chain.messages import Binary, Message, Opaque, Text, Thinking, ToolCall, ToolResult, text_of
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.load import load_file
from tests.cpu import cpu_seconds
from tests.examples import share
from tests.shared_folder import SAMPLES

SAID = {
    "ai_studio/ok_prompt.json": "system:Text human:Opaque+Text ai:Thinking+Opaque+Opaque+Text human:Binary ai:",
    "autogen/ok_task_result.json": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "autogen/ok_agent_state.json": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:Text",
    "continue_dev/ok_session.json": "human:Text ai:Text+ToolCall tool:ToolResult ai:Thinking",
    "copilot_chat/ok_export.json": "human:Text ai:Text+ToolCall tool:ToolResult",
    "deepseek_export/ok_conversations.json": "human:Text ai:Thinking+Text",
    "gemini_cli/ok_session.json": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:Text",
    "gemini_cli/ok_lines.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "google_adk/ok_session.json": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "goose/ok_session.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Thinking+Text",
    "goose/ok_stream.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Thinking+Text",
    "goose/ok_export.json": "human:Text ai:Text+ToolCall tool:ToolResult ai:Thinking+Text",
    "haystack/ok_messages.json": "human:Text ai:ToolCall tool:ToolResult",
    "letta/ok_messages.json": "system:Text human:Text ai:Thinking ai:ToolCall tool:ToolResult ai:Text",
    "librechat/ok_tree.json": "human:Text ai:Text",
    "librechat/ok_steps.json": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult",
    "llamaindex/ok_chat_store.json": "human:Text ai:ToolCall tool:ToolResult",
    "lm_studio/ok_conversation.json": "system:Text human:Text+Opaque ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "open_webui/ok_chat.json": (
        "system:Text human:Text+Image+Opaque ai:Thinking+Text+ToolCall+ToolCall tool:ToolResult+ToolResult ai:Text+Opaque human:Text ai:"
    ),
    "openai_realtime/ok_events.jsonl": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "openai_thread/ok_newest_first.json": "human:Text ai:Text human:Text",
    "openinference_messages/ok_columns.json": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "openllmetry/ok_spans.json": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "opencode/ok_export.json": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:ToolCall tool:ToolResult ai:Text",
    "opencode_events/ok_run.jsonl": "ai:ToolCall tool:ToolResult ai:Text",
    "otel_events/ok_log_records.json": "system:Text human:Text ai:Text",
    "otel_events/ok_span_events.json": "human:Text ai:ToolCall tool:ToolResult ai:Text",
    "semantic_kernel/ok_python.json": "system:Text human:Text ai:ToolCall tool:ToolResult",
    "semantic_kernel/ok_dotnet.json": "human:Text ai:ToolCall tool:ToolResult",
    "silly_tavern/ok_chat.jsonl": "ai:Text human:Text+Opaque ai:ToolCall tool:ToolResult human:Text ai:Thinking+Text",
    "smolagents/ok_steps.json": "system:Text human:Text ai:Text+ToolCall tool:ToolResult",
    "zed/ok_thread_0_2.json": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult",
    "zed/ok_thread_0_3.json": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult",
    "acp_updates/ok_updates.jsonl": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "acp_updates/ok_requests.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "antigravity/ok_transcript.jsonl": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:ToolCall tool:ToolResult human:Text ai:Text",
    "cursor_stream/ok_stream.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "deepseek_harness/ok_session.jsonl": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "devin/ok_session.json": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:Text",
    "forge/ok_context.json": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:Text",
    "droid_stream/ok_exec.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "google_adk_eval/ok_old.test.json": "human:Text ai:ToolCall tool:ToolResult ai:Text human:Text ai:Text",
    "google_adk_eval/ok_set.evalset.json": "human:Text ai:ToolCall tool:ToolResult ai:Text ai:Text",
    "grok_build/ok_chat_history.jsonl": "system:Text human:Text ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "grok_stream/ok_stream.jsonl": "ai:Thinking+Text",
    "hf_traces/ok_trace.jsonl": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "kiro_conversation/ok_conversation.json": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "kiro_session/ok_session.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "pi_events/ok_events.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "pi_messages/ok_agent_end.jsonl": "human:Text ai:Thinking+ToolCall tool:ToolResult ai:Text",
    "posit_assistant/ok_lm_messages.jsonl": "human:Text ai:Thinking+Text+ToolCall tool:ToolResult ai:Text",
    "swe_agent_web/ok_runs.json": "ai:Text+ToolCall tool:ToolResult ai:Text",
    "vscode_chat_log/ok_log.jsonl": "human:Text ai:Text human:Text ai:Text+ToolCall tool:ToolResult ai:Text",
    "vercel_spans/ok_spans.json": "human:Text ai:ToolCall tool:ToolResult ai:Thinking+Text",
    "windsurf/ok_transcript.jsonl": "human:Text ai:Text+ToolCall tool:ToolResult ai:ToolCall tool:ToolResult ai:Text",
}

HOSTILE = [None, 1, {"a": [1]}]


def messages_of(name: str) -> tuple[Message, ...]:
    (chain,) = load_file(SAMPLES / name)
    assert chain.format == name.partition("/")[0]
    return chain.messages


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name: str) -> None:
    messages = messages_of(name)
    shown = (f"{each.role}:{'+'.join(type(part).__name__ for part in each.parts)}" for each in messages)
    assert " ".join(shown) == SAID[name]
    calls = [part for each in messages for part in each.parts if isinstance(part, ToolCall)]
    results = [part for each in messages for part in each.parts if isinstance(part, ToolResult)]
    assert [part.call_id for part in results] == [part.id for part in calls]
    assert all(part.name and isinstance(json.loads(part.arguments), dict) for part in calls if part.name != "python_interpreter")
    assert all(part.content for part in results)


def test_the_last_line_of_a_message_counts() -> None:
    """Gemini CLI writes a message again when its calls have ended."""
    call, result = messages_of("gemini_cli/ok_lines.jsonl")[1:3]
    assert call.parts == (Text("I look."), ToolCall("list_directory-7", "list_directory", '{"dir_path": "."}'))
    assert result.parts == (ToolResult("list_directory-7", "list_directory", "No such directory.", is_error=True),)


def test_what_a_tool_tells_the_user_alone_is_not_shown() -> None:
    assert messages_of("goose/ok_session.jsonl")[2].parts == (ToolResult("call_1", "", "ok"),)


def test_an_agent_that_failed() -> None:
    (failed,) = (part for each in messages_of("opencode/ok_export.json") for part in each.parts if getattr(part, "is_error", False))
    assert failed == ToolResult("toolu_2", "read", "not found", is_error=True)


def test_what_a_call_returned_counts_once() -> None:
    """Continue keeps it in the state of the call, and in most versions in a message of its own."""
    content = json.loads((SAMPLES / "continue_dev/ok_session.json").read_text())
    content["history"] = [item for item in content["history"] if item["message"]["role"] != "tool"]
    (chain,) = load_file(json.dumps(content).encode())
    assert [each.role for each in chain.messages] == ["human", "ai", "tool", "ai"]
    assert chain.messages[3].parts == (Thinking("hm"),)


def test_a_thread_is_told_from_its_beginning() -> None:
    assert [text_of(each) for each in messages_of("openai_thread/ok_newest_first.json")] == ["What time is it?", "Ten.", "And now?"]


def test_blocks_in_an_attribute_are_text() -> None:
    assert messages_of("openllmetry/ok_spans.json")[0].parts == (Text("List the files."),)


def test_the_last_answer_of_each_message_is_followed() -> None:
    content = json.loads((SAMPLES / "librechat/ok_tree.json").read_text())
    children = content["messages"][0]["children"]
    children.append({**children[0], "messageId": "m3", "text": "Hello again"})
    (chain,) = load_file(json.dumps(content).encode())
    assert [each.parts for each in chain.messages] == [(Text("Hello"),), (Text("Hello again"),)]


def test_the_way_to_the_last_message_of_a_list_with_branches_is_followed() -> None:
    content = json.loads((SAMPLES / "librechat/ok_steps.json").read_text())
    question, answer = content["messages"]
    content["messages"].append({**answer, "messageId": "m3", "content": [], "text": "Hello again"})
    (chain,) = load_file(json.dumps(content).encode())
    assert [each.parts for each in chain.messages] == [(Text("Hello"),), (Text("Hello again"),)]
    assert "not part of the chain" in chain.warnings[0]
    content["messages"].pop()
    answer["parentMessageId"] = ""
    question.pop("parentMessageId")
    (chain,) = load_file(json.dumps(content).encode())
    assert len(chain.messages) == 3


@pytest.mark.parametrize("hostile", HOSTILE)
def test_odd_values_are_no_fault(hostile: object) -> None:
    """Each member of each unit is replaced in turn."""
    for name in share(list(SAID), HOSTILE.index(hostile)):
        text = (SAMPLES / name).read_text()
        units = [json.loads(line) for line in text.splitlines()] if name.endswith("l") else None
        for changed in _replaced(units if units is not None else json.loads(text), hostile):
            lines = "\n".join(map(json.dumps, changed)) if units is not None else json.dumps(changed)
            with suppress(DocumentError):
                load_file(lines.encode(), name.partition("/")[0])


def _replaced(value: object, hostile: object) -> list[object]:
    """The value with each of its members replaced, one at a time."""
    if isinstance(value, dict):
        inside = [{**value, key: each} for key, item in value.items() for each in _replaced(item, hostile)]
        return [*({**value, key: hostile} for key in value), *inside]
    if isinstance(value, list):
        return [[*value[:at], each, *value[at + 1 :]] for at, item in enumerate(value) for each in _replaced(item, hostile)]
    return []


def test_a_prompt_of_ai_studio_keeps_its_instructions_outside_the_chunks() -> None:
    system, asked, answered, attached, failed = messages_of("ai_studio/ok_prompt.json")
    assert text_of(system) == "You know tides."
    assert (len(asked.source), len(answered.source)) == (2, 3), "chunks of one role are one turn"
    assert attached.parts == (Binary("text/plain", b"low"),)
    assert failed.note == "Failed to generate content."
    content = json.loads((SAMPLES / "ai_studio/ok_prompt.json").read_text())
    content["systemInstruction"] = {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]}
    assert [part.text for part in load_file(json.dumps(content).encode())[0].messages[0].parts] == ["Be brief.", "Be kind."]
    content["systemInstruction"] = {}
    assert len(load_file(json.dumps(content).encode())[0].messages) == 4


def test_a_chat_of_open_webui_follows_the_current_branch() -> None:
    messages = messages_of("open_webui/ok_chat.json")
    assert [text_of(each) for each in messages if each.role == "ai"] == ["One moment.", "At 18:00 — bring a lamp.", ""]
    thought, _, call, _ = messages[2].parts
    assert thought == Thinking("I look\nit up.")
    assert call == ToolCall("call_1", "tides", '{"place": "Brest"}')
    assert messages[3].parts == tuple(ToolResult(id, "tides", '{"high": "18:00"}') for id in ("call_1", "call_2"))
    assert messages[-1].note == "Connection refused"


def test_each_chat_of_an_open_webui_export_is_a_chain() -> None:
    content = (SAMPLES / "open_webui/ok_all_chats.json").read_bytes()
    assert [(chain.title, len(chain.messages)) for chain in load_file(content)] == [("[0].chat · Tides", 7), ("[1].chat · Greeting", 2)]
    document = json.loads(content)
    for exported in document:
        exported["chat"]["messages"] = [*exported["chat"]["history"].pop("messages").values()]
    assert [chain.format for chain in load_file(json.dumps(document).encode())] == ["open_webui", "open_webui"], "of a list alone"


def test_elements_that_open_webui_does_not_write_stay_in_the_text() -> None:
    content = json.loads((SAMPLES / "open_webui/ok_chat.json").read_text())
    said = '<details open="">more</details> and <details type="reasoning" done="false">cut off'
    content[0]["chat"]["history"]["messages"]["a3"] |= {"content": said}
    assert load_file(json.dumps(content).encode())[0].messages[-1].parts == (Text(said),)


def test_the_selected_version_of_a_message_of_lm_studio_counts() -> None:
    system, asked, called, returned, _ = messages_of("lm_studio/ok_conversation.json")
    assert (text_of(system), text_of(asked)) == ("You know tides.", "When is high water?")
    assert called.parts[2] == ToolCall("call_1", "tides", '{"place": "Brest"}')
    assert [part.name for part in returned.parts if isinstance(part, ToolResult)] == ["tides"]
    content = json.loads((SAMPLES / "lm_studio/ok_conversation.json").read_text())
    content["messages"][0]["currentlySelected"], content["systemPrompt"] = 0, ""
    assert text_of(load_file(json.dumps(content).encode())[0].messages[0]) == "When is low water?"
    content["messages"][0]["currentlySelected"] = 9
    assert len(load_file(json.dumps(content).encode())[0].envelope.carried) == 1, "no such version"


def test_what_silly_tavern_hides_from_the_model_is_not_sent() -> None:
    messages = messages_of("silly_tavern/ok_chat.jsonl")
    sent = get_format("silly_tavern").is_sent
    assert [text_of(each) for each in messages if not sent(each)] == ["(hidden remark)"]


ATTACHED = ("ai_studio/ok_prompt.json", "lm_studio/ok_conversation.json", "open_webui/ok_chat.json", "silly_tavern/ok_chat.jsonl")


@pytest.mark.parametrize("name", ATTACHED)
@pytest.mark.parametrize("format", ["openai_chat", "openai_responses", "gemini", "bedrock_converse"])
def test_a_file_kept_elsewhere_is_not_sent_to_a_provider(name: str, format: str) -> None:
    (message,) = (each for each in messages_of(name) if any(isinstance(part, Opaque) and part.kind == "attachment" for part in each.parts))
    assert "parts of unknown kinds are left out" in get_format(format).losses(message)


def test_elements_of_open_webui_that_never_end_are_text_and_read_in_linear_time() -> None:
    def read(count: int) -> None:
        content = "</details>" + '<details type="reasoning"><summary>' * count
        node = {"id": "a", "parentId": None, "childrenIds": [], "role": "assistant", "content": content}
        chat = {"title": "T", "history": {"messages": {"a": node}, "currentId": "a"}}
        (chain,) = load_file(json.dumps([{"id": "c", "user_id": "u", "title": "T", "chat": chat}]).encode())
        assert chain.format == "open_webui" and text_of(chain.messages[0]) == content

    small, large = (cpu_seconds(lambda: read(count)) for count in (1_000, 8_000))  # noqa: B023
    assert large < 24 * max(small, 0.001)
