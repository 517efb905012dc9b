"""Messages of Anthropic's API."""

from __future__ import annotations

from typing import Any


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) if blocks else "hi"}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks) if blocks else "ok"}


def used(id: str, content: Any = "seen") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}
