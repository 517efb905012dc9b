"""Long texts that Inspect keeps once, among the attachments of a sample: `attachment://<hash>` stands where they belong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_REFERENCE = re.compile(r"attachment://([0-9a-f]{32})")
_VALUE = re.compile(r'"\s*:\s*("(?:[^"\\]++|\\.)*+")', re.DOTALL)


def references(text: str) -> list[str]:
    """The hashes that the text refers to, each once."""
    return list(dict.fromkeys(_REFERENCE.findall(text))) if "attachment://" in text else []


def is_reference(text: str) -> bool:
    """Whether the text is nothing else."""
    return _REFERENCE.fullmatch(text.strip()) is not None


def attached(texts: Iterable[str], hash: str) -> str | None:
    """The text of that hash in what surrounds the messages; None where it has none."""
    for text in texts:
        at = text.find(f'"{hash}"')
        found = _VALUE.match(text, at + len(hash) + 1) if at >= 0 else None
        if found:
            try:
                return str(json.loads(found[1], strict=False))
            except ValueError:
                return None
    return None
