"""`apply redact` and `apply mask` write files that hold nothing of what was taken out but in messages of other chains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.chains.making import ai, human, result

GONE = 'Ada Lovelace is in ward 3\nand calls it "the mill" – ' + "so it goes " * 12
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def run(text: str) -> dict[str, Any]:
    messages = [human("Read"), ai(None, ("c1", "read_ward", {})), result("c1", text) | {"raw": {"stdout": text}}, ai("Done.")]
    return {"log": json.dumps({"seen": text}), "messages": messages}


@pytest.mark.parametrize(("operation", "text"), [("redact", GONE), ("mask", f"the token is {KEY}")])
def test_copies_around_the_messages_leave_the_file(operation: str, text: str, tmp_path: Path, capsys: Any) -> None:
    file, out = tmp_path / "runs.json", tmp_path / "out.json"
    file.write_text(json.dumps({"events": [text, json.dumps([json.dumps(text)])], "runs": [run(text), run("nothing of it")]}))
    assert main(["apply", operation, str(file), "--out", str(out)]) == 0
    assert "Lovelace" not in out.read_text()
    assert KEY not in out.read_text()
    assert json.loads(out.read_text())["runs"][1]["messages"][0] == human("Read")
    assert "warning" not in capsys.readouterr().err


def test_another_chain_keeps_its_messages_and_is_named(tmp_path: Path, capsys: Any) -> None:
    file, out = tmp_path / "runs.json", tmp_path / "out.json"
    file.write_text(json.dumps({"events": [GONE], "runs": [run(GONE), run(GONE)]}))
    assert main(["apply", "redact", str(file), "--chain", "1", "--out", str(out)]) == 0
    left = json.loads(out.read_text())
    assert left["runs"][1]["messages"] == run(GONE)["messages"]
    assert "Lovelace" not in json.dumps([left["events"], left["runs"][0], left["runs"][1]["log"]])
    assert "runs/1/messages still contains some of the removed content" in capsys.readouterr().err


def test_a_mask_writes_nothing_anew_but_the_value(tmp_path: Path) -> None:
    content = [{"type": "tool_result", "tool_use_id": "t1", "content": f"TOKEN={KEY}\n"}]
    lines = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Look"}},
        {"type": "assistant", "uuid": "u2", "message": {"id": "m", "role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "env"}}]}},
        {"type": "user", "uuid": "u3", "toolUseResult": {"stdout": f"TOKEN={KEY}\n", "stderr": "", "isImage": False},
         "message": {"role": "user", "content": content}},
    ]  # fmt: skip
    file, out = tmp_path / "session.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["apply", "mask", str(file), "--out", str(out)]) == 0
    assert out.read_text() == file.read_text().replace(KEY, "[GITHUB_TOKEN_1]")


def threads(*texts: str) -> str:
    """A session whose sub-agents read a text each."""
    lines = []
    for number, text in enumerate(texts):
        own = {"sessionId": "s", "isSidechain": bool(number), **({"agentId": f"a{number}"} if number else {})}
        call = {"type": "tool_use", "id": f"t{number}", "name": "read_ward", "input": {}}
        back = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        for kind, content in (("user", "Read"), ("assistant", [call]), ("user", [back]), ("assistant", "Done.")):
            uuid, parent = f"{number}-{len(lines)}", f"{number}-{len(lines) - 1}" if kind != "user" or content == [back] else None
            message = {"role": kind, "content": content} | ({"id": f"m{uuid}"} if kind == "assistant" else {})
            lines.append({"parentUuid": parent, **own, "type": kind, "message": message, "uuid": uuid})
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize("chosen", [[], ["--chain", "1"]])
def test_threads_of_a_session_are_changed_in_one_file(chosen: list[str], tmp_path: Path, capsys: Any) -> None:
    file, out = tmp_path / "session.jsonl", tmp_path / "out.jsonl"
    file.write_text(threads(GONE, GONE, "Grace Hopper is in ward 4. " * 12))
    assert main(["apply", "redact", str(file), *chosen, "--out", str(out)]) == 0
    assert "Lovelace" not in out.read_text(), "the rest of a document loses what was taken out of one of its chains"
    assert ("Hopper" in out.read_text()) == bool(chosen)
    assert len(out.read_text().splitlines()) == 12
    assert "warning" not in capsys.readouterr().err
