"""A database that is made ready once: servers of tests that are not about the first start begin with a copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.old_data.data_folder import DataFolder


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of SQLite with all tables and no content."""
    folder = DataFolder(tmp_path_factory.mktemp("migrated"))
    ended = folder.run("manage.py", "migrate", "--verbosity", "0")
    assert ended.returncode == 0, ended.stderr
    return folder.path / "chainviz.sqlite3"


@pytest.fixture
def folder(migrated: Path, tmp_path: Path) -> Path:
    """A data folder with such a database."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(migrated, folder)
    return folder
