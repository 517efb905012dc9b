from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chainviz.accounts.models import Team, local_member


@pytest.fixture
def team_mode(settings: Any, tmp_path: Path) -> Team:
    """The team of an installation that was local before."""
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team", "base_url": "https://chainviz.example.org", "data": tmp_path})
    return local_member().team
