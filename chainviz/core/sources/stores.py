"""The agents whose sessions chainviz finds: their folders, and the variables that move these."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from chainviz.core.databases import (
    COPILOT_TRACES,
    CRUSH,
    CURSOR,
    CURSOR_CHAT,
    DEVIN,
    FORGE,
    GOOSE,
    HERMES,
    KILO,
    KIRO_CLI,
    MIMO,
    OPEN_WEBUI,
    OPENCODE,
    ZED,
)
from chainviz.core.documents import opencode_storage
from chainviz.core.documents.json.edit import decode
from chainviz.core.sources.contract import Store
from chainviz.core.sources.machine import Place
from chainviz.core.sources.store_kinds import CrushStore, DatabaseStore, FileStore, OpencodeFiles, folder_name, stem

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
"""Editors that are Visual Studio Code, by the names of their folders."""


def _in_editors(below: str, *editors: str) -> tuple[Place, ...]:
    return tuple(Place(f"{{apps}}/{editor}/User/{below}") for editor in editors or _EDITORS)


def _tasks(agent: str, label: str, extension: str, *elsewhere: Place) -> FileStore:
    """Return the store of Cline or an agent made from it: a folder for each task."""
    places = (*_in_editors(f"globalStorage/{extension}/tasks"), *elsewhere)
    letters = "Kl" if agent == "kilo-tasks" else ""
    return FileStore(agent, label, places, ("*/api_conversation_history.json", "*/*.messages.json"), name=folder_name, letters=letters)


def _claude_parent(path: Path) -> str:
    """Return the parent of a subagent, which is in a folder of its session, or, in older versions, beside it."""
    return path.parents[1].name if path.parent.name == "subagents" else ""


def _workspace(path: Path) -> str:
    """Return the folder that is open in the window of a chat of VS Code; "" for a window without a folder, or with several."""
    try:
        opened = decode((path.parents[1] / "workspace.json").read_text("utf-8", "replace"))
    except OSError:
        return ""
    folder = opened.get("folder") if isinstance(opened, dict) else None
    path_of_url = unquote(urlsplit(folder).path) if isinstance(folder, str) else ""
    return path_of_url[1:] if path_of_url[2:3] == ":" else path_of_url  # /c:/work


def _project_root(path: Path) -> str:
    """Return the folder that Gemini CLI notes beside the chats of a project."""
    try:
        return (path.parents[1] / ".project_root").read_text("utf-8", "replace").strip()
    except OSError:
        return ""


def _after_session(path: Path) -> str:
    return path.parents[2].name


def _is_unasked(content: bytes) -> bool:
    """Return True if a file of Gemini CLI contains no message but the one with the context, which it writes when it starts. Gemini CLI
    does not list such a session either."""
    text = content.decode("utf-8", "replace")
    records = [decode(text)] if decode(text) is not None else [decode(line) for line in text.splitlines() if line.strip()]
    return all(isinstance(record, dict) and not any(map(_is_said, _messages_in(record))) for record in records)


def _messages_in(record: dict[str, Any]) -> list[Any]:
    changes = record.get("$set")
    held = (changes if isinstance(changes, dict) else record).get("messages", [record])
    return held if isinstance(held, list) else []


def _is_said(message: Any) -> bool:
    is_turn = isinstance(message, dict) and message.get("type", "user") in ("user", "gemini") and bool(message.get("content"))
    return is_turn and "<session_context>" not in str(message["content"])[:200]


STORES: tuple[Store, ...] = (
    FileStore(
        "claude-code",
        "Claude Code",
        (Place("{home}/.claude/projects", "CLAUDE_CONFIG_DIR", "projects"),),
        ("*/*.jsonl", "*/*/subagents/agent-*.jsonl"),
        started_by=_claude_parent,
        letters="CC",
        formats=("claude_code",),
        in_projects=True,
    ),
    FileStore(
        "claude-cowork",
        "Claude Cowork",
        (Place("{apps}/Claude/local-agent-mode-sessions"),),
        ("**/.claude/projects/*/*.jsonl",),
        letters="Cw",
    ),
    FileStore(
        "codex",
        "Codex",
        (
            Place("{home}/.codex/sessions", "CODEX_HOME", "sessions"),
            Place("{home}/.codex/archived_sessions", "CODEX_HOME", "archived_sessions"),
        ),
        ("**/rollout-*.jsonl", "**/rollout-*.jsonl.zst"),
        letters="Cx",
        formats=("codex_rollout",),
    ),
    FileStore(
        "gemini-cli",
        "Gemini CLI",
        (Place("{home}/.gemini/tmp", "GEMINI_CLI_HOME", ".gemini/tmp"),),
        ("*/chats/session-*.json", "*/chats/session-*.jsonl", "*/chats/*/*.jsonl"),
        project=_project_root,
        is_empty=_is_unasked,
        letters="G",
        formats=("gemini_cli",),
    ),
    FileStore(
        "qwen-code",
        "Qwen Code",
        (Place("{home}/.qwen/projects", "QWEN_HOME", "projects"),),
        ("*/chats/*.jsonl",),
        formats=("qwen_code",),
        in_projects=True,
    ),
    FileStore(
        "kimi-code",
        "Kimi Code",
        (Place("{home}/.kimi-code/sessions", "KIMI_CODE_HOME", "sessions"),),
        ("*/*/agents/*/wire.jsonl",),
        name=_after_session,
        formats=("kimi_code",),
    ),
    FileStore(
        "kimi-cli",
        "Kimi CLI",
        (Place("{home}/.kimi/sessions", "KIMI_SHARE_DIR", "sessions"),),
        ("*/*/context.jsonl",),
        name=folder_name,
        formats=("kimi_cli",),
    ),
    FileStore(
        "pi", "pi", (Place("{home}/.pi/agent/sessions", "PI_CODING_AGENT_DIR", "sessions"),), ("**/*.jsonl",), formats=("pi_session",)
    ),
    FileStore("omp", "oh-my-pi", (Place("{home}/.omp/agent/sessions"),), ("**/*.jsonl",)),
    FileStore(
        "openclaw", "OpenClaw", (Place("{home}/.openclaw/agents", "OPENCLAW_STATE_DIR", "agents"),), ("*/sessions/*.jsonl",), letters="Oc"
    ),
    FileStore(
        "copilot-cli",
        "Copilot CLI",
        (Place("{home}/.copilot/session-state", "COPILOT_HOME", "session-state"),),
        ("*/events.jsonl", "*.jsonl"),
        name=lambda path: folder_name(path) if path.name == "events.jsonl" else stem(path),
        formats=("copilot_cli",),
    ),
    FileStore(
        "copilot-chat",
        "VS Code Copilot Chat",
        (*_in_editors("workspaceStorage"), *_in_editors("globalStorage/emptyWindowChatSessions")),
        ("*/chatSessions/*.json", "*/chatSessions/*.jsonl", "*.json", "*.jsonl"),
        project=_workspace,
        letters="VS",
        formats=("copilot_chat", "vscode_chat_log"),
    ),
    FileStore(
        "droid",
        "Factory Droid",
        (Place("{home}/.factory/sessions"),),
        ("*.jsonl", "*/*.jsonl"),
        formats=("droid_session",),
        in_projects=True,
    ),
    FileStore("amp", "Amp", (Place("{data}/amp/threads"),), ("T-*.json",), formats=("amp",)),
    _tasks("cline", "Cline", "saoudrizwan.claude-dev", Place("{home}/.cline/data/tasks"), Place("{home}/.cline/data/sessions")),
    _tasks("roo-code", "Roo Code", "rooveterinaryinc.roo-cline"),
    _tasks("kilo-tasks", "Kilo Code (tasks)", "kilocode.kilo-code"),
    FileStore(
        "continue",
        "Continue",
        (Place("{home}/.continue/sessions", "CONTINUE_GLOBAL_DIR", "sessions"),),
        ("*.json",),
        is_left_out=lambda path: path.name == "sessions.json",
        formats=("continue_dev",),
    ),
    FileStore(
        "openhands",
        "OpenHands",
        (Place("{home}/.openhands/conversations"), Place("{home}/.openhands/sessions")),
        ("*/events",),
        name=folder_name,
        letters="OH",
        formats=("openhands",),
    ),
    FileStore(
        "cursor-agent",
        "Cursor agent",
        (Place("{home}/.cursor/projects"),),
        ("*/agent-transcripts/**/*.jsonl",),
        formats=("cursor_agent",),
        in_projects=True,
    ),
    FileStore("goose-files", "goose (files)", (Place("{data}/goose/sessions"), Place("{apps}/Block/goose/data/sessions")), ("*.jsonl",)),
    FileStore(
        "hermes-files",
        "Hermes Agent (files)",
        (Place("{home}/.hermes/sessions", "HERMES_HOME", "sessions"),),
        ("*.jsonl", "session_*.json"),
    ),
    FileStore("kiro-files", "Kiro CLI (files)", (Place("{home}/.kiro/sessions/cli"),), ("*.jsonl",), letters="Kr"),
    FileStore(
        "grok-build",
        "Grok Build",
        (Place("{home}/.grok/sessions"),),
        ("*/*/chat_history.jsonl",),
        name=folder_name,
        formats=("grok_build",),
    ),
    FileStore(
        "antigravity",
        "Antigravity",
        tuple(Place(f"{{home}}/.gemini/antigravity{ending}/brain") for ending in ("", "-cli", "-ide")),
        ("*/.system_generated/logs/transcript.jsonl",),
        name=_after_session,
        formats=("antigravity",),
    ),
    FileStore(
        "vibe", "Mistral Vibe", (Place("{home}/.vibe/logs/session", "VIBE_HOME", "logs/session"),), ("*/messages.jsonl",), name=folder_name
    ),
    FileStore("gptme", "gptme", (Place("{data}/gptme/logs", "GPTME_LOGS_HOME"),), ("*/conversation.jsonl",), name=folder_name),
    FileStore("iflow", "iFlow", (Place("{home}/.iflow/projects"),), ("*/*.jsonl",), in_projects=True),
    FileStore("qoder", "Qoder", (Place("{home}/.qoder/projects"),), ("*/*.jsonl",), in_projects=True),
    FileStore("workbuddy", "WorkBuddy", (Place("{home}/.workbuddy/projects"),), ("*/*.jsonl",), in_projects=True),
    FileStore("trae-cli", "Trae CLI", (Place("{home}/.trae/cli/sessions"),), ("**/rollout-*.jsonl",)),
    OpencodeFiles("opencode-files", opencode_storage.LABEL, (Place("{data}/opencode/storage/session"),), ("*/*.json",), letters="oc"),
    DatabaseStore(OPENCODE, Place("{data}/opencode/opencode*.db"), Place("", "OPENCODE_DB")),
    DatabaseStore(KILO, Place("{data}/kilo/kilo*.db"), Place("", "KILO_DB")),
    DatabaseStore(MIMO, Place("{data}/mimocode/mimocode*.db")),
    DatabaseStore(GOOSE, Place("{data}/goose/sessions/sessions.db"), Place("{apps}/Block/goose/data/sessions/sessions.db")),
    DatabaseStore(HERMES, Place("{home}/.hermes/state.db", "HERMES_HOME", "state.db"), Place("{home}/.hermes/profiles/*/state.db")),
    DatabaseStore(ZED, Place("{local}/zed/threads/threads.db"), Place("{local}/Zed/threads/threads.db")),
    DatabaseStore(KIRO_CLI, Place("{local}/kiro-cli/data.sqlite3")),
    DatabaseStore(CURSOR, *_in_editors("globalStorage/state.vscdb", "Cursor"), *_in_editors("workspaceStorage/*/state.vscdb", "Cursor")),
    DatabaseStore(CURSOR_CHAT, Place("{home}/.cursor/chats/*/*/store.db")),
    DatabaseStore(FORGE, Place("{home}/.forge/.forge.db", "FORGE_CONFIG", ".forge.db"), Place("{home}/forge/.forge.db")),
    DatabaseStore(DEVIN, Place("{local}/devin/sessions.db"), Place("{local}/devin/cli/sessions.db")),
    DatabaseStore(COPILOT_TRACES, *_in_editors("globalStorage/github.copilot-chat/agent-traces.db")),
    DatabaseStore(OPEN_WEBUI, Place("", "DATA_DIR", "webui.db")),
    CrushStore(CRUSH, Place("{data}/crush/projects.json", "CRUSH_GLOBAL_DATA", "projects.json"), Place("{local}/crush/projects.json")),
)
