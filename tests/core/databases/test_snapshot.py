"""Databases are read beside a running agent, which notices nothing, and never changed."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from chainviz.core.databases.snapshot import read_database
from chainviz.core.errors import DocumentError
from tests.core.databases.opencode_database import create

AGENT = """
import sqlite3, sys
path, commits = sys.argv[1], int(sys.argv[2])
agent = sqlite3.connect(path, timeout=0, isolation_level=None)
agent.execute(f"PRAGMA journal_mode = {sys.argv[3]}")
agent.execute("PRAGMA wal_autocheckpoint = 20")
agent.execute("CREATE TABLE IF NOT EXISTS pair (a, b)")
agent.execute("DELETE FROM pair")
agent.execute("INSERT INTO pair VALUES (0, 0)")
print("ready", flush=True)
refused = 0
for number in range(1, commits + 1):
    try:
        agent.execute("BEGIN IMMEDIATE")
        agent.execute("UPDATE pair SET a = ?", (number,))
        agent.execute("UPDATE pair SET b = ?", (number,))
        agent.execute("COMMIT")
        if number % 50 == 0:
            refused += agent.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError:
        refused += 1
        if agent.in_transaction:
            agent.execute("ROLLBACK")
print(refused, agent.execute("SELECT a FROM pair").fetchone()[0], flush=True)
"""
"""Commits as fast as it can, without patience: a lock that anybody holds is a refusal."""


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def titles(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute("SELECT title FROM session ORDER BY id")]


@pytest.mark.parametrize("log", [True, False])
def test_rows_of_an_open_database_are_read_and_no_file_changes(tmp_path: Path, log: bool) -> None:
    path = tmp_path / "store" / "agent.db"
    create(path, 2, log=log)
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("UPDATE session SET title = 'Renamed' WHERE id = 'ses_0001'")
        agent.commit()
        before = hashes(path.parent)
        assert ("agent.db-wal" in before) is log
        assert read_database(path, titles) == ["Crates of depot 0", "Renamed"]
        assert hashes(path.parent) == before


def test_a_transaction_that_is_not_finished_is_not_seen(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    create(path, 1, log=False)
    with closing(sqlite3.connect(path, isolation_level=None)) as agent:
        agent.execute("PRAGMA cache_size = 1")
        agent.execute("PRAGMA cache_spill = 1")
        agent.execute("BEGIN")
        agent.execute("UPDATE session SET title = 'Half'")
        agent.execute("CREATE TABLE filler (a)")
        agent.executemany("INSERT INTO filler VALUES (?)", [("x" * 4000,)] * 50)
        before = hashes(tmp_path)
        assert "agent.db-journal" in before
        assert read_database(path, titles) == ["Crates of depot 0"]
        assert hashes(tmp_path) == before


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_an_agent_that_commits_all_the_time_is_never_refused(tmp_path: Path, mode: str) -> None:
    path, commits = tmp_path / "agent.db", 1_000 if mode == "WAL" else 150
    create(path, 1, log=mode == "WAL")
    command = [sys.executable, "-c", AGENT, str(path), str(commits), mode]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout and agent.stdout.readline() == "ready\n"
        seen: list[tuple[int, int]] = []
        while agent.poll() is None:
            try:
                seen.append(read_database(path, lambda connection: connection.execute("SELECT a, b FROM pair").fetchone()))
            except DocumentError as error:
                assert "is being written all the time" in str(error)
        refused, last = agent.stdout.read().split()
    assert (refused, last) == ("0", str(commits))
    assert all(a == b for a, b in seen), "each look is at one moment"
    assert seen == sorted(seen)
    assert mode == "DELETE" or len({a for a, _ in seen}) > 3, "the rows of the log are seen while the agent runs"


@pytest.mark.parametrize("damage", ["cut", "zeros", "text"])
def test_a_damaged_database_is_one_sentence(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "agent.db"
    create(path, 200, log=False)
    content = path.read_bytes()
    page = content.index(b"Crates of depot 100") // 4096 * 4096
    broken = {
        "cut": content[: len(content) // 3],
        "zeros": content[:page] + bytes(4096) + content[page + 4096 :],
        "text": b"SQLite format 3\0" + b"no database at all, " * 500,
    }
    path.write_bytes(broken[damage])
    with pytest.raises(DocumentError, match=r"agent\.db is a damaged database: "):
        read_database(path, titles)


def test_a_missing_database_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be opened"):
        read_database(tmp_path / "none.db", titles)


def test_a_schema_with_an_index_on_json_is_read(tmp_path: Path) -> None:
    """Kilo Code has one."""
    path = tmp_path / "agent.db"
    create(path)
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("CREATE INDEX roles ON message (json_extract(data, '$.role'))")
        agent.commit()
    assert read_database(path, titles) == ["Crates of depot 0"]
