"""Members of decoded JSON that may be anything: a file in a known format need not keep to it."""

from __future__ import annotations

from typing import Any


def string_of(value: Any, key: str, default: str = "") -> str:
    """The string that an object holds under a key; `default` where there is no object, no such member or no string."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else default


def objects_of(value: Any, key: str) -> list[dict[str, Any]]:
    """The objects in the list that an object holds under a key."""
    found = value.get(key) if isinstance(value, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
