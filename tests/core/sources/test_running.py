"""Whether the agent of a session runs, from the list of processes that Linux keeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chainviz.core.sources.contract import Process, Session, agent_process


def add_process(processes: Path, number: int, folder: str, *words: str) -> None:
    process = processes / str(number)
    process.mkdir(parents=True)
    (process / "cwd").symlink_to(folder)
    (process / "cmdline").write_bytes("\0".join(words).encode() + b"\0")


def test_the_program_of_the_agent_in_the_working_folder_runs_the_session(tmp_path: Path) -> None:
    session = Session("claude-code", "s", tmp_path / "s.jsonl", project="/yard/north")
    add_process(tmp_path / "proc", 7, "/yard/north", "/usr/bin/vim", "notes about claude.md")
    add_process(tmp_path / "proc", 8, "/yard/south", "/usr/bin/node", "/opt/bin/claude")
    assert agent_process(session, tmp_path / "proc") is None
    add_process(tmp_path / "proc", 9, "/yard/north", "/usr/bin/node", "--max-old-space-size=4096", "/opt/bin/claude")
    assert agent_process(session, tmp_path / "proc") == Process(9, "node claude")
    assert agent_process(Session("codex", "s", session.path, project="/yard/north"), tmp_path / "proc") is None


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system lists no processes")
def test_a_process_that_has_the_file_open_runs_the_session(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("{}\n")
    command = [sys.executable, "-c", "import sys; file = open(sys.argv[1]); print(flush=True); sys.stdin.read()", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout and agent.stdout.readline()
        process = agent_process(Session("codex", "s", path))
        agent.communicate("")
    assert process and process.number == agent.pid
