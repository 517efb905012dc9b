"""The first page: what the names of files tell of an agent's sessions, and what a click makes of them."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.samples import load_samples
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session, Source
from tests.accounts.conftest import team_mode as team_mode
from tests.accounts.people import client_of, make_member
from tests.core.databases.opencode_database import create

pytestmark = pytest.mark.django_db
RECORD = {"type": "user", "uuid": "a", "sessionId": "s", "cwd": "/yard", "message": {"role": "user", "content": "Count"}}
VARIABLES = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB", "DATA_DIR")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def sessions(home: Path) -> Path:
    """Three sessions of Claude Code in two projects, and a database of opencode."""
    for name in ("-yard-north/1", "-yard-north/2", "-yard-south/3"):
        path = home / f".claude/projects/{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(RECORD) + "\n")
    create(home / ".local/share/opencode/opencode.db", 2)
    return home


def page() -> str:
    response = Client().get("/welcome/")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def test_the_empty_library_leads_to_it_until_sources_are_chosen(sessions: Path) -> None:
    assert Client().get("/")["Location"] == "/welcome/"
    assert Client().get("/?q=a").status_code == 200, "a filter is asked for"
    assert Client().post("/welcome/", {"agent": "claude-code"})["Location"] == "/"
    assert Client().get("/").status_code == 200


def test_a_library_with_chains_is_shown_at_once(home: Path) -> None:
    load_samples()
    assert Client().get("/").status_code == 200


def test_before_the_click_no_file_is_opened(sessions: Path) -> None:
    opened: list[str] = []
    sys.addaudithook(lambda event, values: opened.append(str(values[0])) if event == "open" else None)
    shown = page()
    assert opened and not [path for path in opened if str(sessions) in path]
    assert "3 sessions found on this machine" in shown and "names, sizes and dates of files" in shown
    assert "sends nothing to anyone" in shown
    assert "<b>3</b> sessions" in shown and "in 2 projects" in shown and "~/.claude/projects" in shown
    assert "opencode" in shown and "(database)" in shown and "counted after your click" in shown
    assert not Source.objects.exists() and not Session.objects.exists()


def test_the_ticked_agents_become_the_sources(sessions: Path) -> None:
    assert Client().post("/welcome/", {"agent": ["opencode", "nobody"]}).status_code == 303
    assert [source.agent for source in Source.objects.all()] == ["opencode"]
    assert {session.key for session in Session.objects.visible_to(local_member())} == {"ses_0000", "ses_0001"}
    shown = page()
    ticked = re.findall(r'name="agent" value="([\w-]+)"[^>]*checked', shown)
    assert ticked == ["opencode"]


def test_where_nothing_is_found_it_says_where_it_looked(home: Path) -> None:
    shown = page()
    assert "No sessions of an agent were found" in shown and "~/.codex/sessions" in shown and "not there" in shown


def test_bars_count_the_changes_of_the_last_days(sessions: Path) -> None:
    now = time.time()
    for path, days in zip(sorted(sessions.glob(".claude/projects/*/*.jsonl")), (0.5, 1.5, 29.5), strict=True):
        os.utime(path, (now - days * 86_400,) * 2)
    from chainviz.chains.welcome import agent_rows
    from chainviz.sessions_index.services import find_agents

    (claude,) = [row for row in agent_rows(find_agents()) if row.agent == "claude-code"]
    assert claude.days == (1, *[0] * 13, 2)


def test_a_team_is_never_shown_the_machine(team_mode: Team, sessions: Path) -> None:
    client = client_of(make_member(team_mode, "Lin", Role.OWNER))
    assert client.get("/welcome/")["Location"] == "/" and client.get("/").status_code == 200
    assert client.post("/welcome/", {"agent": "claude-code"})["Location"] == "/"
    assert not Source.objects.exists()


def test_store_that_cannot_be_read_says_why_until_it_can(sessions: Path) -> None:
    database = sessions / ".local/share/opencode/opencode.db"
    whole = database.read_bytes()
    with sqlite3.connect(database) as connection:
        connection.execute("DROP TABLE part")
    member = local_member()
    services.choose_sources(member, ["claude-code", "opencode"])
    run_waiting_jobs()
    assert "looked only at the names" not in page()
    why = f"{database} has other tables than a database of opencode that chainviz can read."
    assert why in page() and why in Client().get("/").content.decode()
    for log in database.parent.glob("opencode.db-*"):
        log.unlink()
    database.write_bytes(whole)
    services.scan(member.team)
    run_waiting_jobs()
    assert why not in page() and why not in Client().get("/").content.decode()
