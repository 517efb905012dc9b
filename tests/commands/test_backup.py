"""`chainviz backup` and `restore`: everything, of one moment, from SQLite to either database."""

from __future__ import annotations

import gzip
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings

from tests.old_data.data_folder import DataFolder, new_data_folder

pytestmark = pytest.mark.database
SERVER = settings.POSTGRESQL_URL if settings.POSTGRESQL else ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """Chains, drafts, purges, audit and jobs, on SQLite."""
    folder = DataFolder(tmp_path_factory.mktemp("site"))
    folder.restore()
    return folder


@pytest.fixture(scope="module")
def backup(site: DataFolder) -> Path:
    """Written while somebody else is in the middle of a change."""
    file = site.path.parent / "site.backup"
    assert site.run("manage.py", "migrate", "--verbosity", "0").returncode == 0
    with closing(sqlite3.connect(site.path / "chainviz.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE chains_chain SET title = 'half'")
        written = chainviz(site, "backup", str(file))
        other.execute("ROLLBACK")
    assert written.returncode == 0, written.stderr
    return file


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[DataFolder]:
    """On the database that the tests run on."""
    with new_data_folder(tmp_path, SERVER) as folder:
        yield folder


def chainviz(folder: DataFolder, *arguments: str) -> subprocess.CompletedProcess[str]:
    return folder.run("-m", "chainviz", *arguments)


def rows(backup: Path) -> list[bytes]:
    with gzip.open(backup) as lines:
        return lines.readlines()[1:]


def test_a_restored_site_is_the_same(site: DataFolder, backup: Path, empty: DataFolder, tmp_path: Path) -> None:
    assert backup.stat().st_mode & 0o777 == 0o600
    restored = chainviz(empty, "restore", str(backup))
    assert restored.returncode == 0, restored.stderr
    checked = chainviz(empty, "fsck")
    assert checked.returncode == 0, checked.stdout
    again = chainviz(empty, "backup", str(tmp_path / "again"))
    assert again.returncode == 0, again.stderr
    assert len(rows(backup)) > 1000
    assert rows(tmp_path / "again") == rows(backup)
    assert (empty.path / "secret-key").read_text() == (site.path / "secret-key").read_text()
    assert "has content" in chainviz(empty, "restore", str(backup)).stderr


def test_what_is_not_whole_is_refused_and_changes_nothing(backup: Path, empty: DataFolder) -> None:
    content = backup.read_bytes()
    lines = gzip.decompress(content).splitlines(keepends=True)
    wrong = {"cut off": content[:-100], "a row less": gzip.compress(b"".join(lines[:-2] + lines[-1:])), "no backup": b'{"messages": []}'}
    for name, each in wrong.items():
        (empty.path / name).write_bytes(each)
        refused = chainviz(empty, "restore", str(empty.path / name))
        assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1), (name, refused.stderr)
    assert chainviz(empty, "restore", str(backup)).returncode == 0, "it is still empty"
