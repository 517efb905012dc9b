"""`chainviz fix` on conversations of OpenHands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import Lines, acted, asked, errors, json_lines, one_list
from tests.cli.fix.shapes import OPENHANDS, OPENHANDS_0


@pytest.mark.parametrize("write", [json_lines, one_list])
@pytest.mark.parametrize("name", OPENHANDS)
def test_events_of_openhands_stay_events_of_its_version(name: str, write: Callable[[Lines], bytes], tmp_path: Path) -> None:
    """OpenHands reads only events of its own version; an event of the older one would end the conversation."""
    session = tmp_path / "events.json"
    session.write_bytes(write(OPENHANDS[name]))
    main(["fix", str(session)])
    text = session.read_text()
    after = json.loads(text) if text.startswith("[") else [json.loads(each) for each in text.splitlines()]
    assert all(each["kind"] in ("MessageEvent", "ActionEvent", "ObservationEvent", "AgentErrorEvent") for each in after)
    assert all({"tool_name", "tool_call_id", "error"} <= each.keys() for each in after if each["kind"] == "AgentErrorEvent")


def conversation(folder: Path, lines: Lines, name: str) -> Path:
    """Write a conversation as OpenHands does, with a file for each event."""
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text("{}")
    for number, value in enumerate(lines):
        (folder / "events" / name.format(number=number, id=value["id"])).write_text(json.dumps(value))
    return folder


def held(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("name", OPENHANDS)
def test_a_conversation_in_a_folder_is_fixed_event_by_event(name: str, tmp_path: Path) -> None:
    """The events stay numbered without a gap, and unchanged events keep their bytes."""
    session = conversation(tmp_path / "c0ffee", OPENHANDS[name], "event-{number:05d}-{id}.json")
    before = held(session / "events")
    assert main(["fix", "--check", str(session)]) == 1 and held(session / "events") == before
    assert main(["fix", str(session)]) == 0
    after = held(session / "events")
    assert [each.split("-")[1] for each in sorted(after)] == [f"{number:05d}" for number in range(len(after))]
    assert all(json.loads(text)["id"] in file for file, text in after.items())
    assert len(set(after.values()) - set(before.values())) <= 1
    lines = [json.loads(after[file]) for file in sorted(after)]
    whole = tmp_path / "events.jsonl"
    whole.write_bytes(json_lines(lines))
    assert errors(whole, "openhands", "openai-chat") == [] and main(["fix", "--check", str(session)]) == 0
    (backup,) = session.glob("events.backup-*")
    assert held(backup) == before and sorted(path.name for path in session.iterdir())[0] == "base_state.json"
    assert main(["fix", "--restore", str(session)]) == 0 and held(session / "events") == before


@pytest.mark.parametrize("left", ["", '{"id": "e3", "kind": "Mess'])
@pytest.mark.parametrize("place", [1, 3])
def test_an_event_that_a_crash_cut_off_goes_and_comes_back_as_it_was(left: str, place: int, tmp_path: Path) -> None:
    """OpenHands opens no conversation with such a file."""
    lines = [asked(0, "Look"), asked(1, "Again"), acted(2, "c1"), asked(3, "And?")]
    session = conversation(tmp_path / "c0ffee", lines, "event-{number:05d}-{id}.json")
    (session / "events" / f"event-{place:05d}-e{place}.json").write_text(left)
    before = held(session / "events")
    assert main(["fix", str(session)]) == 0
    after = held(session / "events")
    assert all(json.loads(text)["kind"] for text in after.values())
    assert [each.split("-")[1] for each in sorted(after)] == [f"{number:05d}" for number in range(len(lines))]
    for _ in range(2):
        assert main(["fix", "--restore", str(session)]) == 0 and held(session / "events") == before


def test_a_conversation_of_the_older_version_keeps_its_names(tmp_path: Path) -> None:
    (lines,) = OPENHANDS_0.values()
    session = conversation(tmp_path / "old", lines, "{number}.json")
    assert main(["fix", str(session)]) == 0
    assert sorted(held(session / "events")) == ["0.json", "1.json", "2.json", "3.json"]
    (tmp_path / "none").mkdir()
    assert main(["fix", str(tmp_path / "none")]) == 2
