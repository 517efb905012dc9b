"""An agent goes on with a session that chainviz converted from another agent's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import chainviz
from chainviz.api.sessions import HandOff, hand_off
from tests.agents.driver import Workplace, what_is_missing
from tests.agents.programs import CODEX, GEMINI, OPENCODE, QWEN, Agent

pytestmark = [pytest.mark.agents, pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing())]
CHAIN = [
    {"role": "user", "content": "How many crates are in the depot?"},
    {"role": "assistant", "content": "Looking.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "count", "arguments": '{"where": "depot"}'}}
    ]},
    {"role": "tool", "tool_call_id": "call_1", "content": "4"},
    {"role": "assistant", "content": "Four crates."},
]  # fmt: skip
NEXT = "And in the yard?"


def _codex(place: Workplace, made: HandOff) -> tuple[str, ...]:
    made.write(place.home / ".codex" / made.target.path(made.session))
    return ("exec", "--skip-git-repo-check", "resume", made.session.id)


def _opencode(place: Workplace, made: HandOff) -> tuple[str, ...]:
    path = made.write(place.folder / "session.json")
    place.run("import", str(path))
    return ("run", "--session", json.loads(made.content)["info"]["id"])


def _gemini_cli(place: Workplace, made: HandOff) -> tuple[str, ...]:
    path = made.write(place.folder / "session.jsonl")
    return ("--yolo", "--skip-trust", "--session-file", str(path), "-p")


def _qwen_code(place: Workplace, made: HandOff) -> tuple[str, ...]:
    made.write(place.home / ".qwen" / made.target.path(made.session))
    return ("--auth-type", "openai", "--yolo", "--resume", made.session.id, "-p")


@pytest.mark.parametrize(
    ("name", "agent", "install"),
    [("codex", CODEX, _codex), ("opencode", OPENCODE, _opencode), ("gemini-cli", GEMINI, _gemini_cli), ("qwen-code", QWEN, _qwen_code)],
)
def test_a_session_that_was_handed_off_resumes(
    name: str, agent: Agent, install: Callable[[Workplace, HandOff], tuple[str, ...]], tmp_path: Path
) -> None:
    place = Workplace(agent, tmp_path)
    place.begin("Hello")
    (chain,) = chainviz.load(CHAIN)
    arguments = install(place, hand_off(chain, name, folder=place.folder / "project", model="local/m"))
    run = place.run(*arguments, NEXT)
    assert run.requests and not run.faults, (run.faults, run.output)
    for text in ("How many crates are in the depot?", "Looking.", "Four crates.", NEXT):
        assert run.has_said(text), text
    sent = json.dumps(run.requests[-1])
    assert '"count"' in sent and "depot" in sent.replace("in the depot", ""), "the call is part of the history"


def test_a_session_without_a_result_resumes(tmp_path: Path) -> None:
    place = Workplace(GEMINI, tmp_path)
    place.begin("Hello")
    (chain,) = chainviz.load([message for message in CHAIN if message["role"] != "tool"])
    run = place.run(*_gemini_cli(place, hand_off(chain, "gemini-cli", folder=place.folder / "project")), NEXT)
    assert run.requests and not run.faults and run.has_said("Four crates."), (run.faults, run.output)
