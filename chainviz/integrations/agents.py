"""The settings that each agent gets: hooks that check and copy sessions, a command that opens one, and the MCP server."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from chainviz.core.errors import OptionsError, Refused
from chainviz.core.sources.machine import Home
from chainviz.integrations.changes import FileChange, insertion, read_settings

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
