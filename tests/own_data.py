"""A data folder for each test. A conftest.py imports the fixture for the tests of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def own_data_folder(settings: Any, tmp_path: Path) -> None:
    """Keep the uploads of a test apart from those of other tests."""
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"data": tmp_path})
