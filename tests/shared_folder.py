"""Files that tests read: reference cases and samples in the project, real transcripts beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
CASES = TESTS / "cases"
SAMPLES = TESTS / "samples"
FOLDER = Path(os.environ.get("CHAINVIZ_SHARED", TESTS.parents[1] / "shared"))
"""Real transcripts by other people; a public clone does not have them."""


def shared(*parts: str) -> Path:
    """A file or folder of real transcripts; the test is skipped where they are absent, all with the same reason."""
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        pytest.skip("the real transcripts do not lie beside this checkout", allow_module_level=True)
    return path
