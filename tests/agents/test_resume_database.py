"""opencode and Kilo, which cannot resume a session of their database, resume the whole of it after `chainviz fix`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.sources import Machine, find_stores, read_session
from tests.agents.driver import Run, Workplace, fails, is_refused, what_is_missing
from tests.agents.programs import KILO, OPENCODE, Agent

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing()),
    pytest.mark.xdist_group("opencode"),
]
FIRST, SECOND = "How many crates are in the depot?", "And in the yard?"
Break = Callable[[sqlite3.Connection, str, dict[str, Any]], object]


def save(connection: sqlite3.Connection, part: str, data: str) -> None:
    connection.execute("UPDATE part SET data = ? WHERE id = ?", (data, part))


def without_result(connection: sqlite3.Connection, part: str, tool: dict[str, Any]) -> None:
    """The process died while the tool ran, and the session went on later."""
    state = {"status": "running", "input": tool["state"]["input"], "time": {"start": 1}}
    save(connection, part, json.dumps({**tool, "state": state}))


def ends_with_call(connection: sqlite3.Connection, part: str, tool: dict[str, Any]) -> None:
    without_result(connection, part, tool)
    (last,) = connection.execute("SELECT id FROM message ORDER BY time_created DESC LIMIT 1").fetchone()
    connection.execute("DELETE FROM part WHERE message_id = ?", (last,))
    connection.execute("DELETE FROM message WHERE id = ?", (last,))


def doubled(connection: sqlite3.Connection, part: str, tool: dict[str, Any]) -> None:
    columns = "message_id, session_id, time_created, time_updated, data"
    connection.execute(f"INSERT INTO part (id, {columns}) SELECT id || '0', {columns} FROM part WHERE id = ?", (part,))


def without_output(connection: sqlite3.Connection, part: str, tool: dict[str, Any]) -> None:
    state = {key: value for key, value in tool["state"].items() if key != "output"}
    save(connection, part, json.dumps({**tool, "state": state}))


def cut_off(connection: sqlite3.Connection, part: str, tool: dict[str, Any]) -> None:
    save(connection, part, json.dumps(tool)[:-20])


def copes(run: Run) -> bool:
    """The program repairs what it sends."""
    return bool(run.requests) and not run.faults


CASES: tuple[tuple[Break, Callable[[Run], bool]], ...] = (
    (doubled, is_refused),
    (without_output, fails),
    (cut_off, fails),
    (without_result, copes),
    (ends_with_call, copes),
)


@pytest.fixture(scope="module", params=[OPENCODE, KILO], ids=lambda agent: agent.name)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    agent: Agent = request.param
    workplace = Workplace(agent, tmp_path_factory.mktemp(agent.name.replace(" ", "-")))
    run = workplace.begin(FIRST)
    assert len(run.requests) >= 2 and not run.faults, run.output
    workplace.keep()
    yield workplace


def broken_database(place: Workplace, broken: Break) -> Path:
    place.restore()
    with closing(sqlite3.connect(place.session)) as connection:
        part, data = connection.execute("SELECT id, data FROM part WHERE data LIKE '%callID%'").fetchone()
        broken(connection, part, json.loads(data))
        connection.commit()
    return place.session


@pytest.mark.parametrize(("broken", "before"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_fixed_session_resumes(place: Workplace, broken: Break, before: Callable[[Run], bool]) -> None:
    broken_database(place, broken)
    unfixed = place.resume(SECOND)
    assert before(unfixed), (unfixed.faults, unfixed.output)
    database = str(broken_database(place, broken))
    assert main(["fix", database]) == 0
    assert main(["fix", "--check", database]) == 0
    after = place.resume(SECOND)
    assert after.requests and not after.faults, (after.faults, after.output)
    assert after.has_said(FIRST) and after.has_said(SECOND), "the agent has the whole session"


def test_the_database_is_read_as_the_program_exports_it(place: Workplace) -> None:
    place.restore()
    machine = Machine.of(place.home)
    (session,) = [each for found in find_stores(machine) for each in found.sessions()]
    exported = place.run("export", session.id).printed
    assert exported.encode() == read_session(session)
