"""`chainviz fix` on sessions of Codex."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import META, Lines, item, json_lines, patched, reasoned, words


def test_a_rewritten_line_of_codex_keeps_its_time(tmp_path: Path, capsys: Any) -> None:
    """Codex passes over lines without one."""

    def line(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-11-21T20:00:00Z", "type": "response_item", "payload": {"type": "message", **payload}}

    asked = line(role="user", content=[{"type": "input_text", "text": "Hello"}])
    answer = line(role="assistant", content=[{"type": "text", "text": "Hi."}])
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([asked, answer]))
    assert main(["fix", "--format", "codex_rollout", str(session)]) == 0
    lines = [json.loads(each) for each in session.read_bytes().splitlines()]
    said = capsys.readouterr().out
    assert "No text changes" in said and "~ s1.p1.m0: Rewrite the message: A message in pair 1.1" in said
    assert lines != [asked, answer] and all(each["timestamp"] == asked["timestamp"] for each in lines)


def test_a_patch_is_answered_by_the_output_of_its_own_kind(tmp_path: Path) -> None:
    """Codex and its API match the output of a custom tool only with a custom tool's call."""
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([META, words("user", "Look"), patched("c1"), words("user", "Again")]))
    assert main(["fix", str(session)]) == 0
    added = json.loads(session.read_bytes().splitlines()[3])["payload"]
    assert (added["type"], added["call_id"]) == ("custom_tool_call_output", "c1")


@pytest.mark.parametrize("behind", [[words("user", "Again"), words("assistant", "Hi")], []])
def test_reasoning_that_nothing_follows_goes(behind: list[dict[str, Any]], tmp_path: Path, capsys: Any) -> None:
    """An interrupted answer leaves such reasoning. `check` warns of it, because not every model refuses it."""
    session = tmp_path / "session.jsonl"
    before = [META, words("user", "Look"), reasoned(), words("assistant", "Hi"), words("user", "And?")]
    session.write_bytes(json_lines([*before, reasoned(), *behind]))
    check = ["check", "--provider", "openai-responses", str(session)]
    assert main(check) == 1 and "reasoning-without-item" in capsys.readouterr().out
    assert main(["fix", str(session)]) == 0
    assert session.read_bytes() == json_lines([*before, *behind])
    capsys.readouterr()
    main(check)
    assert "reasoning-without-item" not in capsys.readouterr().out


def test_nothing_before_a_compaction_is_fixed(tmp_path: Path) -> None:
    """Codex goes on from what the compaction put in its place."""
    session = tmp_path / "session.jsonl"
    kept = [words("user", "Look")["payload"], {"type": "compaction", "encrypted_content": "gAAA"}]
    compacted = {**META, "type": "compacted", "payload": {"message": "", "replacement_history": kept}}
    lost = item(type="function_call_output", call_id="c0", output="old")
    lines = [META, words("user", "Look"), lost, compacted, words("user", "Go on")]
    session.write_bytes(json_lines(lines))
    assert main(["fix", "--check", str(session)]) == 0
    session.write_bytes(json_lines([*lines, patched("c1")]))
    assert main(["fix", str(session)]) == 0
    assert session.read_bytes().startswith(json_lines([*lines, patched("c1")]))


def test_the_head_of_a_session_stays_before_a_rewritten_first_message(tmp_path: Path) -> None:
    """Codex gives the texts of a review ids that its API refuses, and opens no session that begins with another line."""
    session = tmp_path / "session.jsonl"
    asked, answer = words("user", "Look"), words("assistant", "Hi")
    named = [{**each, "payload": {**each["payload"], "id": "review_rollout"}} for each in (asked, answer)]
    session.write_bytes(json_lines([META, *named]))
    assert main(["fix", str(session)]) == 0
    assert [json.loads(each) for each in session.read_bytes().splitlines()] == [META, asked, answer]


def test_a_picture_that_no_api_can_open_becomes_a_note(tmp_path: Path) -> None:
    session = tmp_path / "rollout.jsonl"
    output = [{"type": "input_image", "image_url": "screenshot.png"}, {"type": "input_image", "image_url": "https://example.org/a.png"}]
    call = item(type="function_call", name="view_image", arguments="{}", call_id="c1")
    result = item(type="function_call_output", call_id="c1", output=output)
    session.write_bytes(json_lines([META, words("user", "Look"), call, result, words("assistant", "Hi")]))
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert "[A picture was here: screenshot.png]" in after and after.count("input_image") == 1
    assert main(["fix", "--check", str(session)]) == 0


def numbered(lines: Lines, *numbers: int) -> Lines:
    return [{**each, "ordinal": number} for each, number in zip(lines, numbers or range(len(lines)), strict=True)]


CALLED = [META, words("user", "Look"), patched("c1"), words("user", "Again"), words("assistant", "Hi")]


@pytest.mark.parametrize("numbers", [(0, 1, 2, 3, 4), (7, 8, 9, 10, 11), (0, 1, 2, 2, 3)])
def test_the_records_of_a_session_stay_numbered_without_a_gap(numbers: tuple[int, ...], tmp_path: Path) -> None:
    """Newer versions of Codex open no session with a record that has no number, and show none behind a number that repeats."""
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(numbered(CALLED, *numbers)))
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [each["ordinal"] for each in after] == list(range(numbers[0], numbers[0] + len(CALLED) + 1))
    assert main(["fix", "--check", str(session)]) == 0


def test_a_number_that_repeats_or_is_missing_is_damage(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    said = [META, words("user", "Look"), words("assistant", "Hi"), words("user", "And?")]
    for written in (numbered(said, 0, 1, 1, 2), [*numbered(said[:3]), said[3]]):
        session.write_bytes(json_lines(written))
        assert main(["fix", str(session)]) == 0
        assert [json.loads(each) for each in session.read_bytes().splitlines()] == numbered(said)
        assert "are renumbered" in capsys.readouterr().out
    session.write_bytes(json_lines(said))
    assert main(["fix", "--check", str(session)]) == 0, "older versions number nothing"
