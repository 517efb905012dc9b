from __future__ import annotations

from tests.own_data import own_data_folder  # noqa: F401
