"""Files of every format with a made-up key of its own in every object they hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.core.formats.chains import sample_files
from tests.core.secrets.made import fake, join

FILES = [path for path in sample_files() if path.name.startswith("ok_")]
KIND = "github-token"


def planted(file: Path) -> tuple[bytes, dict[str, str]]:
    """The file with a key in each object, and where each key is."""
    text, keys = file.read_text("utf-8-sig"), dict[str, str]()
    if file.suffix == ".jsonl":
        lines = [line for line in text.splitlines() if line.strip()]
        return "\n".join(json.dumps(_with_keys(json.loads(line), f"{i}", keys)) for i, line in enumerate(lines)).encode(), keys
    return json.dumps(_with_keys(json.loads(text), "", keys)).encode(), keys


def _with_keys(value: Any, place: str, keys: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_with_keys(each, f"{place}/{i}", keys) for i, each in enumerate(value)]
    if not isinstance(value, dict):
        return value
    new = {name: _with_keys(each, f"{place}/{name}", keys) for name, each in value.items()}
    key = join("gh", "p_", fake(36))
    keys[key] = place
    return {**new, "x_note": key}
