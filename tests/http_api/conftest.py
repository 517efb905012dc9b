from __future__ import annotations

from tests.accounts.conftest import team_mode  # noqa: F401
