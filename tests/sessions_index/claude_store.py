"""A home folder with sessions of Claude Code."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from django.utils import timezone

from chainviz.accounts.models import Team
from chainviz.sessions_index.models import Session, note_changes
from chainviz.sessions_index.services import choose_folder

BEGAN = 1_795_000_000
"""Seconds since 1970: 2026-11-18."""


def user(content: Any, number: int = 0) -> dict[str, Any]:
    return _record("user", {"role": "user", "content": content}, number)


def answer(*blocks: dict[str, Any], number: int = 0, model: str = "claude-sonnet-4-5", tokens: int = 100) -> dict[str, Any]:
    message = {
        "id": f"msg_{number}",
        "role": "assistant",
        "model": model,
        "content": list(blocks),
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn",
        "usage": {"input_tokens": tokens, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 0, "output_tokens": 10},
    }
    return _record("assistant", message, number)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Read", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments or {"file_path": "/src/a.py"}}


def result(id: str, content: str = "1 line", *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}


def _record(type: str, message: dict[str, Any], number: int) -> dict[str, Any]:
    time = f"2026-11-{18 + number // 20:02}T10:{number % 60:02}:00.000Z"
    return {"type": type, "message": message, "timestamp": time, "cwd": "/yard/shop", "version": "2.0.14", "isSidechain": False}


def write_session(home: Path, id: str, records: list[dict[str, Any]], *, at: int = 0, project: str = "-yard-shop") -> Path:
    """`at`: seconds after BEGAN at which the file changed last."""
    path = home / ".claude/projects" / project / f"{id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    linked = [
        {**record, "uuid": f"{id}-{place}", "parentUuid": f"{id}-{place - 1}" if place else None, "sessionId": id}
        for place, record in enumerate(records)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in linked))
    os.utime(path, (BEGAN + at, BEGAN + at))
    return path


GOOD = [
    user("Count the lines"),
    answer(call("toolu_1"), number=1),
    user([result("toolu_1")], 2),
    answer(call("toolu_2"), number=3),
    user([result("toolu_2")], 4),
    answer(call("toolu_3", "Bash", command="ls"), number=25, model="claude-opus-4-1"),
    user([result("toolu_3", "ls: error 17", is_error=True)], 26),
    answer(text("One line."), number=27),
]
"""Reads the same file twice; goes on a day later, with another model; one error."""
REFUSED = [user("Count"), answer(call("toolu_9"), number=1), user("Go on", 2), answer(text("Done."), number=3)]
"""A call without a result."""


def make_session(team: Team) -> Session:
    """A row of the index whose file is gone."""
    source = choose_folder(team, "/nowhere")
    facts = {"path": "/nowhere/a.jsonl", "key": "a", "state": "1:1", "read_state": "1:1", "changed_at": timezone.now()}
    note_changes(pk=source.pk)
    return Session.objects.create(team=team, source=source, **facts)
