"""`chainviz fix` on files whose lines are no records: cut off, run into one another, or behind one that was never written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import json_lines, said, told
from tests.cli.fix.shapes import CLAUDE


def test_a_raw_control_character_is_escaped(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    whole = json_lines(CLAUDE["an interrupted call"])
    lines = whole.splitlines(keepends=True)
    lines[0] = lines[0].replace(b'"uuid"', b'"made": "\x1b[0m", "uuid"', 1)
    session.write_bytes(b"".join(lines))
    assert main(["fix", str(session)]) == 0
    assert "Line 1 had a raw control character, which is now escaped." in capsys.readouterr().out
    assert json.loads(session.read_bytes().splitlines()[0])["made"] == "\x1b[0m"


SESSION = json_lines([said(0, "Look"), told(1, "One"), said(2, "And?"), told(3, "Two"), said(4, "Fine")]).splitlines()
DAMAGED = {
    "two whole records on one line": (
        [SESSION[0], SESSION[1] + SESSION[2], *SESSION[3:]], SESSION, "Line 2 has 2 records and is split.",
    ),
    "a record that was cut off, and the next one behind it": (
        [SESSION[0], SESSION[1][:-40] + SESSION[2], *SESSION[3:]], [SESSION[0], *SESSION[2:]],
        "Line 2 has a record that was cut off; 1 whole record is kept.",
    ),
    "a record that was cut off after a whole block of it": (
        [SESSION[0], SESSION[1][: SESSION[1].index(b"}]")+ 1] + SESSION[2], *SESSION[3:]], [SESSION[0], *SESSION[2:]],
        "Line 2 has a record that was cut off; 1 whole record is kept.",
    ),
    "a whole record, and one that was cut off": (
        [*SESSION[:2], SESSION[2] + SESSION[3][:60], SESSION[4]], [*SESSION[:3], SESSION[4]],
        "Line 3 has a record that was cut off; 1 whole record is kept.",
    ),
    "zeros before a record": (
        [*SESSION[:2], bytes(99) + SESSION[2], *SESSION[3:]], SESSION, "Line 3 has one record and remains of a crash.",
    ),
    "a record that was cut off in the middle": (
        [*SESSION[:2], SESSION[2][:-9], *SESSION[3:]], [*SESSION[:2], *SESSION[3:]], "Line 3 is not valid JSON and is removed.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_whole_records_of_a_damaged_line_stay(name: str, tmp_path: Path, capsys: Any) -> None:
    """Unsynchronized writers and crashes damage lines. A record after a lost one follows the record before it."""
    written, kept, sentence = DAMAGED[name]
    session = tmp_path / "session.jsonl"
    session.write_bytes(b"\n".join(written) + b"\n")
    assert main(["fix", str(session)]) == 0
    assert sentence in capsys.readouterr().out
    values = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [value["uuid"] for value in values] == [json.loads(each)["uuid"] for each in kept]
    assert [value["parentUuid"] for value in values] == [None, *(value["uuid"] for value in values[:-1])]


def test_a_record_that_follows_one_that_was_never_written_follows_the_one_before_it(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    aside: dict[str, Any] = {"isSidechain": True, "agentId": "a7", "parentUuid": "elsewhere"}
    lines = [said(0, "Look"), told(1, "One"), said(5, "Sub task", **aside), said(2, "And?", parentUuid="phantom"), told(3, "Two")]
    session.write_bytes(json_lines(lines))
    assert main(["fix", "--check", str(session)]) == 1
    assert main(["fix", str(session)]) == 0
    assert "Line 4 followed a record that is not in the file; it now follows line 2." in capsys.readouterr().out
    values = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [value["parentUuid"] for value in values] == [None, "u0", "elsewhere", "u1", "u2"]


def test_a_line_that_was_cut_off_goes(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    whole = json_lines([said(0, "Look"), told(1, "Done.")])
    session.write_bytes(whole + b'{"type": "assistant", "mess')
    assert main(["fix", str(session)]) == 0
    assert session.read_bytes() == whole
    assert "Line 3 is not valid JSON and is removed" in capsys.readouterr().out


def event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": f"e{number}", "timestamp": "2026-07-12T10:00:00.000Z", "parentId": f"e{number - 1}"}


CALL = {"toolCallId": "toolu_1", "name": "bash", "arguments": {"command": "ls"}, "type": "function"}
EVENTS = [
    event(1, "session.start", sessionId="s1", version=1, producer="copilot-agent", copilotVersion="1.0.71"),
    event(2, "user.message", content="Count the\u2028docks."),
    event(3, "assistant.message", messageId="m3", content="I look.", toolRequests=[CALL]),
    event(4, "tool.execution_complete", toolCallId="toolu_1", success=True, result={"content": "Four."}),
]


def test_a_whole_event_of_a_new_kind_behind_its_cut_copy_stays(tmp_path: Path) -> None:
    """The only event of its kind is recognised by its members. See github.com/github/copilot-cli/issues/4098."""
    lines = [json.dumps(each) for each in EVENTS]
    session = tmp_path / "events.jsonl"
    for cut in range(20, len(lines[3]) - 1, 17):
        session.write_text("\n".join([*lines[:3], lines[3][:cut] + lines[3]]) + "\n")
        assert main(["fix", str(session)]) == 0
        assert session.read_text().splitlines() == lines


def test_a_line_separator_is_escaped_for_an_agent_that_splits_lines_there(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "events.jsonl"
    session.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in EVENTS) + "\n")
    assert main(["fix", str(session)]) == 0
    assert "Line 2 had a line separator (U+2028 or U+2029)" in capsys.readouterr().out
    assert "\u2028" not in session.read_text() and [json.loads(line) for line in session.read_text().split("\n")[:-1]] == EVENTS
