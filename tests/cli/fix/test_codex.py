"""`chainviz fix` on sessions of Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainviz.cli import main
from tests.cli.fix.sessions import json_lines


def test_a_rewritten_line_of_codex_keeps_its_time(tmp_path: Path) -> None:
    """Codex passes over lines without one."""
    def line(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-21T20:00:00Z", "type": "response_item", "payload": {"type": "message", **payload}}

    asked = line(role="user", content=[{"type": "input_text", "text": "Hello"}])
    answer = line(role="assistant", content=[{"type": "text", "text": "Hi."}])
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([asked, answer]))
    assert main(["fix", "--format", "codex_rollout", str(session)]) == 0
    lines = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert lines != [asked, answer] and all(each["timestamp"] == asked["timestamp"] for each in lines)
