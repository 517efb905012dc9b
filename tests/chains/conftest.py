from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def own_data_folder(settings: Any, tmp_path: Path) -> None:
    """Uploads of one test do not wait beside those of another."""
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"data": tmp_path})
