"""Databases of agents, built by their published schemas: the sessions that they list, and the chains that their documents become."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainviz import load
from chainviz.core.databases import DATABASES
from chainviz.core.databases.text import database_at
from chainviz.core.errors import DocumentError
from chainviz.core.sources import get_store
from tests.core.databases.opencode_database import create
from tests.shared_folder import shared

Build = Callable[[sqlite3.Connection], None]
CALL = {"path": "depot.txt"}


def build_crush(connection: sqlite3.Connection) -> None:
    connection.executescript("""
        CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, message_count INTEGER,
            prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL, updated_at INTEGER, created_at INTEGER, summary_message_id TEXT);
        CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
            updated_at INTEGER, finished_at INTEGER, provider TEXT);
        INSERT INTO sessions VALUES ('s', NULL, 'Depot', 4, 1, 1, 0.5, 1795768490, 1795768489, NULL);""")
    rows = [
        ("user", [{"type": "text", "data": {"text": "How many crates?"}}]),
        (
            "assistant",
            [
                {"type": "reasoning", "data": {"thinking": "Look.", "signature": ""}},
                {"type": "tool_call", "data": {"id": "c", "name": "view", "input": json.dumps(CALL), "finished": True}},
                {"type": "finish", "data": {"reason": "tool_use"}},
            ],
        ),
        ("tool", [{"type": "tool_result", "data": {"tool_call_id": "c", "name": "view", "content": "crates: 4", "is_error": False}}]),
        ("assistant", [{"type": "text", "data": {"text": "There are 4."}}]),
    ]
    for number, (role, parts) in enumerate(rows):
        values = (str(number), "s", role, json.dumps(parts), "m", 1795768489, 1795768489, None, "local")
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def build_goose(connection: sqlite3.Connection) -> None:
    connection.executescript("""
        CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT, created_at TIMESTAMP,
            updated_at TIMESTAMP, total_tokens INTEGER, provider_name TEXT, model_config_json TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, message_id TEXT, session_id TEXT, role TEXT, content_json TEXT,
            created_timestamp INTEGER, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);
        INSERT INTO sessions VALUES
            ('s', 'Depot', '', '/yard', '2026-11-27 08:34:49', '2026-11-27 08:34:50', 9, 'x', '{"model_name": "m"}');""")
    call = {"status": "success", "value": {"name": "view", "arguments": CALL}}
    result = {"status": "success", "value": {"content": [{"type": "text", "text": "crates: 4"}]}}
    rows = [
        ("user", [{"type": "text", "text": "How many crates?"}]),
        ("assistant", [{"type": "thinking", "thinking": "Look.", "signature": ""}, {"type": "toolRequest", "id": "c", "toolCall": call}]),
        ("user", [{"type": "toolResponse", "id": "c", "toolResult": result}]),
        ("assistant", [{"type": "text", "text": "There are 4."}]),
    ]
    for number, (role, content) in enumerate(rows):
        values = (number, f"m{number}", "s", role, json.dumps(content), 1795768489 + number, None, None, "{}")
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def build_hermes(connection: sqlite3.Connection) -> None:
    connection.executescript("""
        CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT, started_at REAL NOT NULL,
            ended_at REAL, title TEXT, cwd TEXT, system_prompt TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT,
            tool_name TEXT, timestamp REAL, finish_reason TEXT, reasoning TEXT);
        INSERT INTO sessions VALUES ('s', 'cli', 'm', NULL, 1795768489.5, 1795768490.0, 'Depot', '/yard', NULL);""")
    call = [{"id": "c", "type": "function", "function": {"name": "view", "arguments": json.dumps(CALL)}}]
    rows = [
        ("user", "How many crates?", None, None, None),
        ("assistant", "", None, json.dumps(call), "Look."),
        ("tool", "crates: 4", "c", None, None),
        ("assistant", "There are 4.", None, None, None),
    ]
    for number, (role, content, id, calls, thought) in enumerate(rows):
        values = (number, "s", role, content, id, calls, None, 1795768489 + number, None, thought)
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def zed_thread() -> dict[str, Any]:
    use = {"id": "c", "name": "view", "raw_input": json.dumps(CALL), "input": CALL, "is_input_complete": True}
    result = {"tool_use_id": "c", "tool_name": "view", "is_error": False, "content": {"Text": "crates: 4"}, "output": None}
    return {
        "title": "Depot",
        "messages": [
            {"User": {"id": "u", "content": [{"Text": "How many crates?"}]}},
            {"Agent": {"content": [{"Thinking": {"text": "Look.", "signature": None}}, {"ToolUse": use}], "tool_results": {"c": result}}},
            {"Agent": {"content": [{"Text": "There are 4."}], "tool_results": {}}},
        ],
        "version": "0.3.0",
    }


def build_zed(connection: sqlite3.Connection) -> None:
    from chainviz.core.databases.json_rows import zstd

    connection.execute("CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT, updated_at TEXT, data_type TEXT, data BLOB)")
    data = zstd.compress(json.dumps(zed_thread()).encode())
    connection.execute("INSERT INTO threads VALUES ('s', 'Depot', '2026-11-27T08:34:50Z', 'zstd', ?)", (data,))


def build_kiro(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, created_at INTEGER, updated_at INTEGER)")
    use = {"id": "c", "name": "view", "args": CALL}
    result = {"tool_use_id": "c", "content": [{"Text": "crates: 4"}], "status": "Success"}
    history = [
        {
            "user": {"content": {"Prompt": {"prompt": "How many crates?"}}},
            "assistant": {"ToolUse": {"message_id": "a", "content": "Look.", "tool_uses": [use]}},
        },
        {
            "user": {"content": {"ToolUseResults": {"tool_use_results": [result]}}},
            "assistant": {"Response": {"message_id": "b", "content": "There are 4."}},
        },
    ]
    value = json.dumps({"conversation_id": "s", "history": history, "transcript": []})
    connection.execute("INSERT INTO conversations_v2 VALUES ('/yard', 's', ?, 1795768489000, 1795768490000)", (value,))


def build_cursor(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
    connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
    tool = {"toolCallId": "c", "name": "view", "rawArgs": json.dumps(CALL), "status": "completed", "result": "crates: 4"}
    bubbles = [
        {"type": 1, "bubbleId": "1", "text": "How many crates?"},
        {"type": 2, "bubbleId": "2", "text": "", "thinking": {"text": "Look.", "signature": ""}},
        {"type": 2, "bubbleId": "3", "text": "", "toolFormerData": tool},
        {"type": 2, "bubbleId": "4", "text": "There are 4."},
    ]
    headers = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in bubbles]
    head = {"composerId": "s", "name": "Depot", "createdAt": 1795768489000, "fullConversationHeadersOnly": headers}
    rows = {"composerData:s": head, **{f"bubbleId:s:{bubble['bubbleId']}": bubble for bubble in bubbles}}
    connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", [(key, json.dumps(value)) for key, value in rows.items()])


def build_cursor_chat(connection: sqlite3.Connection) -> None:
    connection.executescript("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);")
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "view", "args": CALL}
    returned = {"type": "tool-result", "toolCallId": "c", "toolName": "view", "result": "crates: 4"}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "How many crates?"}]},
        {"role": "assistant", "content": [{"type": "reasoning", "text": "Look."}, call]},
        {"role": "tool", "content": [returned]},
        {"role": "assistant", "content": [{"type": "text", "text": "There are 4."}]},
    ]
    blobs = {f"{number:02x}" * 32: json.dumps(message).encode() for number, message in enumerate(messages)}
    folder = b"file:///yard"
    root = b"".join(b"\x0a\x20" + bytes.fromhex(id) for id in blobs) + b"\x28\x90\x4e" + b"\x4a" + bytes([len(folder)]) + folder
    head = {"agentId": "s", "latestRootBlobId": "ff" * 32, "name": "Depot", "createdAt": 1795768490000, "lastUsedModel": "m"}
    connection.executemany("INSERT INTO blobs VALUES (?, ?)", [*blobs.items(), ("ff" * 32, root), ("ee" * 32, b'{"role": "user"}')])
    connection.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(head).encode().hex(),))


def build_forge(connection: sqlite3.Connection) -> None:
    connection.execute("""CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, title TEXT, workspace_id BIGINT, context TEXT,
        created_at TIMESTAMP, updated_at TIMESTAMP, metrics TEXT)""")
    call = {"name": "view", "call_id": "c", "arguments": CALL}
    output = {"is_error": False, "values": [{"text": "crates: 4"}]}
    kept = [
        {"text": {"role": "User", "content": "How many crates?", "raw_content": {"Text": "How many crates?"}}},
        {"text": {"role": "Assistant", "content": "", "tool_calls": [call], "reasoning_details": [{"text": "Look."}]}},
        {"tool": {"name": "view", "call_id": "c", "output": output}},
        {"text": {"role": "Assistant", "content": "There are 4."}},
    ]
    context = json.dumps({"conversation_id": "s", "messages": [{"message": message} for message in kept]})
    times = ("2026-11-27 08:34:49.741021507", "2026-11-27 08:34:50.848497543")
    connection.execute("INSERT INTO conversations VALUES ('s', 'Depot', 1, ?, ?, ?, '{}')", (context, *times))


def build_devin(connection: sqlite3.Connection) -> None:
    connection.executescript("""
        CREATE TABLE sessions (id TEXT PRIMARY KEY, title TEXT, working_directory TEXT, model TEXT, created_at INTEGER,
            last_activity_at INTEGER, hidden INTEGER, main_chain_id INTEGER);
        CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT, node_id INTEGER, parent_node_id INTEGER,
            chat_message TEXT, created_at INTEGER);
        INSERT INTO sessions VALUES ('s', 'Depot', '/yard', 'm', 1795768489, 1795768490, 0, 4);""")
    calls = [{"id": "c", "type": "function", "function": {"name": "view", "arguments": json.dumps(CALL)}}]
    nodes = [
        (1, None, {"role": "user", "content": "How many crates?"}),
        (2, 1, {"role": "assistant", "content": "", "thinking": "Look.", "tool_calls": calls, "metadata": {"metrics": {}}}),
        (3, 2, {"role": "tool", "content": "crates: 4", "tool_call_id": "c"}),
        (5, 3, {"role": "assistant", "content": "A retry that was left."}),
        (4, 3, {"role": "assistant", "content": "There are 4."}),
    ]
    rows = [("s", node, parent, json.dumps(message), 1795768490) for node, parent, message in nodes]
    columns = "session_id, node_id, parent_node_id, chat_message, created_at"
    connection.executemany(f"INSERT INTO message_nodes ({columns}) VALUES (?, ?, ?, ?, ?)", rows)


def build_copilot_traces(connection: sqlite3.Connection) -> None:
    connection.executescript("""
        CREATE TABLE spans (span_id TEXT PRIMARY KEY, trace_id TEXT NOT NULL, parent_span_id TEXT, name TEXT, start_time_ms INTEGER,
            end_time_ms INTEGER, operation_name TEXT, conversation_id TEXT, request_model TEXT, response_model TEXT, chat_session_id TEXT);
        CREATE TABLE span_attributes (span_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT, PRIMARY KEY (span_id, key));
        CREATE TABLE span_events (id INTEGER PRIMARY KEY, span_id TEXT, name TEXT, timestamp_ms INTEGER, attributes TEXT);
        INSERT INTO spans VALUES ('a1', 't1', NULL, 'chat m', 1795768489000, 1795768490000, 'chat', 's', 'm', 'm', NULL);""")
    call = {"type": "tool_call", "id": "c", "name": "view", "arguments": CALL}
    messages = [
        {"role": "user", "parts": [{"type": "text", "content": "How many crates?"}]},
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "Look."}, call]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "crates: 4"}]},
    ]
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": "There are 4."}], "finish_reason": "stop"}]
    values = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages), "gen_ai.output.messages": json.dumps(answer)}
    connection.executemany("INSERT INTO span_attributes VALUES ('a1', ?, ?)", values.items())


BUILDS: dict[str, Build] = {
    "cursor-cli": build_cursor_chat, "forge": build_forge, "devin": build_devin, "copilot-traces": build_copilot_traces,
    "crush": build_crush, "goose": build_goose, "hermes": build_hermes, "zed": build_zed, "kiro-cli": build_kiro, "cursor": build_cursor,
}  # fmt: skip


def built(path: Path, build: Build) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        build(connection)
        connection.commit()
    return path


@pytest.mark.parametrize("agent", BUILDS)
def test_a_session_of_each_database_is_listed_and_read(tmp_path: Path, agent: str) -> None:
    path = built(tmp_path / "agent.db", BUILDS[agent])
    assert database_at(path).agent == agent
    (session,) = get_store(agent).sessions(path)
    assert session.id == "s" and (session.title == "Depot" or session.project == "/yard" or session.model == "m")
    assert session.updated and abs(session.updated - 1795768490) < 2
    for address in (session.address, path):
        (chain,) = load(address)
        roles = [message.role for message in chain.messages if message.parts]
        assert [role for place, role in enumerate(roles) if role != roles[place - 1]] == ["human", "ai", "tool", "ai"]
        parts = [part for message in chain.messages for part in message.parts]
        (call,) = [part for part in parts if type(part).__name__ == "ToolCall"]
        (result,) = [part for part in parts if type(part).__name__ == "ToolResult"]
        assert (call.id, call.name, json.loads(call.arguments)) == ("c", "view", CALL)
        assert (result.call_id, result.content) == ("c", "crates: 4")
        texts = [part.text for part in parts if type(part).__name__ == "Text"]
        assert texts[0] == "How many crates?" and texts[-1] == "There are 4."
        assert not chain.problems() and not chain.unread


def test_a_damaged_chat_of_cursor_is_read_quickly(tmp_path: Path) -> None:
    path = built(tmp_path / "store.db", build_cursor_chat)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE blobs SET data = ? WHERE id = ?", (b"\x0a" + b"\xff" * 2_000_000, "ff" * 32))
        connection.commit()
    (session,) = get_store("cursor-cli").sessions(path)
    assert (session.id, session.messages) == ("s", 1)


def test_open_webui_follows_the_path_to_the_last_message(tmp_path: Path) -> None:
    def build(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat TEXT, created_at INTEGER, updated_at INTEGER)")
        messages = {
            "a": {"id": "a", "parentId": None, "childrenIds": ["b", "c"], "role": "user", "content": "How many crates?"},
            "b": {"id": "b", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "Three."},
            "c": {"id": "c", "parentId": "a", "childrenIds": [], "role": "assistant", "content": "There are 4."},
        }
        chat = {"title": "Depot", "history": {"messages": messages, "currentId": "c"}, "messages": []}
        connection.execute("INSERT INTO chat VALUES ('s', 'u', 'Depot', ?, 1795768489, 1795768490)", (json.dumps(chat),))

    path = built(tmp_path / "webui.db", build)
    (session,) = get_store("open-webui").sessions(path)
    (chain,) = load(session.address)
    assert [part.text for message in chain.messages for part in message.parts] == ["How many crates?", "There are 4."]


def test_a_real_database_of_crush(capsys: pytest.CaptureFixture[str]) -> None:
    path = shared("transcripts") / "agents/crush/dbos-inc__crush.db"
    if not path.exists():
        pytest.skip("the shared folder is not here")
    sessions = get_store("crush").sessions(path)
    assert sorted(session.messages or 0 for session in sessions) == [4, 78]
    chains = load(path)
    assert len(chains) == 2 and all(not chain.unread for chain in chains)
    assert sum(len(chain.messages) for chain in chains) == 79, "three answers failed before their first word"


def test_no_database_is_taken_for_another(tmp_path: Path) -> None:
    for agent, build in BUILDS.items():
        path = built(tmp_path / f"{agent}.db", build)
        mine = [database.agent for database in DATABASES if database_at(path) is database]
        assert mine == [agent]


def test_a_database_of_no_agent_names_its_tables(tmp_path: Path) -> None:
    path = built(tmp_path / "songs.db", lambda connection: connection.execute("CREATE TABLE songs (title)") and None)
    with pytest.raises(
        DocumentError, match=r"an SQLite database with other tables \(it has songs\) than those that chainviz reads: opencode, "
    ):
        load(path)


def test_a_view_is_no_table(tmp_path: Path) -> None:
    """A query of a view could run for ever."""
    path = tmp_path / "opencode.db"
    create(path, log=False)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE part RENAME TO rest")
        connection.execute("CREATE VIEW part AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM rest, n")
        connection.commit()
    with pytest.raises(DocumentError, match="other tables"):
        load(path)
