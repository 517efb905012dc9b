"""`chainviz fix` on the shapes in which sessions break: valid afterwards, and put back on request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import Lines, errors, json_lines, one_list
from tests.cli.fix.shapes import ANTHROPIC, CLAUDE, CODEX, OPENAI, OPENHANDS, OPENHANDS_0, PI

SHAPES = [
    *(pytest.param(json_lines, lines, "claude_code", "anthropic", id=name) for name, lines in CLAUDE.items()),
    *(pytest.param(json_lines, lines, "pi_session", "anthropic", id=name) for name, lines in PI.items()),
    *(pytest.param(json_lines, lines, "codex_rollout", "openai-responses", id=f"Codex: {n}") for n, lines in CODEX.items()),
    *(pytest.param(json_lines, lines, "openhands", "openai-chat", id=f"OpenHands: {n}") for n, lines in OPENHANDS.items()),
    *(pytest.param(one_list, lines, "openhands", "openai-chat", id=f"OpenHands 0: {n}") for n, lines in OPENHANDS_0.items()),
    *(pytest.param(one_list, lines, "openai_chat", "openai-chat", id=name) for name, lines in OPENAI.items()),
    *(pytest.param(one_list, lines, "anthropic", "anthropic", id=name) for name, lines in ANTHROPIC.items()),
]


@pytest.mark.parametrize(("write", "lines", "format", "provider"), SHAPES)
def test_a_broken_session_is_valid_afterwards_and_can_be_put_back(
    write: Callable[[Lines], bytes], lines: Lines, format: str, provider: str, tmp_path: Path, capsys: Any
) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(write(lines))
    arguments = ["fix", "--format", format, str(session)]
    assert errors(session, format, provider) != []
    assert main(["fix", "--format", format, "--check", str(session)]) == 1
    assert session.read_bytes() == write(lines), "--check writes nothing"
    assert main(arguments) == 0
    assert errors(session, format, provider) == []
    assert main(arguments) == 0 and "accepts it" in capsys.readouterr().out
    backup = next(tmp_path.glob("session.jsonl.backup-*"))
    assert backup.read_bytes() == write(lines)
    assert main(["fix", "--restore", str(session)]) == 0
    assert session.read_bytes() == write(lines)
