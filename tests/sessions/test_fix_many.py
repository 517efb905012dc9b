"""Many sessions fixed from one page: files and databases, each beside a backup, and none that changed meanwhile."""

from __future__ import annotations

import os
import re
from html import unescape
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.core.databases.writing import backups_of
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session
from tests.core.databases.opencode_database import create
from tests.sessions.test_fix_database import edit, interrupt
from tests.sessions_index.claude_store import REFUSED, write_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sessions of Claude Code and two of one database that their APIs would refuse, and one that is accepted."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "OPENCODE_DB"):
        monkeypatch.delenv(name, raising=False)
    for name in ("one", "two"):
        path = write_session(tmp_path, name, REFUSED)
        os.utime(path, (1_600_000_000, 1_600_000_000))
    database = tmp_path / ".local/share/opencode/opencode.db"
    create(database, 3)
    edit(database, lambda connection: [interrupt(connection, f"prt_000{number}_004") for number in (0, 1)])
    services.choose_sources(local_member(), ["claude-code", "opencode"])
    run_waiting_jobs()
    return tmp_path


def page(query: str = "") -> str:
    response = Client().get(f"/fix/{query}")
    assert response.status_code == 200
    return unescape(response.content.decode())


def fields(shown: str) -> dict[str, list[str]]:
    hidden = dict(re.findall(r'name="(seen-\d+)" value="(\w*)"', shown))
    ticked = re.findall(r'name="session" value="(\d+)" checked', shown)
    return {"session": ticked, **{name: [value] for name, value in hidden.items()}}


def test_all_that_would_be_refused_are_fixed_behind_backups(home: Path) -> None:
    assert Session.objects.refused().count() == 4
    shown = page("?health=refused")
    assert "Fix 4 sessions" in shown and len(fields(shown)["session"]) == 4 and "calls Read as “toolu_9”" in shown
    assert Client().post("/fix/?health=refused", fields(shown)).status_code == 303
    run_waiting_jobs()
    assert not Session.objects.refused().exists() and "Nothing to fix" in page("?health=refused")
    assert len(list(home.glob(".claude/projects/*/*.backup-*"))) == 2
    assert len(backups_of(home / ".local/share/opencode/opencode.db")) == 1, "one transaction for both sessions"


def test_one_rule_agent_or_session_is_fixed_alone(home: Path) -> None:
    assert len(fields(page("?agent=opencode"))["session"]) == 2
    row = Session.objects.get(key="one")
    shown = page(f"?session={row.pk}&session=999999")
    assert fields(shown)["session"] == [str(row.pk)]
    rule = row.problem_rows.get(place=0).rule
    assert str(row.pk) in fields(page(f"?problem={rule}"))["session"]
    assert "Nothing to fix" in page("?problem=no-such-rule")


def test_a_session_that_changed_since_is_left_alone(home: Path) -> None:
    shown = page("?agent=claude-code")
    path = home / ".claude/projects/-yard-shop/one.jsonl"
    path.write_text(path.read_text() + "\n")
    response = Client().post("/fix/", fields(shown), follow=True)
    said = unescape(response.content.decode())
    assert "one.jsonl: changed after it was checked." in said and "two.jsonl: fixed; the backup is" in said
    assert not list(home.glob(".claude/projects/*/one.jsonl.backup-*"))


def test_a_session_that_changed_just_now_is_not_offered(home: Path) -> None:
    path = home / ".claude/projects/-yard-shop/one.jsonl"
    path.touch()
    services.scan(local_member().team)
    run_waiting_jobs()
    shown = page("?agent=claude-code")
    assert len(fields(shown)["session"]) == 1 and "its agent may be running" in shown
