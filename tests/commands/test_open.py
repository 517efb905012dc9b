"""`chainviz open`: the page of a session, with a server that runs and without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import ROOT
from tests.commands.test_serve import Server, environment
from tests.core.databases.opencode_database import create
from tests.waiting import PATIENCE


def opened(folder: Path, home: Path, *words: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "chainviz", "open", "--no-browser", *words], cwd=ROOT,
        env=environment(folder, HOME=str(home), XDG_DATA_HOME="", **changes), capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip


def test_a_server_that_runs_shows_the_session(folder: Path, tmp_path: Path) -> None:
    create(tmp_path / ".local/share/opencode/opencode.db", 2)
    server = Server([sys.executable, "-m", "chainviz"], folder)
    done = opened(folder, tmp_path, "ses_0001")
    address = done.stdout.strip()
    site = f"http://127.0.0.1:{server.port}"
    assert done.returncode == 0 and address.startswith(f"{site}/c/"), done.stderr
    status, _, page = server.get(address.removeprefix(site))
    assert status == 200 and "Crates of depot 1" in page
    assert opened(folder, tmp_path, "0001").stdout.strip() == address, "a part of the id opens the same chain"
    assert server.stop() == 0


def test_what_cannot_be_opened_is_told(folder: Path, tmp_path: Path) -> None:
    create(tmp_path / ".local/share/opencode/opencode.db", 2)
    done = opened(folder, tmp_path, "ses_9")
    assert done.returncode == 2 and "No session of this machine has the id “ses_9”" in done.stderr
    done = opened(folder, tmp_path, "ses_")
    assert done.returncode == 2 and "2 sessions have an id like “ses_”" in done.stderr and "#ses_0001" in done.stderr
    done = opened(folder, tmp_path, "ses_0001", CHAINVIZ_MODE="team", CHAINVIZ_BASE_URL="https://chains.example")
    assert done.returncode == 2 and "is for local mode" in done.stderr
