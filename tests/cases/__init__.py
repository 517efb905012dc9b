"""Inputs with the outcomes observed on the seeds' reference implementations; `meta` says which and how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of a file in this folder, such as `state/state.json`."""
    found: list[dict[str, Any]] = json.loads((Path(__file__).parent / name).read_text("utf-8"))["cases"]
    return found
