"""`chainviz fix` on the shapes in which sessions break, as people report them in the issue trackers of agents."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.chain.messages import Message, Text
from chainviz.core.chain.parse import parse
from chainviz.core.load import load_file
from chainviz.core.providers import get_provider
from chainviz.core.providers.check import check

Lines = list[dict[str, Any]]
SHARED = {"isSidechain": False, "userType": "external", "cwd": "/repo", "sessionId": "s-1", "version": "2.1.44"}


def line(number: int, kind: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    parent = f"u{number - 1}" if number else None
    return {"parentUuid": parent, **SHARED, "type": kind, "message": message, "uuid": f"u{number}", **more}


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    return line(number, "user", {"role": "user", "content": text}, **more)


def called(number: int, *ids: str, message: str = "", **more: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}} for id in ids]
    inner = {"id": message or f"msg_{number}", "type": "message", "role": "assistant", "content": blocks}
    return line(number, "assistant", inner, **more)


def answered(number: int, *ids: str, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": f"result of {id}"} for id in ids]
    return line(number, "user", {"role": "user", "content": blocks}, **more)


def told(number: int, text: str, **more: Any) -> dict[str, Any]:
    inner = {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": [{"type": "text", "text": text}]}
    return line(number, "assistant", inner, **more)


def pixels(width: int, height: int = 9) -> str:
    """The beginning of a PNG of that size, in base64."""
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b64encode(b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + size).decode()


def showed(number: int, data: str, media_type: str = "image/png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": media_type, "data": data}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "See"}]
    return line(number, "user", {"role": "user", "content": content})


def thought(number: int, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "thinking", "thinking": "Hm", "signature": "EqQBCgIYAhIk"}]
    return line(number, "assistant", {"id": f"msg_{number}", "type": "message", "role": "assistant", "content": blocks}, **more)


def half(answer: dict[str, Any]) -> dict[str, Any]:
    answer["message"]["content"][0]["content"] += " \ud83d"
    return answer


COMPACTED = {"isCompactSummary": True, "isVisibleInTranscriptOnly": True}
CLAUDE: dict[str, Lines] = {
    "a result without its call after a compaction": [
        said(0, "This session continues from a summary.", **COMPACTED), answered(1, "t1"), told(2, "Done.")
    ],
    "a result after a later user message": [
        said(0, "Look"), called(1, "t1"), said(2, "Are you there?"), answered(3, "t1"), told(4, "Yes.")
    ],
    "a call at the end": [said(0, "Look"), called(1, "t1")],
    "an interrupted call": [said(0, "Look"), called(1, "t1"), said(2, "[Request interrupted by user]"), said(3, "Go on")],
    "a repeated result": [said(0, "Look"), called(1, "t1"), answered(2, "t1"), answered(3, "t1"), told(4, "Done.")],
    "parallel calls half answered": [said(0, "Look"), called(1, "t1", "t2", "t3"), answered(2, "t2"), said(3, "And?")],
    "one message over several lines, half answered": [
        said(0, "Look"), called(1, "t1", message="m"), called(2, "t2", message="m"), answered(3, "t1"), said(4, "And?")
    ],
    "an empty message": [said(0, "Look"), told(1, ""), said(2, "And?")],
    "two processes that wrote at once": [
        said(0, "Look"), called(1, "t1"), called(2, "t9"), answered(3, "t1"), answered(4, "t9"), said(5, "And?")
    ],
    "a picture that is called what it is not": [said(0, "Look"), showed(1, pixels(9), "image/jpeg"), told(2, "I see.")],
    "a picture without content": [said(0, "Look"), showed(1, ""), told(2, "I see.")],
    "an answer that was interrupted while it reasoned": [said(0, "Look"), thought(1), said(2, "Go on")],
    "half of a character": [said(0, "Look"), called(1, "t1"), half(answered(2, "t1")), told(3, "Done.")],
    "a sub-agent's lines between a call and its end": [
        said(0, "Look"), called(1, "t1"), said(2, "Sub task", isSidechain=True), told(3, "Sub done", isSidechain=True),
        said(4, "And?"),
    ],
}  # fmt: skip
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
OPENAI: dict[str, Lines] = {
    "a result whose call was trimmed away": [
        {"role": "system", "content": "Be brief."}, {"role": "tool", "tool_call_id": "c0", "content": "old"},
        {"role": "user", "content": "Hi"},
    ],
    "a call without a result": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [CALL]}],
    "the same result twice": [
        {"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "a"}, {"role": "tool", "tool_call_id": "c1", "content": "a"},
    ],
}  # fmt: skip
ANTHROPIC: dict[str, Lines] = {
    "a result without its call": [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "late"}]},
        {"role": "assistant", "content": "Thank you."},
        {"role": "user", "content": "Go on"},
    ],
}


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-21T20:01:00.000Z", "type": "response_item", "payload": payload}


def words(role: str, text: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text}])


META = {"timestamp": "2026-11-21T20:00:00.000Z", "type": "session_meta", "payload": {"id": "019a-1", "cwd": "/repo"}}
CODEX: dict[str, Lines] = {
    "a call that was interrupted": [
        META, words("user", "Look"), item(type="function_call", name="shell", arguments="{}", call_id="c1"),
        words("user", "Again"),
    ],
    "an output whose call was compacted away": [
        META, words("user", "Summary so far."), item(type="function_call_output", call_id="c0", output="old"),
        words("user", "Go on"),
    ],
}  # fmt: skip
PI: dict[str, Lines] = {
    "an interrupted call": [
        {"type": "message", "message": {"role": "user", "content": "Look"}},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}],
                "stopReason": "toolUse",
            },
        },
        {"type": "message", "message": {"role": "user", "content": "Again"}},
    ],
}


def event(number: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": f"2026-11-21T20:00:0{number}", "kind": kind, **members}


def asked(number: int, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return event(number, "MessageEvent", source="user", llm_message=message)


def acted(number: int, id: str, answer: str = "") -> dict[str, Any]:
    call = {"id": id, "name": "terminal", "arguments": '{"command": "ls"}', "origin": "completion"}
    named = {"tool_name": "terminal", "tool_call_id": id, "tool_call": call, "llm_response_id": answer or f"r{number}"}
    return event(number, "ActionEvent", source="agent", thought=[], action={"kind": "ExecuteBashAction", "command": "ls"}, **named)


def observed(number: int, id: str) -> dict[str, Any]:
    content = {"kind": "ExecuteBashObservation", "content": [{"type": "text", "text": "a.txt"}]}
    named = {"tool_name": "terminal", "tool_call_id": id, "action_id": "e1", "observation": content}
    return event(number, "ObservationEvent", source="environment", **named)


OPENHANDS: dict[str, Lines] = {
    "an action that was interrupted": [asked(0, "Look"), acted(1, "c1"), asked(2, "Are you there?")],
    "an action at the end": [asked(0, "Look"), acted(1, "c1")],
    "an observation whose action was condensed away": [asked(0, "Look"), observed(1, "c0"), asked(2, "Go on")],
    "an observation after a later message": [asked(0, "Look"), acted(1, "c1"), asked(2, "And?"), observed(3, "c1")],
    "the same observation twice": [asked(0, "Look"), acted(1, "c1"), observed(2, "c1"), observed(3, "c1")],
    "parallel actions half observed": [
        asked(0, "Look"), acted(1, "c1", "r"), acted(2, "c2", "r"), observed(3, "c2"), asked(4, "And?"),
    ],
}  # fmt: skip
OPENHANDS_0: dict[str, Lines] = {
    "an action without an observation": [
        {"id": 1, "source": "user", "message": "Look", "action": "message", "args": {"content": "Look"}},
        {
            "id": 2, "source": "agent", "message": "", "action": "run", "args": {"command": "ls"},
            "tool_call_metadata": {
                "function_name": "execute_bash", "tool_call_id": "c1",
                "model_response": {"id": "m1", "choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [CALL]}}]},
            },
        },
        {"id": 3, "source": "user", "message": "And?", "action": "message", "args": {"content": "And?"}},
    ],
}  # fmt: skip


def json_lines(values: Lines) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def one_list(values: Lines) -> bytes:
    return json.dumps(values, indent=1).encode()


SHAPES = [
    *(pytest.param(json_lines, lines, "claude_code", "anthropic", id=name) for name, lines in CLAUDE.items()),
    *(pytest.param(json_lines, lines, "pi_session", "anthropic", id=name) for name, lines in PI.items()),
    *(pytest.param(json_lines, lines, "codex_rollout", "openai-responses", id=f"Codex: {n}") for n, lines in CODEX.items()),
    *(pytest.param(json_lines, lines, "openhands", "openai-chat", id=f"OpenHands: {n}") for n, lines in OPENHANDS.items()),
    *(pytest.param(one_list, lines, "openhands", "openai-chat", id=f"OpenHands 0: {n}") for n, lines in OPENHANDS_0.items()),
    *(pytest.param(one_list, lines, "openai_chat", "openai-chat", id=name) for name, lines in OPENAI.items()),
    *(pytest.param(one_list, lines, "anthropic", "anthropic", id=name) for name, lines in ANTHROPIC.items()),
]


def errors(path: Path, format: str, provider: str, chain: int = 0) -> list[str]:
    messages = (*load_file(path, format)[chain].messages, Message("human", (Text("Go on"),)))
    found = check(get_provider(provider), parse(messages), format)
    return [problem.text for problem in found if problem.severity == "error"]


@pytest.mark.parametrize(("write", "lines", "format", "provider"), SHAPES)
def test_a_broken_session_is_valid_afterwards_and_can_be_put_back(
    write: Callable[[Lines], bytes], lines: Lines, format: str, provider: str, tmp_path: Path, capsys: Any
) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(write(lines))
    arguments = ["fix", "--format", format, str(session)]
    assert errors(session, format, provider) != []
    assert main(["fix", "--format", format, "--check", str(session)]) == 1
    assert session.read_bytes() == write(lines), "--check writes nothing"
    assert main(arguments) == 0
    assert errors(session, format, provider) == []
    assert main(arguments) == 0 and "accepts it" in capsys.readouterr().out
    backup = next(tmp_path.glob("session.jsonl.backup-*"))
    assert backup.read_bytes() == write(lines)
    assert main(["fix", "--restore", str(session)]) == 0
    assert session.read_bytes() == write(lines)


def pi_line(role: str, **members: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, **members}}


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_pi_does_not_send_an_answer_that_broke_off(reason: str, tmp_path: Path, capsys: Any) -> None:
    """Its call needs no result, and a result of it is one without a call."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    broken = [pi_line("user", content="Look"), pi_line("assistant", content=[call], stopReason=reason)]
    result = pi_line("toolResult", toolCallId="t1", toolName="bash", content=[{"type": "text", "text": "none"}], isError=True)
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([*broken, pi_line("user", content="Again")]))
    assert main(["fix", "--check", str(session)]) == 0
    session.write_bytes(json_lines([*broken, result, pi_line("user", content="Again")]))
    assert main(["fix", str(session)]) == 0
    lines = session.read_bytes().splitlines()
    assert lines[:2] == json_lines(broken).splitlines() and b"toolResult" not in session.read_bytes()
    assert main(["fix", "--check", str(session)]) == 0


def test_a_rewritten_line_of_codex_keeps_its_time(tmp_path: Path) -> None:
    """Codex passes over lines without one."""
    def line(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-21T20:00:00Z", "type": "response_item", "payload": {"type": "message", **payload}}

    asked = line(role="user", content=[{"type": "input_text", "text": "Hello"}])
    answer = line(role="assistant", content=[{"type": "text", "text": "Hi."}])
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([asked, answer]))
    assert main(["fix", "--format", "codex_rollout", str(session)]) == 0
    lines = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert lines != [asked, answer] and all(each["timestamp"] == asked["timestamp"] for each in lines)


def test_what_is_not_utf_8_is_refused(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(CLAUDE["an interrupted call"]).decode().encode("utf-16"))
    assert main(["fix", str(session)]) == 2 and "save it as UTF-8 first" in capsys.readouterr().err


def test_a_raw_control_character_is_escaped(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    whole = json_lines(CLAUDE["an interrupted call"])
    lines = whole.splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"uuid"', b'"made": "\x1b[0m", "uuid"', 1)
    session.write_bytes(b"".join(lines))
    assert main(["fix", str(session)]) == 0
    assert "Line 1 holds a raw control character, which is escaped now." in capsys.readouterr().out
    assert json.loads(session.read_bytes().splitlines()[0])["made"] == "\x1b[0m"


def test_the_provider_is_the_one_of_the_last_answer(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    asked, answer, again = json.loads(json.dumps(PI["an interrupted call"]))
    for api, label in (("openai-responses", "OpenAI Responses"), ("cli", "Anthropic Messages")):
        answer["message"]["api"] = api
        session.write_bytes(json_lines([asked, answer, again]))
        assert main(["fix", "--check", str(session)]) == 1
        assert f"what changes for {label}" in capsys.readouterr().out


def test_the_system_text_beside_the_messages_is_part_of_the_request(tmp_path: Path) -> None:
    """Its cache mark counts among the four that Anthropic takes."""
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    turns = [{"role": role, "content": marked} for role in ("user", "assistant", "user", "assistant")]
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": marked, "messages": turns}))
    assert errors(path, "anthropic", "anthropic")
    assert main(["fix", str(path), "--provider", "anthropic"]) == 0
    assert path.read_text().count("cache_control") == 4
    assert errors(path, "anthropic", "anthropic") == []


def test_lines_that_the_fix_does_not_touch_stay_byte_for_byte(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    before = json_lines(CLAUDE["an interrupted call"]).splitlines()
    session.write_bytes(b"\n".join(before) + b"\n")
    main(["fix", str(session)])
    after = session.read_bytes().splitlines()
    assert before[:2] == after[:2] and before[3:] == after[4:]
    added, linked = json.loads(after[2]), json.loads(after[3])
    assert (added["parentUuid"], linked["parentUuid"]) == ("u1", added["uuid"])
    assert added["sessionId"] == "s-1", "the agent finds its lines by their session"


@pytest.mark.parametrize("write", [json_lines, one_list])
@pytest.mark.parametrize("name", OPENHANDS)
def test_events_of_openhands_stay_events_of_its_version(name: str, write: Callable[[Lines], bytes], tmp_path: Path) -> None:
    """It reads no others: an event of the older version would end the conversation for good."""
    session = tmp_path / "events.json"
    session.write_bytes(write(OPENHANDS[name]))
    main(["fix", str(session)])
    text = session.read_text()
    after = json.loads(text) if text.startswith("[") else [json.loads(each) for each in text.splitlines()]
    assert all(each["kind"] in ("MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent") for each in after)
    assert all({"tool_name", "tool_call_id", "error"} <= each.keys() for each in after if each["kind"] == "AgentErrorEvent")


def conversation(folder: Path, lines: Lines, name: str) -> Path:
    """As OpenHands keeps it: a file for each event."""
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text("{}")
    for number, value in enumerate(lines):
        (folder / "events" / name.format(number=number, id=value["id"])).write_text(json.dumps(value))
    return folder


def held(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("name", OPENHANDS)
def test_a_conversation_in_a_folder_is_fixed_event_by_event(name: str, tmp_path: Path) -> None:
    """Its events stay numbered without a gap; those that did not change keep their bytes."""
    session = conversation(tmp_path / "c0ffee", OPENHANDS[name], "event-{number:05d}-{id}.json")
    before = held(session / "events")
    assert main(["fix", "--check", str(session)]) == 1 and held(session / "events") == before
    assert main(["fix", str(session)]) == 0
    after = held(session / "events")
    assert [each.split("-")[1] for each in sorted(after)] == [f"{number:05d}" for number in range(len(after))]
    assert all(json.loads(text)["id"] in file for file, text in after.items())
    assert len(set(after.values()) - set(before.values())) <= 1
    lines = [json.loads(after[file]) for file in sorted(after)]
    whole = tmp_path / "events.jsonl"
    whole.write_bytes(json_lines(lines))
    assert errors(whole, "openhands", "openai-chat") == [] and main(["fix", "--check", str(session)]) == 0
    (backup,) = session.glob("events.backup-*")
    assert held(backup) == before and sorted(path.name for path in session.iterdir())[0] == "base_state.json"
    assert main(["fix", "--restore", str(session)]) == 0 and held(session / "events") == before


def test_a_conversation_of_the_older_version_keeps_its_names(tmp_path: Path) -> None:
    (lines,) = OPENHANDS_0.values()
    session = conversation(tmp_path / "old", lines, "{number}.json")
    assert main(["fix", str(session)]) == 0
    assert sorted(held(session / "events")) == ["0.json", "1.json", "2.json", "3.json"]
    (tmp_path / "none").mkdir()
    assert main(["fix", str(tmp_path / "none")]) == 2


def test_every_branch_and_sub_agent_is_fixed(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    aside = {"isSidechain": True, "agentId": "a7"}
    lines = [
        said(0, "Look"), called(1, "t1"), said(2, "Not there"), called(3, "t2"), said(4, "Here", parentUuid="u1"),
        said(5, "Warm up", parentUuid=None, **aside), called(6, "t3", **aside), told(7, "Done.", parentUuid="u4"),
    ]  # fmt: skip
    session.write_bytes(json_lines(lines))
    assert all(errors(session, "claude_code", "anthropic", chain) for chain in range(3))
    assert main(["fix", str(session)]) == 0
    assert [errors(session, "claude_code", "anthropic", chain) for chain in range(3)] == [[], [], []]
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [each["uuid"] for each in after if each["uuid"][0] == "u"] == [each["uuid"] for each in lines]
    assert len(after) == len(lines) + 3, "the branches share the result of their first call"
    assert len(list(tmp_path.glob("*.backup-*"))) == 1
    assert main(["fix", str(session)]) == 0 and capsys.readouterr().out.count("accepts it") == 3


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "u2"}


def test_only_what_is_still_sent_after_a_compaction_is_fixed(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    boundary = {"parentUuid": None, **SHARED, **BOUNDARY, "uuid": "u3"}
    before = [said(0, "Look"), called(1, "t1"), said(2, "Are you there?")]
    lines = [*before, boundary, said(4, "The summary.", **COMPACTED), answered(5, "t1"), told(6, "Done.")]
    session.write_bytes(json_lines(lines))
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert after[:5] == lines[:5], "the open call before the compaction is not sent any more"
    assert "t1" in after[5]["message"]["content"][0]["text"], "and its result is no result of anything that is sent"
    assert main(["fix", "--check", str(session)]) == 0


def entry(id: str, parent: str, role: str, content: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": id, "parentId": parent, "message": {"role": role, "content": content, **more}}


def test_the_part_that_a_compaction_kept_is_fixed_and_still_found(tmp_path: Path) -> None:
    """Of a pi session: the first kept entry is a result whose call is not sent any more."""
    session = tmp_path / "session.jsonl"
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    text = {"type": "text", "text": "ok"}
    session.write_bytes(json_lines([
        entry("a", "", "user", [text]), entry("b", "a", "assistant", [call]),
        entry("c", "b", "toolResult", [text], toolCallId="t1", toolName="bash", isError=False), entry("d", "c", "assistant", [text]),
        {"type": "compaction", "id": "e", "parentId": "d", "summary": "So far", "firstKeptEntryId": "c"}, entry("f", "e", "user", [text]),
    ]))  # fmt: skip
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert after[2]["message"]["role"] == "user" and after[4]["firstKeptEntryId"] == after[2]["id"]
    assert main(["fix", "--check", str(session)]) == 0


def test_pictures_that_are_too_large_beside_many_others_go(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    few = [said(0, "Look"), showed(1, pixels(2001)), *(showed(n, pixels(9)) for n in range(2, 21)), told(21, "I see.")]
    session.write_bytes(json_lines(few))
    assert main(["fix", "--check", str(session)]) == 0
    session.write_bytes(json_lines([*few, showed(22, pixels(9))]))
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count('"image"') == 20 and "2,001 × 9 pixels" in json.loads(after.splitlines()[1])["message"]["content"][0]["text"]


@pytest.mark.parametrize(("large", "small", "gone"), [(5, 16, 1), (5, 18, 3), (3, 30, 3), (21, 0, 1), (20, 0, 0)])
def test_only_as_many_large_pictures_go_as_are_too_many(tmp_path: Path, large: int, small: int, gone: int) -> None:
    """The API takes 20 pictures of any size up to 8,000 pixels, or more that are small: the oldest large ones go."""
    session = tmp_path / "session.jsonl"
    shown = [showed(n, pixels(2001 + n if n <= large else 9)) for n in range(1, large + small + 1)]
    session.write_bytes(json_lines([said(0, "Look"), *shown, told(len(shown) + 1, "I see.")]))
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count("[A picture of") == gone and after.count('"image"') == large + small - gone
    assert re.findall(r"A picture of ([\d,]+) ", after) == [f"{2001 + n:,}" for n in range(1, gone + 1)]
    assert main(["fix", "--check", str(session)]) == 0


def test_a_picture_that_no_request_may_hold_leaves_room_for_the_others(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    sizes = [8001, *[2001] * 20]
    shown = [showed(n, pixels(width)) for n, width in enumerate(sizes, 1)]
    session.write_bytes(json_lines([said(0, "Look"), *shown, told(len(shown) + 1, "I see.")]))
    assert main(["fix", str(session)]) == 0
    assert re.findall(r"A picture of ([\d,]+) ", session.read_text()) == ["8,001"]


def test_of_one_result_only_the_pictures_that_are_too_many_go(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    held = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixels(2001)}}] * 22
    result = {"type": "tool_result", "tool_use_id": "t1", "content": held}
    call = {"id": "m1", "type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "see", "input": {}}]}
    session.write_bytes(json_lines([
        said(0, "Look"), line(1, "assistant", call), line(2, "user", {"role": "user", "content": [result]}), told(3, "I see."),
    ]))  # fmt: skip
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count('"image"') == 20 and after.count("A picture of") == 2


SESSION = json_lines([said(0, "Look"), told(1, "One"), said(2, "And?"), told(3, "Two"), said(4, "Fine")]).splitlines()
DAMAGED = {
    "two whole records on one line": (
        [SESSION[0], SESSION[1] + SESSION[2], *SESSION[3:]], SESSION, "Line 2 holds 2 records and is split.",
    ),
    "a record that was cut off, and the next one behind it": (
        [SESSION[0], SESSION[1][:-40] + SESSION[2], *SESSION[3:]], [SESSION[0], *SESSION[2:]],
        "Line 2 holds a record that was cut off; 1 whole record stays.",
    ),
    "a record that was cut off after a whole block of it": (
        [SESSION[0], SESSION[1][: SESSION[1].index(b"}]")+ 1] + SESSION[2], *SESSION[3:]], [SESSION[0], *SESSION[2:]],
        "Line 2 holds a record that was cut off; 1 whole record stays.",
    ),
    "a whole record, and one that was cut off": (
        [*SESSION[:2], SESSION[2] + SESSION[3][:60], SESSION[4]], [*SESSION[:3], SESSION[4]],
        "Line 3 holds a record that was cut off; 1 whole record stays.",
    ),
    "zeros before a record": (
        [*SESSION[:2], bytes(99) + SESSION[2], *SESSION[3:]], SESSION, "Line 3 is one record and what a crash left.",
    ),
    "a record that was cut off in the middle": (
        [*SESSION[:2], SESSION[2][:-9], *SESSION[3:]], [*SESSION[:2], *SESSION[3:]], "Line 3 is not valid JSON and is removed.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_whole_records_of_a_damaged_line_stay(name: str, tmp_path: Path, capsys: Any) -> None:
    """As unsynchronized writers and crashes leave them; what followed a lost record follows the one before it."""
    written, kept, sentence = DAMAGED[name]
    session = tmp_path / "session.jsonl"
    session.write_bytes(b"\n".join(written) + b"\n")
    assert main(["fix", str(session)]) == 0
    assert sentence in capsys.readouterr().out
    values = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [value["uuid"] for value in values] == [json.loads(each)["uuid"] for each in kept]
    assert [value["parentUuid"] for value in values] == [None, *(value["uuid"] for value in values[:-1])]


def test_a_record_that_follows_one_that_was_never_written_follows_the_one_before_it(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    aside: dict[str, Any] = {"isSidechain": True, "agentId": "a7", "parentUuid": "elsewhere"}
    lines = [said(0, "Look"), told(1, "One"), said(5, "Sub task", **aside), said(2, "And?", parentUuid="phantom"), told(3, "Two")]
    session.write_bytes(json_lines(lines))
    assert main(["fix", "--check", str(session)]) == 1
    assert main(["fix", str(session)]) == 0
    assert "Line 4 follows a record that the file does not hold; it follows line 2 now." in capsys.readouterr().out
    values = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [value["parentUuid"] for value in values] == [None, "u0", "elsewhere", "u1", "u2"]


def test_a_line_that_was_cut_off_goes(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    whole = json_lines([said(0, "Look"), told(1, "Done.")])
    session.write_bytes(whole + b'{"type": "assistant", "mess')
    assert main(["fix", str(session)]) == 0
    assert session.read_bytes() == whole
    assert "Line 3 is not valid JSON and is removed" in capsys.readouterr().out


def test_a_session_that_changes_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(CLAUDE["a call at the end"]))
    def written_meanwhile(*arguments: Any) -> None:
        with session.open("ab") as file:
            file.write(b"{}\n")

    monkeypatch.setattr("chainviz.sessions.backups.shutil.copystat", written_meanwhile)
    assert main(["fix", str(session)]) == 2
    assert "changed while it was being fixed" in capsys.readouterr().err
    assert session.read_bytes().endswith(b"{}\n") and list(tmp_path.iterdir()) == [session]


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path, capsys: Any) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(json_lines(CLAUDE["a call at the end"]))
    bad.write_bytes(b"only words")
    assert main(["fix", str(bad), str(tmp_path / "none"), str(good)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert errors(good, "claude_code", "anthropic") == []
    assert main(["fix", "--restore", str(bad)]) == 2
