"""Servers of tests that are not about the first start begin with a copy of the empty database."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def folder(migrated: Path, tmp_path: Path) -> Path:
    """A data folder with an empty database."""
    folder = tmp_path / "data"
    folder.mkdir()
    shutil.copy(migrated, folder)
    return folder
