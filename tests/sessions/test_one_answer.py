"""The index, the doctor, the command line and Python tell the same about each session of a machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.accounts.models import local_member
from chainviz.cli import main
from chainviz.fixes.doctor import Diagnosis, diagnose_all, fix_all
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session
from tests.sessions_index.claude_store import GOOD, REFUSED, answer, call, text, user, write_session

pytestmark = pytest.mark.django_db
HEALTH = {"accepted": "accepted", "refused": "refused", "unfixable": "refused", "part": "part", "unreadable": "failed"}
"""The health that the index shows for each state of a diagnosis."""
UNKNOWN = {"type": "hologram", "projection": "The whole yard, seen from above."}
ASIDE = [
    user("Look", 30) | {"isSidechain": True, "agentId": "a1"},
    answer(UNKNOWN, text("Done."), number=31) | {"isSidechain": True, "agentId": "a1"},
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    write_session(tmp_path, "good", GOOD)
    write_session(tmp_path, "call-without-result", REFUSED)
    write_session(tmp_path, "not-fully-read", [user("Count"), answer(UNKNOWN, text("One."), number=1)])
    write_session(tmp_path, "not-fully-read-and-refused", [user("Count"), answer(UNKNOWN, call("toolu_9"), number=1), user("Go on", 2)])
    write_session(tmp_path, "thread-not-fully-read", [*GOOD, *ASIDE])
    _damage(write_session(tmp_path, "broken-line", GOOD), lambda lines: [*lines[:3], '{"type": "prog\n', *lines[3:]])
    _damage(write_session(tmp_path, "zero-bytes", GOOD), lambda lines: [*lines[:3], "\0\0\0\n", *lines[3:]])
    _damage(write_session(tmp_path, "repeated-line", GOOD), lambda lines: [*lines, lines[-1]])
    _damage(
        write_session(tmp_path, "unknown-parent", GOOD),
        lambda lines: [each.replace('Uuid": "unknown-parent-2"', 'Uuid": "unknown-parent-9"') for each in lines],
    )
    _damage(write_session(tmp_path, "no-session", GOOD), lambda lines: ["Count the lines\n"])
    _write_rollout(tmp_path)
    return tmp_path


def _damage(path: Path, change: Callable[[list[str]], list[str]]) -> None:
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def _write_rollout(home: Path) -> None:
    """Write a session of Codex in which the record with the ordinal 2 is missing."""

    def record(ordinal: int, kind: str, **payload: Any) -> str:
        time = f"2026-11-20T10:00:0{ordinal}.000Z"
        return json.dumps({"timestamp": time, "ordinal": ordinal, "type": kind, "payload": payload}) + "\n"

    def said(ordinal: int, role: str, kind: str, words: str) -> str:
        return record(ordinal, "response_item", type="message", role=role, content=[{"type": kind, "text": words}])

    path = home / ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-a.jsonl"
    path.parent.mkdir(parents=True)
    meta = record(0, "session_meta", id="a", cwd="/yard/shop", cli_version="0.169.0")
    path.write_text(meta + said(1, "user", "input_text", "Count the docks.") + said(3, "assistant", "output_text", "Two."))


def _scan() -> dict[str, Session]:
    services.choose_sources(local_member(), ["claude-code", "codex"])
    run_waiting_jobs()
    return {row.path: row for row in Session.objects.all()}


def _diagnoses() -> dict[str, Diagnosis]:
    return {each.session.address: each for each in diagnose_all(chainviz.sessions())}


def test_all_doors_tell_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows, diagnoses = _scan(), _diagnoses()
    assert {path: row.health for path, row in rows.items()} == {path: HEALTH[each.state] for path, each in diagnoses.items()}
    assert {row.health for row in rows.values()} == set(HEALTH.values())
    main(["sessions", "--needs-fix", "--json"])
    printed = {json.loads(line)["address"] for line in capsys.readouterr().out.splitlines()}
    assert printed == {path for path, row in rows.items() if row.health == "refused"}
    assert len(printed) == services.progress_of(local_member().team).refused == 7


def test_library_names_the_damage_that_the_doctor_names(home: Path) -> None:
    rows, diagnoses = _scan(), _diagnoses()
    for name in ("broken-line", "zero-bytes", "repeated-line", "unknown-parent"):
        row = next(row for row in rows.values() if row.key == name)
        assert diagnoses[row.path].causes
        assert [each.text for each in row.problem_rows.filter(rule="damaged-records")] == list(diagnoses[row.path].causes)


def test_fixed_sessions_are_accepted_everywhere(home: Path) -> None:
    sizes = {row.key: row.size for row in _scan().values()}
    assert all("fixed" in sentence for sentence in fix_all([each.session for each in _diagnoses().values() if each.needs_fix]))
    rows, diagnoses = _scan(), _diagnoses()
    assert {path: row.health for path, row in rows.items()} == {path: HEALTH[each.state] for path, each in diagnoses.items()}
    assert next(row.size for row in rows.values() if row.key == "unknown-parent") == sizes["unknown-parent"]
    assert sorted(row.key for row in rows.values() if row.health == "refused") == ["not-fully-read-and-refused"]
