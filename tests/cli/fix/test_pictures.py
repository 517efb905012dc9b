"""`chainviz fix` where a request holds pictures that the API refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import json_lines, line, pixels, said, showed, told


def test_pictures_that_are_too_large_beside_many_others_go(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    few = [said(0, "Look"), showed(1, pixels(2001)), *(showed(n, pixels(9)) for n in range(2, 21)), told(21, "I see.")]
    session.write_bytes(json_lines(few))
    assert main(["fix", "--check", str(session)]) == 0
    session.write_bytes(json_lines([*few, showed(22, pixels(9))]))
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count('"image"') == 20 and "2,001 × 9 pixels" in json.loads(after.splitlines()[1])["message"]["content"][0]["text"]


@pytest.mark.parametrize(("large", "small", "gone"), [(5, 16, 1), (5, 18, 3), (3, 30, 3), (21, 0, 1), (20, 0, 0)])
def test_only_as_many_large_pictures_go_as_are_too_many(tmp_path: Path, large: int, small: int, gone: int) -> None:
    """The API takes 20 pictures of any size up to 8,000 pixels, or more that are small: the oldest large ones go."""
    session = tmp_path / "session.jsonl"
    shown = [showed(n, pixels(2001 + n if n <= large else 9)) for n in range(1, large + small + 1)]
    session.write_bytes(json_lines([said(0, "Look"), *shown, told(len(shown) + 1, "I see.")]))
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count("[A picture of") == gone and after.count('"image"') == large + small - gone
    assert re.findall(r"A picture of ([\d,]+) ", after) == [f"{2001 + n:,}" for n in range(1, gone + 1)]
    assert main(["fix", "--check", str(session)]) == 0


def test_a_picture_that_no_request_may_hold_leaves_room_for_the_others(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    sizes = [8001, *[2001] * 20]
    shown = [showed(n, pixels(width)) for n, width in enumerate(sizes, 1)]
    session.write_bytes(json_lines([said(0, "Look"), *shown, told(len(shown) + 1, "I see.")]))
    assert main(["fix", str(session)]) == 0
    assert re.findall(r"A picture of ([\d,]+) ", session.read_text()) == ["8,001"]


def test_of_one_result_only_the_pictures_that_are_too_many_go(tmp_path: Path) -> None:
    session = tmp_path / "session.jsonl"
    held = [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": pixels(2001)}}] * 22
    result = {"type": "tool_result", "tool_use_id": "t1", "content": held}
    call = {"id": "m1", "type": "message", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "see", "input": {}}]}
    session.write_bytes(json_lines([
        said(0, "Look"), line(1, "assistant", call), line(2, "user", {"role": "user", "content": [result]}), told(3, "I see."),
    ]))  # fmt: skip
    assert main(["fix", str(session)]) == 0
    after = session.read_text()
    assert after.count('"image"') == 20 and after.count("A picture of") == 2
