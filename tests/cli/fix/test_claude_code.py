"""`chainviz fix` on sessions of Claude Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from chainviz.cli import main
from tests.cli.fix.sessions import COMPACTED, SHARED, answered, called, errors, json_lines, said, thought, told
from tests.cli.fix.shapes import CLAUDE


def test_lines_that_the_fix_does_not_touch_stay_byte_for_byte(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    before = json_lines(CLAUDE["an interrupted call"]).splitlines()
    session.write_bytes(b"\n".join(before) + b"\n")
    main(["fix", str(session)])
    after = session.read_bytes().splitlines()
    assert before[:2] == after[:2] and before[3:] == after[4:]
    added, linked = json.loads(after[2]), json.loads(after[3])
    assert (added["parentUuid"], linked["parentUuid"]) == ("u1", added["uuid"])
    assert added["sessionId"] == "s-1", "the agent finds its lines by their session"


def test_every_branch_and_sub_agent_is_fixed(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    aside = {"isSidechain": True, "agentId": "a7"}
    lines = [
        said(0, "Look"), called(1, "t1"), said(2, "Not there"), called(3, "t2"), said(4, "Here", parentUuid="u1"),
        said(5, "Warm up", parentUuid=None, **aside), called(6, "t3", **aside), told(7, "Done.", parentUuid="u4"),
    ]  # fmt: skip
    session.write_bytes(json_lines(lines))
    assert all(errors(session, "claude_code", "anthropic", chain) for chain in range(3))
    assert main(["fix", str(session)]) == 0
    assert [errors(session, "claude_code", "anthropic", chain) for chain in range(3)] == [[], [], []]
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [each["uuid"] for each in after if each["uuid"][0] == "u"] == [each["uuid"] for each in lines]
    assert len(after) == len(lines) + 3, "the branches share the result of their first call"
    assert len(list(tmp_path.glob("*.backup-*"))) == 1
    assert main(["fix", str(session)]) == 0 and capsys.readouterr().out.count("accepts it") == 3


BOUNDARY = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": "u2"}


def test_only_what_is_still_sent_after_a_compaction_is_fixed(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    boundary = {"parentUuid": None, **SHARED, **BOUNDARY, "uuid": "u3"}
    before = [said(0, "Look"), called(1, "t1"), said(2, "Are you there?")]
    lines = [*before, boundary, said(4, "The summary.", **COMPACTED), answered(5, "t1"), told(6, "Done.")]
    session.write_bytes(json_lines(lines))
    assert main(["check", "--provider", "anthropic", str(session)]) == 1
    assert "of these problems are in messages that the agent no longer sends" in capsys.readouterr().out
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert after[:5] == lines[:5], "the open call before the compaction is not sent any more"
    assert "t1" in after[5]["message"]["content"][0]["text"], "and its result is no result of anything that is sent"
    assert main(["fix", "--check", str(session)]) == 0


def test_signed_reasoning_behind_a_fix_is_noted_and_no_error(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    answer = thought(3)
    answer["message"]["content"].append({"type": "text", "text": "Done."})
    session.write_bytes(json_lines([said(0, "Look"), called(1, "t1"), said(2, "And?"), answer]))
    assert main(["fix", str(session)]) == 0
    assert "Signed reasoning follows the change" in capsys.readouterr().out
