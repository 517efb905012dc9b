"""Where sessions are found: at each agent's usual place, at its variable, and in the homes of other systems."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.errors import DocumentError
from chainviz.core.sources import STORES, find_stores, get_store, read_session, sessions_in
from chainviz.core.sources.contract import Session
from chainviz.core.sources.machine import MAC, WINDOWS, Home, Machine
from chainviz.core.sources.store_kinds import FileStore
from tests.core.databases.opencode_database import create

CLAUDE = [
    {
        "type": "user",
        "uuid": "a",
        "cwd": "/yard/depot",
        "timestamp": "2026-11-26T10:00:00Z",
        "message": {"role": "user", "content": "Count"},
    },
    {
        "type": "assistant",
        "uuid": "b",
        "message": {"role": "assistant", "model": "claude-opus-5", "content": [{"type": "text", "text": "4"}]},
    },
]


def write_lines(path: Path, records: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def write_opencode_files(storage: Path) -> Path:
    """Write a session of opencode before 1.2 with an answer whose call has no result. Return the file with its facts."""
    call = {"type": "tool", "callID": "call_1", "tool": "bash", "state": {"status": "running", "input": {"command": "ls"}}}
    files: dict[str, dict[str, object]] = {
        "session/global/ses_1": {"id": "ses_1", "title": "Count the crates", "directory": "/yard", "version": "1.1.0"},
        "message/ses_1/msg_2": {"id": "msg_2", "sessionID": "ses_1", "role": "user", "time": {"created": 1}},
        "message/ses_1/msg_1": {"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2}},
        "part/msg_2/prt_0": {"id": "prt_0", "sessionID": "ses_1", "messageID": "msg_2", "type": "text", "text": "Count"},
        "part/msg_1/prt_1": {"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "I look."},
        "part/msg_1/prt_2": {"id": "prt_2", "sessionID": "ses_1", "messageID": "msg_1", **call},
    }
    for name, value in files.items():
        path = storage / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))
    return storage / "session/global/ses_1.json"


def sessions(machine: Machine, agent: str = "") -> list[Session]:
    found = list(sessions_in(find_stores(machine, agent)))
    assert not [error for error in found if isinstance(error, DocumentError)]
    return [session for session in found if isinstance(session, Session)]


def example(pattern: str) -> str:
    return pattern.replace("**", "deep/er").replace("[", "").replace("*", "x")


@pytest.mark.parametrize("store", [store for store in STORES if type(store) is FileStore], ids=lambda store: store.agent)
@pytest.mark.parametrize("system", ["linux", MAC, WINDOWS])
def test_every_usual_place_and_pattern_is_found(store: FileStore, system: str, tmp_path: Path) -> None:
    home = Home(tmp_path, system)
    for place in store.kept_at:
        word, below = place.usual[1:].split("}")
        for pattern in store.patterns:
            path = home.folder(word) / below.strip("/") / example(pattern)
            if path.name == "events":
                path = path / "event-00000-a.json"
            write_lines(path, [{"role": "user", "content": "Count the crates"}])
    found = sessions(Machine((home,)), store.agent)
    assert len({session.path for session in found}) == len(store.kept_at) * len(store.patterns)
    assert sum(each.count or 0 for each in find_stores(Machine((home,)), store.agent)) == len(found)
    for session in found:
        assert session.title == "Count the crates" and session.id and b"Count the crates" in read_session(session)


def test_a_session_tells_its_project_model_and_time(tmp_path: Path) -> None:
    path = tmp_path / ".claude/projects/-work-depot/5c03.jsonl"
    write_lines(path, CLAUDE)
    write_lines(path.parent / "5c03/subagents/agent-1.jsonl", CLAUDE)
    main, sub = sorted(sessions(Machine.of(tmp_path)), key=lambda session: session.parent)
    assert (main.id, main.title, main.project, main.model, main.created) == ("5c03", "Count", "/yard/depot", "claude-opus-5", 1795687200.0)
    assert (sub.id, sub.parent) == ("agent-1", "5c03")
    assert main.address == str(path)


CHAT = {"version": 3, "requests": [], "creationDate": 1795687200000}
ASKED = {"requestId": "request_1", "message": {"text": "Why is the depot empty?", "parts": []}}


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([{"kind": 0, "v": {**CHAT, "requests": [ASKED]}}], "Why is the depot empty?"),
        ([{"kind": 0, "v": CHAT}, {"kind": 2, "k": ["requests"], "v": [ASKED]}], "Why is the depot empty?"),
        ([{"kind": 0, "v": {**CHAT, "requests": [ASKED], "customTitle": "The empty depot"}}], "The empty depot"),
        ([{"kind": 0, "v": {**CHAT, "requests": [ASKED]}}, {"kind": 1, "k": ["customTitle"], "v": "The empty depot"}], "The empty depot"),
        ([{**CHAT, "requests": [ASKED]}], "Why is the depot empty?"),
    ],
    ids=["whole", "pushed", "named", "named later", "document"],
)
def test_chat_of_vs_code_tells_its_title_time_and_folder(lines: list[Any], title: str, tmp_path: Path) -> None:
    path = tmp_path / ".config/Code/User/workspaceStorage/5c03/chatSessions/one.jsonl"
    write_lines(path, lines)
    (found,) = sessions(Machine.of(tmp_path))
    assert (found.title, found.created, found.project) == (title, 1795687200.0, "")
    for folder, project in (("file:///yard/de%20pot", "/yard/de pot"), ("file:///c%3A/depot", "c:/depot"), (None, "")):
        (path.parents[1] / "workspace.json").write_text(json.dumps({"folder": folder}))
        assert sessions(Machine.of(tmp_path))[0].project == project


AGENTS = ("codex", "grok-build", "roo-code", "gemini-cli")


def test_titles_are_requests_and_not_settings(tmp_path: Path) -> None:
    rollout = [
        {"type": "turn_context", "payload": {"cwd": "/yard/depot", "model": "gpt-5", "summary": "auto"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Count"}]}},
    ]
    write_lines(tmp_path / ".codex/sessions/2026/11/20/rollout-1.jsonl", rollout)
    around = {"type": "user", "content": "OS: Linux", "synthetic_reason": "environment_context"}
    write_lines(tmp_path / ".grok/sessions/p/s/chat_history.jsonl", [around, {"type": "user", "content": "Count"}])
    tasks = tmp_path / ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json"
    tasks.parent.mkdir(parents=True)
    tasks.write_text('[\n{"role": "user", "content": "Count"},\n{"role": "assistant", "content": "There are four."}\n]')
    write_lines(tmp_path / ".gemini/tmp/5c03/chats/session-1.jsonl", [{"type": "user", "content": "Count"}])
    (tmp_path / ".gemini/tmp/5c03/.project_root").write_text("/yard/depot")
    found = {session.agent: session for session in sessions(Machine.of(tmp_path))}
    assert {agent: session.title for agent, session in found.items()} == dict.fromkeys(
        ("codex", "grok-build", "roo-code", "gemini-cli"), "Count"
    )
    assert found["gemini-cli"].project == found["codex"].project == "/yard/depot"


@pytest.mark.parametrize(
    ("agent", "path", "folder"),
    [
        ("cursor-agent", ".cursor/projects/depot/agent-transcripts/1/1.jsonl", ".cursor/projects/depot"),
        ("vibe", ".vibe/logs/session/1/messages.jsonl", ".vibe/logs/session"),
        ("codex", ".codex/sessions/2026/11/20/rollout-1.jsonl", ".codex/sessions"),
    ],
)
def test_sessions_without_a_working_folder_share_the_folder_of_their_store(agent: str, path: str, folder: str, tmp_path: Path) -> None:
    write_lines(tmp_path / path, [{"role": "user", "content": "Count"}])
    (found,) = find_stores(Machine.of(tmp_path), agent)
    assert found.store.group_folder(found.place, tmp_path / path) == tmp_path / folder


def test_a_variable_takes_the_place_of_the_usual_folder(tmp_path: Path) -> None:
    write_lines(tmp_path / ".claude/projects/p/usual.jsonl", CLAUDE)
    write_lines(tmp_path / "first/projects/p/one.jsonl", CLAUDE)
    write_lines(tmp_path / "second/projects/p/two.jsonl", CLAUDE)
    environment = {"CLAUDE_CONFIG_DIR": f"{tmp_path / 'first'},{tmp_path / 'second'}"}
    assert {session.id for session in sessions(Machine.of(tmp_path, environment=environment))} == {"one", "two"}


def test_backups_and_lists_of_sessions_are_no_sessions(tmp_path: Path) -> None:
    write_lines(tmp_path / ".claude/projects/p/a.jsonl", CLAUDE)
    write_lines(tmp_path / ".claude/projects/p/a.jsonl.backup-20261126-100000-000000", CLAUDE)
    (tmp_path / ".continue/sessions").mkdir(parents=True)
    (tmp_path / ".continue/sessions/sessions.json").write_text("[]")
    assert [session.id for session in sessions(Machine.of(tmp_path))] == ["a"]


def test_sessions_of_a_database_are_read_as_its_agent_exports_them(tmp_path: Path) -> None:
    create(tmp_path / "data/opencode/opencode.db", 3)
    machine = Machine.of(tmp_path, environment={"XDG_DATA_HOME": str(tmp_path / "data")})
    found = sorted(sessions(machine), key=lambda session: session.id)
    assert [session.title for session in found] == [f"Crates of depot {number}" for number in range(3)]
    last = found[-1]
    assert (last.agent, last.project, last.model, last.messages, last.updated) == ("opencode", "/yard/depot2", "m", 3, 1795768494.002)
    assert last.address == f"{tmp_path}/data/opencode/opencode.db#ses_0002"
    document = json.loads(read_session(last))
    assert document["info"]["id"] == "ses_0002" and [len(message["parts"]) for message in document["messages"]] == [1, 3, 1]


def test_files_of_an_old_opencode_are_one_session_until_a_database_has_it(tmp_path: Path) -> None:
    data = tmp_path / ".local/share/opencode"
    session = write_opencode_files(data / "storage")
    (found,) = sessions(Machine.of(tmp_path), "opencode-files")
    assert (found.title, found.address) == ("Count the crates", str(session))
    document = json.loads(read_session(found))
    assert [message["info"]["id"] for message in document["messages"]] == ["msg_2", "msg_1"]
    assert [part["id"] for part in document["messages"][1]["parts"]] == ["prt_1", "prt_2"]
    before = found.updated
    os.utime(data / "storage/message/ses_1", (2e9, 2e9))
    assert before != sessions(Machine.of(tmp_path), "opencode-files")[0].updated == 2e9
    (data / "storage/part/msg_1/prt_2.json").write_text("{")
    with pytest.raises(DocumentError, match=r"prt_2\.json is not a JSON object"):
        read_session(found)
    create(data / "opencode.db", 1)
    assert not sessions(Machine.of(tmp_path), "opencode-files")


CONTEXT = {"id": "c", "type": "user", "content": [{"text": "<session_context>\nThis is the Gemini CLI."}]}
HEAD = {"sessionId": "s", "projectHash": "p", "startTime": "2026-11-26T10:00:00Z", "kind": "main"}


@pytest.mark.parametrize("asked", [False, True])
def test_a_session_in_which_nobody_asked_is_not_listed(asked: bool, tmp_path: Path) -> None:
    said: dict[str, object] = {"id": "u", "type": "user", "content": [{"text": "Count the crates"}]}
    told: dict[str, object] = {"id": "i", "type": "info", "content": "Update available"}
    path = tmp_path / ".gemini/tmp/p/chats/session-1.jsonl"
    write_lines(path, [HEAD, {"$set": {"messages": [CONTEXT]}}, told, *([said] if asked else [])])
    write_lines(path.with_name("session-2.json"), [{**HEAD, "messages": [CONTEXT, *([said] if asked else [])]}])
    assert len(sessions(Machine.of(tmp_path), "gemini-cli")) == 2 * asked


def test_a_place_that_cannot_be_read_does_not_hide_the_others(tmp_path: Path) -> None:
    write_lines(tmp_path / ".claude/projects/p/a.jsonl", CLAUDE)
    (tmp_path / ".local/share/opencode").mkdir(parents=True)
    (tmp_path / ".local/share/opencode/opencode.db").write_bytes(b"SQLite format 3\0" + b"x" * 4096)
    found = list(sessions_in(find_stores(Machine.of(tmp_path))))
    assert [type(each).__name__ for each in found] == ["Session", "DocumentError"]


def test_an_unknown_agent_is_one_sentence() -> None:
    with pytest.raises(DocumentError, match="There is no agent “nobody”; choose one of claude-code, "):
        get_store("nobody")
