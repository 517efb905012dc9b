"""The settings that each agent gets, and the commands in them: check a session, copy it, open it."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from glob import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chainviz.api.chain import Chain, Result
from chainviz.api.sessions import sessions
from chainviz.core.backup_names import STAMP
from chainviz.core.errors import ChainError, DocumentError, OptionsError, Refused
from chainviz.core.sources import Session, read_session
from chainviz.core.sources.machine import Home
from chainviz.fixes.backups import content_of
from chainviz.fixes.fix import fix_session
from chainviz.fixes.stored_session import fix_address
from chainviz.integrations.changes import FileChange, insertion, read_settings
from chainviz.locations import data_folder


def event_of(text: str) -> dict[str, Any]:
    """Read what an agent writes to the standard input of a hook; {} for anything else."""
    try:
        event = json.loads(text)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def check(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Return what to tell the person about a session that is resumed; "" if its API accepts it or it cannot be read."""
    try:
        address = _address(agent, event, session_id)
        if "transcript_path" in event:
            path, content = _resumed(agent, Path(address))
            address, fixed = str(path), [fix_session(content, str(path), _report)]
        else:
            fixed = list(fix_address(address, _report).sessions)
    except ChainError:
        return ""
    is_changed, has_left = any(each.is_changed for each in fixed), any(each.has_errors_left for each in fixed)
    if not is_changed and not has_left:
        return ""
    cause = next((line for session in fixed for line in session.sentences), "")
    todo = f"Quit and run: chainviz fix {address}" if is_changed else f"No fix removes all errors: chainviz check {address}"
    return f"chainviz: the API would refuse this session. {cause} {todo}"


def _resumed(agent: str, path: Path) -> tuple[Path, bytes]:
    """Return the file of the session that an agent resumes, and its content from before.

    Gemini CLI writes a header and an empty history before it runs the hook: into the session's file if that was written in the same minute,
    else into a new file with the same id, which is the one that the event names.
    """
    content = content_of(path)
    if agent != "gemini-cli":
        return path, content
    place = content.rfind(b'\n{"sessionId":')
    if place >= 0:
        return path, content[: place + 1]
    named = path.parent.glob(f"session-*-{escape(path.stem[-8:])}.json*")
    earlier = [each for each in named if each != path and each.suffix in (".json", ".jsonl")]
    newest = max(earlier, key=lambda each: each.stat().st_mtime_ns, default=path)
    return newest, content_of(newest)


def _report(before: Chain, result: Result) -> list[str]:
    return [row.reason for row in result.report]


def copy(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Copy a session before it is compacted, and return where the copy is. Raises ChainError.

    Earlier copies with which this one begins are deleted: some agents run the hook before every request.
    """
    address = _address(agent, event, session_id)
    content = content_of(Path(address)) if "transcript_path" in event else read_session(_session(agent, session_id))
    name = Path(address.rpartition("#")[2] or address)
    folder = data_folder() / "copies" / agent
    path = folder / f"{name.stem}.{datetime.now().strftime(STAMP)}{name.suffix or '.json'}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        earlier = [each for each in folder.glob(f"{escape(name.stem)}.*") if content.startswith(each.read_bytes())]
        path.touch(mode=0o600)
        path.write_bytes(content)
        for each in earlier:
            each.unlink()
    except OSError as error:
        raise DocumentError(f"{path} cannot be written: {error.strerror or error}.") from None
    return str(path)


def newest_here(agent: str, folder: Path) -> Session:
    """Return the session of an agent that was changed last in a folder. Raises DocumentError if there is none."""
    here = [each for each in sessions(agent) if each.project and Path(each.project) == folder]
    if not here:
        raise DocumentError(f"There is no session of {agent} in {folder}.")
    return here[0]


def _address(agent: str, event: dict[str, Any], session_id: str) -> str:
    """Return the address of the session that a hook is about."""
    path = event.get("transcript_path")
    return path if isinstance(path, str) and path else _session(agent, session_id).address


def _session(agent: str, session_id: str) -> Session:
    found = next((each for each in sessions(agent) if each.id == session_id), None)
    if found is None:
        raise DocumentError(f"There is no session “{session_id[:80]}” of {agent}.")
    return found


SECONDS = 60
"""The seconds that an agent waits for a hook."""
Added = tuple[tuple[str, ...], Any]
"""A path in a settings file, and the value there."""


@dataclass(frozen=True)
class Integration:
    label: str
    files: Callable[[Home, Sequence[str]], Mapping[Path, Sequence[Added] | str]]
    """Returns the additions to each file from the home folder and the command of chainviz. A text is appended, or
    becomes a new file."""
    note: str = ""
    """A sentence on what the person still has to do."""


def chainviz_command() -> list[str]:
    """Return the words that start this chainviz."""
    program = shutil.which("chainviz")
    beside = Path(sys.executable).with_name("chainviz")
    return [str(beside)] if beside.exists() else [program] if program else [sys.executable, "-m", "chainviz"]


def changes_for(agent: str, home: Home) -> list[FileChange]:
    """Work out the changes of an agent's settings. Raises Refused if one has chainviz already or cannot be read."""
    files = get_integration(agent).files(home, chainviz_command())
    return [_change(path, added) for path, added in files.items() if added]


def has_server() -> bool:
    """Return True if the MCP server can run here."""
    return find_spec("mcp") is not None


def get_integration(agent: str) -> Integration:
    if agent not in INTEGRATIONS:
        raise OptionsError(f"There is no integration “{agent[:40]}”; choose one of {', '.join(INTEGRATIONS)}.")
    return INTEGRATIONS[agent]


def _change(path: Path, added: Sequence[Added] | str) -> FileChange:
    before = read_settings(path)
    try:
        text, pieces = before.decode() if before is not None else "", list[str]()
        if isinstance(added, str):
            pieces.append(f"{'' if not text or text.endswith(chr(10)) else chr(10)}{added}")
            return FileChange(path, before, f"{text}{pieces[0]}".encode(), tuple(pieces))
        text = text if text.strip() else "{}\n"
        for keys, value in added:
            found = insertion(text, keys, value)
            text = found.into(text)
            pieces.append(found.text)
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8; nothing was changed.") from None
    except Refused as refused:
        raise Refused(f"{path}: {refused} Nothing was changed.") from None
    return FileChange(path, before, text.encode(), tuple(pieces))


def _hook(command: Sequence[str], act: str, agent: str, matcher: str = "", seconds: int = SECONDS) -> dict[str, Any]:
    run = {"type": "command", "command": shlex.join([*command, "hook", act, agent]), "timeout": seconds}
    return {"matcher": matcher, "hooks": [run]} if matcher else {"hooks": [run]}


def _hooks(command: Sequence[str], agent: str, compaction: str, seconds: int = SECONDS) -> Iterator[Added]:
    yield ("hooks", "SessionStart"), [_hook(command, "check", agent, "resume", seconds)]
    yield ("hooks", compaction), [_hook(command, "copy", agent, "", seconds)]


def _server(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": [*command[1:], "mcp"]}


def _servers(path: tuple[str, ...], value: Any) -> tuple[Added, ...]:
    """Return the MCP server in the settings; nothing if it cannot run."""
    return ((path, value),) if has_server() else ()


def _claude_code(home: Home, command: Sequence[str]) -> Mapping[Path, Sequence[Added] | str]:
    named = home.environment.get("CLAUDE_CONFIG_DIR")
    folder = Path(named) if named else home.path / ".claude"
    state = (folder if named else home.path) / ".claude.json"
    opening = shlex.join([*command, "hook", "open", "claude-code"])
    return {
        folder / "settings.json": tuple(_hooks(command, "claude-code", "PreCompact")),
        state: _servers(("mcpServers", "chainviz"), {"type": "stdio", **_server(command)}),
        folder / "commands" / "chainviz.md": "---\ndescription: Open this session in chainviz\n"
        f"allowed-tools: Bash({opening})\n---\n\n{_link_prompt(f'!`{opening}`')}",
    }


def _codex(home: Home, command: Sequence[str]) -> Mapping[Path, Sequence[Added] | str]:
    folder = Path(home.environment.get("CODEX_HOME") or home.path / ".codex")
    server = _server(command)
    opening = shlex.join([*command, "hook", "open", "codex"])
    table = f"\n[mcp_servers.chainviz]\ncommand = {json.dumps(server['command'])}\nargs = {json.dumps(server['args'])}\n"
    return {
        folder / "hooks.json": tuple(_hooks(command, "codex", "PreCompact")),
        folder / "config.toml": table if has_server() else "",
        folder / "skills" / "chainviz" / "SKILL.md": "---\nname: chainviz\ndescription: Open this session in chainviz, "
        f"when the user asks for it\n---\n\nRun `{opening}` in the project's folder and tell the user the link that it prints.\n",
    }


def _gemini_cli(home: Home, command: Sequence[str]) -> Mapping[Path, Sequence[Added] | str]:
    folder = home.path / ".gemini"
    opening = shlex.join([*command, "hook", "open", "gemini-cli"])
    prompt = _link_prompt(f"!{{{opening}}}")
    return {
        folder / "settings.json": (
            *_hooks(command, "gemini-cli", "PreCompress", SECONDS * 1000),
            *_servers(("mcpServers", "chainviz"), _server(command)),
        ),
        folder / "commands" / "chainviz.toml": f'description = "Open this session in chainviz"\nprompt = """\n{prompt}"""\n',
    }


def _opencode(home: Home, command: Sequence[str]) -> Mapping[Path, Sequence[Added] | str]:
    folder = home.folder("config") / "opencode"
    settings = next((path for name in ("opencode.jsonc", "opencode.json") if (path := folder / name).exists()), folder / "opencode.json")
    opening = shlex.join([*command, "hook", "open", "opencode"])
    return {
        settings: _servers(("mcp", "chainviz"), {"type": "local", "command": [*command, "mcp"]}),
        folder / "plugins" / "chainviz.js": _PLUGIN.replace("COMMAND", json.dumps([*command, "hook"])),
        folder / "commands" / "chainviz.md": f"---\ndescription: Open this session in chainviz\n---\n\n{_link_prompt(f'!`{opening}`')}",
    }


def _link_prompt(output: str) -> str:
    return f"Tell me the link that this printed, and nothing else:\n\n{output}\n"


_PLUGIN = """\
// Added by `chainviz integrate opencode`: checks a session when it is resumed, and copies it before it is compacted.
import { spawnSync } from "node:child_process"

const [program, ...words] = COMMAND
const seen = new Set()

function run(act, session) {
  const done = spawnSync(program, [...words, act, "opencode", "--session", session], { encoding: "utf8", timeout: 60000 })
  try {
    return JSON.parse(done.stdout).systemMessage ?? ""
  } catch {
    return ""
  }
}

export const Chainviz = async ({ client }) => ({
  "chat.message": async ({ sessionID }) => {
    if (seen.has(sessionID)) return
    seen.add(sessionID)
    const message = run("check", sessionID)
    if (message) await client.tui.showToast({ body: { title: "chainviz", message, variant: "warning" } }).catch(() => {})
  },
  "experimental.session.compacting": async ({ sessionID }) => void run("copy", sessionID),
})
"""
INTEGRATIONS: Mapping[str, Integration] = {
    "claude-code": Integration("Claude Code", _claude_code),
    "codex": Integration("Codex", _codex, "Codex runs new hooks only after you reviewed them: type /hooks in Codex."),
    "opencode": Integration("opencode", _opencode),
    "gemini-cli": Integration("Gemini CLI", _gemini_cli),
}
