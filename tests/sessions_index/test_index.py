"""The index: sessions of chosen agents are listed, read in the background, and read again only where they changed."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from chainviz.accounts.models import Membership, local_member
from chainviz.chains.models import Chain
from chainviz.chains.working_copies.opening import open_session
from chainviz.core.errors import DocumentError, Refused
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import listing, services
from chainviz.sessions_index.models import Session, SessionDay, SessionRepeat, Source, revision_of
from chainviz.sessions_index.services import go_on_where_unread
from tests.core.databases.opencode_database import create as create_opencode
from tests.sessions_index.claude_store import GOOD, REFUSED, answer, text, user, write_session

pytestmark = pytest.mark.django_db
COUNTED = {"tools": ("name", "calls", "bytes"), "repeats": ("arguments", "count")}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def member() -> Membership:
    return local_member()


def index(member: Membership) -> None:
    services.choose_sources(member, ["claude-code"])
    run_waiting_jobs()


def test_agents_are_found_by_names_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(home, "one", GOOD)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail("a file was read"))
    assert [(found.agent, found.label, found.count) for found in services.find_agents()] == [("claude-code", "Claude Code", 1)]
    assert not Session.objects.exists()


def test_choice_shows_the_newest_at_once_and_reads_in_the_background(home: Path, member: Membership) -> None:
    write_session(home, "old", GOOD, at=0)
    write_session(home, "new", [user("Why?"), answer(text("So."), number=1)], at=60)
    services.choose_sources(member, ["claude-code"])
    rows = Session.objects.visible_to(member).order_by("-changed_at")
    assert [(row.title, row.project, row.health) for row in rows] == [("Why?", "/yard/shop", ""), ("Count the lines", "/yard/shop", "")]
    progress = services.progress_of(member.team)
    assert (progress.read, progress.total, progress.is_running, progress.percent) == (0, 2, True, 0)
    run_waiting_jobs()
    progress = services.progress_of(member.team)
    assert (progress.read, progress.refused, progress.is_done, progress.percent) == (2, 0, True, 100)


def test_facts_of_a_session(home: Path, member: Membership) -> None:
    write_session(home, "one", GOOD)
    index(member)
    row = Session.objects.get()
    assert (row.health, row.provider, row.model, row.messages, row.ending) == ("accepted", "anthropic", "claude-sonnet-4-5", 8, "finished")
    assert (row.input, row.output, row.calls, row.tool_errors) == (4400, 40, 3, 1)
    days = SessionDay.objects.order_by("day", "model").values_list("day", "model", "calls", "input", "cached")
    assert list(days) == [
        (date(2026, 11, 18), "claude-sonnet-4-5", 2, 2200, 2000),
        (date(2026, 11, 19), "claude-opus-4-1", 1, 1100, 1000),
        (date(2026, 11, 19), "claude-sonnet-4-5", 1, 1100, 1000),
    ]
    assert row.cost == sum(SessionDay.objects.values_list("cost", flat=True)) > 0
    assert [(tool.name, tool.calls, tool.errors) for tool in row.tools.order_by("name")] == [("Bash", 1, 1), ("Read", 2, 0)]
    assert [(error.tool, error.text, error.count) for error in row.error_rows.all()] == [("Bash", "ls: error #", 1)]
    assert list(SessionRepeat.objects.values_list("tool", "arguments", "count")) == [("Read", '{"file_path": "/src/a.py"}', 1)]


def test_branches_count_what_they_share_once(home: Path, member: Membership) -> None:
    once = [*GOOD, user("And the words?", 28), answer(text("Two."), number=29)]
    path = write_session(home, "one", once)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    prompt, reply = ({**record, "uuid": f"fork-{place}"} for place, record in enumerate(records[-2:]))
    again = [prompt, {**reply, "parentUuid": "fork-0", "message": {**reply["message"], "id": "msg_fork"}}]
    path.write_text("".join(json.dumps(record) + "\n" for record in (*records, *again)))
    write_session(home, "two", once)
    index(member)
    branched, plain = Session.objects.order_by("key")
    assert (branched.messages, branched.ending) == (plain.messages, plain.ending)
    assert (branched.calls, branched.output) == (plain.calls, plain.output + 10)
    tools, repeats = ([set(getattr(row, name).values_list(*columns)) for row in (branched, plain)] for name, columns in COUNTED.items())
    assert tools[0] == tools[1] and repeats[0] == repeats[1]


def test_refused_session_names_its_rules(home: Path, member: Membership) -> None:
    write_session(home, "one", REFUSED)
    index(member)
    row = Session.objects.refused().get()
    assert row.problems == 1
    assert [(each.place, each.rule) for each in row.problem_rows.all()] == [(0, "result-missing")]


def test_only_what_changed_is_read_again(home: Path, member: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(home, "one", GOOD)
    write_session(home, "two", GOOD)
    index(member)
    read = list[str]()
    monkeypatch.setattr("chainviz.sessions_index.services.read_session", lambda row: read.append(row.key) or listing.read_session(row))
    services.scan(member.team)
    run_waiting_jobs()
    assert read == []
    write_session(home, "two", [*GOOD, user("More", 28)], at=9)
    (home / ".claude/projects/-yard-shop/one.jsonl").unlink()
    services.scan(member.team)
    run_waiting_jobs()
    assert read == ["two"]
    assert [(row.key, row.messages) for row in Session.objects.all()] == [("two", 9)]


@pytest.mark.parametrize(("took", "ago", "is_due"), [(0.1, 5, False), (0.1, 11, True), (2, 11, False), (2, 41, True), (600, 61, True)])
def test_check_that_took_long_is_repeated_later(home: Path, member: Membership, took: float, ago: float, is_due: bool) -> None:
    write_session(home, "one", GOOD)
    index(member)
    listed = timezone.now() - timedelta(seconds=ago)
    Source.objects.update(listed_at=listed)
    Job.objects.filter(function=services.SCAN).update(created_at=listed, finished_at=listed + timedelta(seconds=took))
    assert (services.scan_if_due(member.team) is not None) is is_due


def test_every_change_of_a_session_changes_the_revision(home: Path, member: Membership) -> None:
    """Pages keep sums over all sessions while the revision is the same."""
    path = write_session(home, "one", GOOD)
    seen = [revision_of(member.team_id)]

    def changed() -> bool:
        seen.append(revision_of(member.team_id))
        return seen[-1] not in seen[:-1]

    index(member)
    assert changed()
    services.scan(member.team)
    run_waiting_jobs()
    assert not changed()
    write_session(home, "one", [*GOOD, user("More", 60)], at=90)
    services.scan(member.team)
    run_waiting_jobs()
    assert changed()
    services.look_again()
    assert changed()
    path.unlink()
    services.scan(member.team)
    run_waiting_jobs()
    assert changed()
    services.choose_sources(member, [])
    assert revision_of(member.team_id) == ()


def test_unreadable_session_keeps_its_row_with_the_reason(home: Path, member: Membership) -> None:
    path = write_session(home, "one", GOOD)
    path.write_text("no session")
    index(member)
    row = Session.objects.get()
    assert row.health == "failed"
    assert row.sentence
    assert services.progress_of(member.team).failed == 1


def test_stopped_reading_goes_on_when_asked(home: Path, member: Membership) -> None:
    write_session(home, "one", GOOD)
    services.choose_sources(member, ["claude-code"])
    services.stop(member.team)
    run_waiting_jobs()
    assert go_on_where_unread() is None
    assert (services.progress_of(member.team).read, services.progress_of(member.team).is_stopped) == (0, True)
    services.go_on(member.team)
    run_waiting_jobs()
    assert services.progress_of(member.team).is_done


def test_reading_makes_way_for_other_jobs_and_goes_on(home: Path, member: Membership) -> None:
    for name in ("one", "two", "three"):
        write_session(home, name, GOOD)
    services.choose_sources(member, ["claude-code"])
    Job.objects.create(function="index-library", args={}, created_at=Job.objects.get().created_at)
    run_next_job()
    assert services.progress_of(member.team).read == 1
    run_waiting_jobs()
    assert go_on_where_unread() is not None
    run_waiting_jobs()
    assert services.progress_of(member.team).is_done


def test_agent_that_is_not_chosen_any_more_leaves(home: Path, member: Membership) -> None:
    write_session(home, "one", GOOD)
    index(member)
    services.choose_sources(member, [])
    assert not Session.objects.exists()
    assert not services.has_chosen(member.team)


def test_unknown_agent_and_team_mode_are_refused(home: Path, member: Membership, settings: Any) -> None:
    with pytest.raises(DocumentError, match="There is no agent “nobody”"):
        services.choose_sources(member, ["nobody"])
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    assert services.find_agents() == []
    with pytest.raises(Refused, match="the operator of the server names the sources"):
        services.choose_sources(member, ["claude-code"])


def test_folder_is_a_source_of_files_and_databases(tmp_path: Path, member: Membership) -> None:
    path = write_session(tmp_path, "one", GOOD)
    runs = tmp_path / "runs"
    runs.mkdir()
    path.rename(runs / "one.jsonl")
    create_opencode(runs / "opencode.db")
    services.choose_folder(member.team, str(runs))
    services.scan(member.team)
    run_waiting_jobs()
    rows = Session.objects.order_by("in_database")
    assert [(row.agent, row.in_database, row.health) for row in rows] == [("", False, "accepted"), ("opencode", True, "accepted")]
    services.forget_folder(member.team, str(runs))
    assert not Session.objects.exists()


def test_folder_that_cannot_be_read_keeps_its_rows_and_says_why(tmp_path: Path, member: Membership) -> None:
    runs = tmp_path / "runs"
    write_session(runs, "one", GOOD).rename(runs / "one.jsonl")
    source = services.choose_folder(member.team, str(runs))
    services.scan(member.team)
    run_waiting_jobs()
    runs.rename(tmp_path / "elsewhere")
    services.scan(member.team)
    run_waiting_jobs()
    source.refresh_from_db()
    assert source.sentence == f"{runs} cannot be read: No such file or directory."
    assert Session.objects.count() == 1


def test_source_that_nobody_listed_is_listed_by_an_idle_worker(home: Path, member: Membership) -> None:
    write_session(home, "one", GOOD)
    index(member)
    assert go_on_where_unread() is None
    write_session(home, "two", GOOD)
    services.look_again()
    assert go_on_where_unread() is not None
    run_waiting_jobs()
    assert Session.objects.count() == 2
    assert go_on_where_unread() is None


def test_sessions_of_one_store_without_working_folders_are_one_project(home: Path, member: Membership) -> None:
    for name in ("one", "two"):
        path = home / f".vibe/logs/session/{name}/messages.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(f'{{"role": "user", "content": "Count {name}"}}\n{{"role": "assistant", "content": "Four."}}\n')
    services.choose_sources(member, ["vibe"])
    run_waiting_jobs()
    project = str(home / ".vibe/logs/session")
    assert set(Session.objects.values_list("project", "health")) == {(project, "accepted")}
    for row in Session.objects.all():
        open_session(member, row)
    assert list(Chain.objects.values_list("project", flat=True)) == [project, project]


def test_project_of_a_session_without_a_working_folder_is_read_anew(home: Path, member: Membership) -> None:
    path = home / ".config/Code/User/workspaceStorage/5c03/chatSessions/one.jsonl"
    path.parent.mkdir(parents=True)
    asked = {"requestId": "request_1", "message": {"text": "Why?", "parts": []}, "response": [{"value": "So."}]}
    path.write_text(json.dumps({"kind": 0, "v": {"version": 3, "sessionId": "s", "requests": [asked]}}))
    services.choose_sources(member, ["copilot-chat"])
    run_waiting_jobs()
    assert Session.objects.get().project == str(home / ".config/Code/User/workspaceStorage")
    (path.parents[1] / "workspace.json").write_text(json.dumps({"folder": "file:///yard/depot"}))
    Session.objects.update(rules=0)
    services.look_again()
    services.scan(member.team)
    run_waiting_jobs()
    assert Session.objects.get().project == "/yard/depot"
