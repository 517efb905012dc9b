"""Complete a converted chain to a session that an agent resumes: its head, ids, times and links, and where the agent looks.

The messages keep the bytes that the conversion wrote; only what the agent needs beside them is added.
The tests of tests/agents run the versions of agents that are named here. To renew one, change it and run `make test-agents`: a session
that was handed off or fixed must still resume. That of Claude Code is from its real sessions, since no test can run it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Array, Object, dump, load_object, parse
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.errors import Refused

CLAUDE_CODE = "2.0.14"
CODEX = "0.171.0"
GEMINI_CLI = "0.61.0"
KILO = "7.7.9"
KIMI_CODE = "2.1.0"
OPENCODE = "1.18.33"
PI = "0.73.1"
QWEN_CODE = "0.24.4"


LONGEST_FOLDER = 200
"""The longest folder name, in characters, that Claude Code does not shorten by its own rules."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """The facts of the session that no message has."""

    id: str
    """The id of the session, a UUID."""
    folder: str
    """The absolute path of the project that the agent works in."""
    at: datetime
    """The time of the hand-off, in UTC; messages get times just before it, in their order."""
    model: str = ""
    """For opencode: the provider and the model to go on with, as `anthropic/claude-sonnet-4-5`."""

    @property
    def short_id(self) -> str:
        return self.id.replace("-", "")

    def time_of(self, place: int, count: int) -> datetime:
        return self.at - timedelta(milliseconds=count - place)


@dataclass(frozen=True, slots=True)
class Target:
    """An agent that can take over a session."""

    agent: str
    label: str
    format: str
    provider: str
    """The provider whose reasoning and call ids the session may have; "" if any provider may follow, so that no
    reasoning is kept."""
    variable: str
    """The environment variable that moves the agent's folder; "" if the agent itself imports the file."""
    home: str
    """The agent's folder below the person's home folder."""
    path: Callable[[NewSession], str]
    """Where the session belongs, below the agent's folder."""
    write: Callable[[str, NewSession], str]
    """Complete the document of the conversion."""
    command: Callable[[NewSession, str], str]
    """The command that resumes the session, from its facts and the path of its file."""


def iso(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03d}Z"


# Codex: a head, and beside each text a line that its screen shows.


_CODEX_SHOWN = {"user": "user_message", "assistant": "agent_message"}


def _codex(document: str, session: NewSession) -> str:
    """Write the session in the form that every version of Codex reads: lines in their order, without ordinals, since those
    need `history_mode`. It names no provider of models: Codex refuses to resume a session with another one than its settings."""
    head = {
        "id": session.id,
        "timestamp": iso(session.at),
        "cwd": session.folder,
        "originator": "chainviz",
        "cli_version": CODEX,
        "source": "cli",
    }
    lines = [dump({"type": "session_meta", "payload": head})]
    for line in filter(None, document.split("\n")):
        lines.append(line)
        lines += _codex_event(parse(line).get("payload", {}))
    return "".join(f"{_timed(line, session.time_of(place, len(lines)))}\n" for place, line in enumerate(lines))


def _codex_event(item: Mapping[str, Any]) -> Iterator[str]:
    event = _CODEX_SHOWN.get(str(item.get("role")))
    texts = [part["text"] for part in item.get("content") or () if type(part.get("text")) is str]
    if event and texts:
        yield dump({"type": "event_msg", "payload": {"type": event, "message": "\n".join(texts)}})


def _timed(line: str, time: datetime) -> str:
    value = load_object(line)
    if "ordinal" in value:
        value.remove("ordinal")
    value.set_first("timestamp", dump(iso(time)), "type")
    return str(value)


def _codex_path(session: NewSession) -> str:
    return f"sessions/{session.at:%Y/%m/%d}/rollout-{session.at:%Y-%m-%dT%H-%M-%S}-{session.id}.jsonl"


# Claude Code and Qwen Code: each line names the session, its project and its version, and the line before it.


_NO_USAGE = dump({"input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0})


def _claude_code(document: str, session: NewSession) -> str:
    shared = {
        "isSidechain": False,
        "userType": "external",
        "cwd": session.folder,
        "sessionId": session.id,
        "version": CLAUDE_CODE,
        "gitBranch": "",
    }
    lines = list(_linked(document, session, shared))
    for value in lines:
        if value.get("type") == "assistant":
            _answer(value.child("message"))
    return "".join(f"{value}\n" for value in lines)


def _qwen_code(document: str, session: NewSession) -> str:
    shared = {"sessionId": session.id, "cwd": session.folder, "version": QWEN_CODE}
    return "".join(f"{value}\n" for value in _linked(document, session, shared))


def _linked(document: str, session: NewSession, shared: Mapping[str, Any]) -> Iterator[Object]:
    """Yield the lines with the members that all share, each linked to the one before it."""
    lines = [line for line in document.split("\n") if line]
    parent = "null"
    for place, line in enumerate(lines):
        value = load_object(line)
        for key, fact in shared.items():
            value.set(key, dump(fact), after="parentUuid")
        value.set("parentUuid", parent)
        parent = dump(uuid_of(f"{session.id} {place}"))
        value.set("uuid", parent)
        value.set("timestamp", dump(iso(session.time_of(place, len(lines)))))
        yield value


def _answer(message: json_edit.Value) -> None:
    """Add what an answer of the API has; the model's name says that no call of this session made it."""
    assert isinstance(message, Object)
    for key, text in (("model", '"<synthetic>"'), ("stop_reason", "null"), ("stop_sequence", "null"), ("usage", _NO_USAGE)):
        if key not in message:
            message.set(key, text)


def _claude_path(session: NewSession) -> str:
    folder = _folder_name(session)
    if len(folder) > LONGEST_FOLDER:
        raise Refused(f"The path {session.folder[:80]}… is too long: Claude Code keeps its sessions under a name that is made of it.")
    return f"projects/{folder}/{session.id}.jsonl"


def _folder_name(session: NewSession) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", session.folder)


# Gemini CLI: a head, and times. It imports the file, since only it knows the name of the folder that it gives a project.


def _gemini_cli(document: str, session: NewSession) -> str:
    at = iso(session.at)
    project = sha256(session.folder.encode("utf-8", "surrogateescape")).hexdigest()
    head = {"sessionId": session.id, "projectHash": project, "startTime": at, "lastUpdated": at, "kind": "main"}
    values = [load_object(line) for line in document.split("\n") if line]
    values = [value for value in values if value.get("type") in ("user", "gemini")]
    for place, value in enumerate(values):
        value.set("id", dump(uuid_of(f"{session.id} {place}")))
        value.set("timestamp", dump(iso(session.time_of(place, len(values)))))
    return "".join(f"{line}\n" for line in (dump(head), *values))


# opencode: ids that sort in the order of the messages, since opencode reads them in that order; each answer names its question.


def _opencode(document: str, session: NewSession) -> str:
    value = load_object(document)
    head, messages = value.child("info"), value.child("messages")
    assert isinstance(head, Object) and isinstance(messages, Array)
    time = int(session.at.timestamp() * 1000)
    facts: dict[str, Any] = {
        "id": _session_id(session),
        "slug": f"hand-off-{session.short_id[:8]}",
        "directory": session.folder,
        "title": "Handed-off session",
        "version": OPENCODE,
        "time": {"created": time, "updated": time},
    }
    for key, fact in facts.items():
        head.set(key, dump(fact))
    asked = ""
    count = len(messages)
    for place in range(count):
        message = messages.child(place)
        assert isinstance(message, Object)
        asked = _opencode_message(message, _Turn(session, place, time - count + place, asked))
    return str(value)


@dataclass(frozen=True, slots=True)
class _Turn:
    """The place of a message of opencode."""

    session: NewSession
    place: int
    time: int
    """The time in milliseconds since 1970."""
    asked: str
    """The id of the last message of the person."""

    @property
    def id(self) -> str:
        return f"msg_{self.place:06d}{self.session.short_id[:20]}"


def _opencode_message(message: Object, turn: _Turn) -> str:
    """Complete a message, and return the id of the person's message that the next answer belongs to."""
    info, parts = message.child("info"), message.child("parts")
    assert isinstance(info, Object) and isinstance(parts, Array)
    provider, _, model = (turn.session.model or "unknown/unknown").partition("/")
    is_answer = info.get("role") == "assistant"
    time = {"created": turn.time, "completed": turn.time} if is_answer else {"created": turn.time}
    facts: dict[str, Any] = {"id": turn.id, "sessionID": _session_id(turn.session), "time": time}
    if is_answer:
        calls = any(parse(parts.raw(place)).get("type") == "tool" for place in range(len(parts)))
        facts |= {"modelID": model, "providerID": provider, "parentID": turn.asked or turn.id, "finish": "tool-calls" if calls else "stop"}
        facts["path"] = {"cwd": turn.session.folder, "root": turn.session.folder}
    else:
        facts["model"] = {"providerID": provider, "modelID": model}
    for key, fact in facts.items():
        info.set(key, dump(fact))
    for place in range(len(parts)):
        part = parts.child(place)
        assert isinstance(part, Object)
        part.set("id", dump(f"prt_{turn.place:06d}{place:04d}{turn.session.short_id[:16]}"))
        part.set("messageID", dump(turn.id))
        part.set("sessionID", dump(_session_id(turn.session)))
    return turn.asked if is_answer else turn.id


def _session_id(session: NewSession) -> str:
    return f"ses_{session.short_id[:26]}"


TARGETS: Mapping[str, Target] = {
    target.agent: target
    for target in (
        Target(
            agent="codex", label="Codex", format="codex_rollout", provider="openai-responses", variable="CODEX_HOME", home=".codex",
            path=_codex_path, write=_codex, command=lambda session, file: f"codex resume {session.id}",
        ),
        Target(
            agent="claude-code", label="Claude Code", format="claude_code", provider="anthropic", variable="CLAUDE_CONFIG_DIR",
            home=".claude", path=_claude_path, write=_claude_code, command=lambda session, file: f"claude --resume {session.id}",
        ),
        Target(
            agent="gemini-cli", label="Gemini CLI", format="gemini_cli", provider="gemini-2.5", variable="", home="",
            path=lambda session: f"gemini-cli-{session.id}.jsonl", write=_gemini_cli,
            command=lambda session, file: f"gemini --session-file {file}",
        ),
        Target(
            agent="qwen-code", label="Qwen Code", format="qwen_code", provider="", variable="QWEN_HOME", home=".qwen",
            path=lambda session: f"projects/{_folder_name(session)}/chats/{session.id}.jsonl", write=_qwen_code,
            command=lambda session, file: f"qwen --resume {session.id}",
        ),
        Target(
            agent="opencode", label="opencode", format="opencode", provider="", variable="", home="",
            path=lambda session: f"opencode-{_session_id(session)}.json", write=_opencode,
            command=lambda session, file: f"opencode import {file} && opencode --session {_session_id(session)}",
        ),
    )
}  # fmt: skip
