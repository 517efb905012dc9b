"""`chainviz parse` and `chainviz state` tell what core reads, in words and as an object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main

ANSWER = 'Well.\n\n# Thinking\n\nBay 4?\n\n# Action\n\n{"tool": "look", "args": {"bay": 4}}\n'
STATE = {
    "version": 1, "provider": "openai", "processed_length": 1,
    "messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "And?"}],
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "state.json"
    path.write_text(json.dumps(STATE))
    return path


def test_an_answer_is_its_sections_and_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.md"
    path.write_text(ANSWER)
    for given in (ANSWER, str(path)):
        main(["parse", given, "--json"])
        told = json.loads(capsys.readouterr().out)
        assert [each["name"] for each in told["sections"]] == ["thinking", "action"]
        assert told["sections"][0]["content"] == "Bay 4?"
        assert told["missing"] == ["answer"] and told["error"] is None
        start, end = told["ignored"][0]["start"], told["ignored"][0]["end"]
        assert ANSWER[start:end] == "Well."
        (action,) = told["actions"]
        assert [each["name"] for each in action["calls"]] == ["look"]
    main(["parse", ANSWER])
    words = capsys.readouterr().out
    assert "call look" in words and "missing: answer" in words


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nothing here"], "No sections found"), (["<action>a <answer> b</action>", "--format", "xml", "--strict"], "Ambiguous tags")],
)
def test_an_answer_that_a_program_cannot_read_is_exit_code_1(words: list[str], said: str, capsys: Any) -> None:
    assert main(["parse", *words]) == 1
    assert said in capsys.readouterr().err


def test_broken_calls_are_told_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", '# Action\n\n[{"tool": "a", "args": {}}, {"args": 3}]']) == 1
    told = capsys.readouterr().out
    assert "call a" in told and "not a call" in told and "no call runs" in told


def test_a_state_is_checked(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["state", str(file)]) == 0
    assert "2 messages, 1 seen by the model, 1 appended since" in capsys.readouterr().out
    assert main(["state", str(file), "--provider", "anthropic", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["problem"]["fault"] == "provider_mismatch"
    assert told["checks"]["corrupted_message"] == "not checked"


def test_a_broken_state_is_salvaged_and_never_overwritten(file: Path, tmp_path: Path, capsys: Any) -> None:
    file.write_text(json.dumps({**STATE, "messages": [STATE["messages"][0], 5]}))
    out = tmp_path / "out.json"
    assert main(["state", str(file), "--out", str(out)]) == 2
    assert not out.exists() and "Resolve this first" in capsys.readouterr().err
    assert main(["state", str(file), "--salvage", "--out", str(out)]) == 1
    assert "message 2 cannot" in capsys.readouterr().out
    assert json.loads(out.read_text())["messages"] == [STATE["messages"][0]]


def test_of_a_transcript_it_says_what_is_stored_and_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "talk.json", tmp_path / "state.json"
    talk = [{"role": "system", "content": "Be kind."}, *STATE["messages"]]
    file.write_text(json.dumps(talk))
    assert main(["state", str(file), "--user", "And now?", "--json", "--out", str(out)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["provider"], told["next_call"]["stored"]["messages"], told["next_call"]["sent"]["messages"]) == ("openai", 2, 4)
    assert json.loads(out.read_text())["messages"] == STATE["messages"]
    assert main(["state", str(file), "--salvage"]) == 2
    assert "nothing to salvage" in capsys.readouterr().err


def test_a_simulation_says_when_a_strategy_would_have_fired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    talk = [{"role": role, "content": f"{number}"} for number in range(4) for role in ("user", "assistant")]
    file, strategy = tmp_path / "talk.json", tmp_path / "limit.json"
    file.write_text(json.dumps(talk))
    strategy.write_text('{"type": "message_limit", "max_messages": 4}')
    assert main(["simulate", str(file), "--strategy", f"Four=@{strategy}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [line["name"] for line in told["lines"]] == ["No compaction", "Four", "Summarize", "Redact"]
    assert [each["turn"] for each in told["lines"][1]["fired"]] == [3, 4]
    assert told["lines"][1]["lost"] == {"by_turn": 4, "turns": 1, "messages": 2, "results": 0, "systems": 0, "bytes": 2}
    assert main(["simulate", str(file), "--strategy", "Four=@nowhere"]) == 2
    assert main(["simulate", str(file), "--turn", "9"]) == 2
    assert "there is no turn 9" in capsys.readouterr().err


def test_observations_are_listed_beside_their_calls(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "talk.json"
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    talk = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a door"},
        {"role": "assistant", "content": '<action>{"tool": "open", "args": {}}</action>'},
        {"role": "user", "content": "<observation>\n[open] Error: it is locked\n</observation>"},
    ]
    file.write_text(json.dumps(talk))
    assert main(["observations", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["observations"]
    assert [(each["convention"], each["results"][0]["tool"], each["results"][0]["is_error"]) for each in found] == [
        ("native", "look", False),
        ("brackets", "open", True),
    ]
    assert found[1]["results"][0]["call"]["by"] == "order"
    assert main(["observations", str(file)]) == 0
    assert "2 results, 1 error, 0 media" in capsys.readouterr().out
    assert main(["observations", str(file), "--as", "xml"]) == 0
    assert capsys.readouterr().out == '<observation>\n<look>\n"a door"\n</look>\n</observation>\n'
    assert main(["observations", str(file), "--as", "markdown", "--syntax", "yaml", "--wrapper", "section", "--json"]) == 0
    (text,) = json.loads(capsys.readouterr().out)["texts"]
    assert text == {"text": "# observation\n# look\na door", "media": 0, "errors": [None]}
