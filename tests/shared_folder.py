"""Where the folder with reference cases and public transcripts lies, if this checkout has one beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("CHAINVIZ_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """A file or folder in the shared folder; the test is skipped where it is absent."""
    path = FOLDER.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"the shared folder beside the checkout has no {'/'.join(parts)}", allow_module_level=True)
    return path
