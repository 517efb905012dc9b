"""A data folder of an earlier version opens: everything stored in it is unchanged and still protected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from chainviz.store.checksums import TABLES
from tests.old_data.data_folder import HERE, DataFolder, new_data_folder

pytestmark = pytest.mark.database

EARLIER = "This job was started by an earlier version of chainviz; start it again."
RUN_JOBS = "import django; django.setup(); from chainviz.jobs.worker import run_waiting_jobs; run_waiting_jobs()"
SERVER = settings.POSTGRESQL_URL if settings.POSTGRESQL else ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    """The old data folder after `migrate`."""
    with new_data_folder(tmp_path_factory.mktemp("old_data"), SERVER) as folder:
        folder.restore()
        migrate(folder)
        yield folder


@pytest.fixture(scope="module")
def new_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    with new_data_folder(tmp_path_factory.mktemp("new_data"), SERVER) as folder:
        migrate(folder)
        yield folder


@pytest.fixture(scope="module")
def found(folder: DataFolder) -> dict[str, Any]:
    """What reading.py finds in it."""
    return dict(json.loads(folder.script("reading")))


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """What it found at the commit that wrote the data."""
    return dict(json.loads((HERE / "expected.json").read_text())["postgresql" if SERVER else "sqlite"])


def migrate(folder: DataFolder) -> None:
    ended = folder.run("manage.py", "migrate", "--verbosity", "0")
    assert ended.returncode == 0, ended.stderr


def test_fsck_finds_no_errors(folder: DataFolder) -> None:
    ended = folder.run("-m", "chainviz", "fsck")
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("what", ["tables", "exports", "audit", "lineage", "drafts"])
def test_nothing_changed(what: str, found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert len(expected[what]) > 8
    assert differences(found[what], expected[what]) == {}


def differences(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    keys = sorted(found.keys() | expected.keys())
    return {key: (found.get(key), expected.get(key)) for key in keys if found.get(key) != expected.get(key)}


def test_every_page_opens(found: dict[str, Any]) -> None:
    """Also while jobs name functions that no longer exist."""
    assert found["failed"] == {}


def test_a_worker_ends_all_jobs(tmp_path: Path) -> None:
    """It runs those that waited. One whose function is gone is refused, and loses what was typed for it."""
    with new_data_folder(tmp_path, SERVER) as folder:
        folder.restore()
        with folder.connect() as connection:
            connection.execute(
                "INSERT INTO jobs_job (function, args, state, progress, message, cancel_requested, attempts, max_attempts,"
                " created_at, lease_until) SELECT 'chainviz.gone.mask', '{\"own_patterns\": \"she pays\"}', state,"
                " progress, message, cancel_requested, attempts, max_attempts, created_at, lease_until"
                " FROM jobs_job WHERE id = 21"
            )
            connection.commit()
        migrate(folder)
        ended = folder.run("-c", RUN_JOBS)
        assert ended.returncode == 0, ended.stderr
        with folder.connect() as connection:
            jobs = connection.execute("SELECT function, state, message, args FROM jobs_job WHERE id > 20").fetchall()
    assert len(jobs) == 14
    assert {state for _, state, *_ in jobs} == {"done", "failed"}
    assert not [job for job in jobs if "bug in chainviz" in job[2]]
    assert [function for function, _, message, _ in jobs if message == EARLIER] == ["chainviz.gone.mask"]
    assert not [job for job in jobs if "she pays" in job[-1]]


def test_undo_and_redo_work(found: dict[str, Any]) -> None:
    contents = found["drafts"]["/c/23/d/13/"]
    assert len(contents) == len(set(contents)) == 4, "before the first step, and after each of three"
    before, after = found["cursors"]
    assert before == after, "undone as often as redone"


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", ["UPDATE store_{table} SET {column} = {column}", "DELETE FROM store_{table}"])
def test_protected_tables_refuse_changes(folder: DataFolder, table: str, statement: str) -> None:
    with folder.connect() as connection:
        rows = connection.execute(f"SELECT * FROM store_{table} LIMIT 1")
        assert len(rows.fetchall()) == 1, "row triggers need a row"
        with pytest.raises(Exception, match=f"store_{table} is append-only"):
            connection.execute(statement.format(table=table, column=rows.description[-1][0]))


@pytest.mark.parametrize("which", ["folder", "new_folder"])
def test_every_protected_table_has_its_triggers(which: str, request: pytest.FixtureRequest) -> None:
    """SQLite drops triggers when a migration remakes their table; such a migration must create them again."""
    folder = request.getfixturevalue(which)
    others = ["accounts_auditrow", "chains_auditentry", "chains_auditfact", "review_signoff"]
    protected = [*others, *(f"store_{table}" for table in TABLES)]
    if SERVER:
        wanted = {(table, "append_only") for table in protected}
        query = "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid" + (
            " WHERE NOT t.tgisinternal AND t.tgenabled = 'O'"
        )
    else:
        wanted = {(table, f"{table}_no_{act}") for table in protected for act in ("update", "delete")}
        query = "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger'"
    with folder.connect() as connection:
        assert set(connection.execute(query).fetchall()) == wanted


def test_what_local_mode_recorded_begins_the_audit_log(folder: DataFolder) -> None:
    with folder.connect() as connection:
        acts = connection.execute("SELECT act FROM accounts_auditrow ORDER BY number").fetchall()
        recorded = connection.execute("SELECT count(*) FROM chains_auditentry").fetchone()[0]
    assert acts == [("local",)] * recorded + [("sealed",)]


def test_every_snapshot_names_the_run_of_its_step(folder: DataFolder) -> None:
    with folder.connect() as connection:
        snapshots = connection.execute("SELECT run_id, operation, parent_id FROM store_snapshot ORDER BY id").fetchall()
        runs = connection.execute("SELECT id, kind FROM store_run").fetchall()
    assert {run for run, _, _ in snapshots} == {run for run, _ in runs}
    kinds = dict(runs)
    assert all(kinds[run] == ("edit" if parent else "import") for run, _, parent in snapshots)
    shared = [operation for run, operation, _ in snapshots if [one for one, *_ in snapshots].count(run) > 1]
    assert shared == ["edit", "edit"], "the step of a rebased draft, and the same step repeated"


TEAM = {"CHAINVIZ_MODE": "team", "CHAINVIZ_BASE_URL": "http://testserver"}
OPEN_AS_OWNER = """
import django; django.setup()
from django.test import Client
client = Client()
form = {"email": "lin@example.org", "password": "a drill for every wall"}
assert client.get("/").status_code == 302
assert client.post("/sign-in/", form).status_code == 303
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
chains = [f"/c/{chain.pk}/versions/" for chain in Chain.objects.in_library()]
drafts = [f"/c/{draft.chain_id}/d/{draft.pk}/" for draft in Draft.objects.open().filter(chain__trashed_at=None)]
assert len(chains) > 8 and drafts
print([page for page in [*chains, *drafts] if client.get(page).status_code != 200])
"""


def test_team_mode_keeps_everything_of_a_local_installation(tmp_path: Path) -> None:
    """Its owner becomes the first account, who finds all chains and drafts."""
    with new_data_folder(tmp_path, SERVER) as folder:
        folder.restore()
        made = folder.run("-m", "chainviz", "createowner", "lin@example.org", input="a drill for every wall\n", **TEAM)
        assert made.stdout == "lin@example.org is an owner of “My team”.\n", made.stderr
        opened = folder.run("-c", OPEN_AS_OWNER, **TEAM)
        assert opened.stdout == "[]\n", opened.stderr[-2000:]
        assert folder.run("-m", "chainviz", "fsck", **TEAM).returncode == 0
