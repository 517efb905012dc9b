"""How a run ended is told where its transcript records it (issue 12)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.api.json_objects import facts_object
from chainviz.core.diff.runs import MOST_SCORES
from tests.shared_folder import shared

MESSAGES = [{"role": "user", "content": "Book it"}, {"role": "assistant", "content": "Booked."}]


def outcome(tmp_path: Path, document: Any) -> dict[str, str]:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(document), "utf-8")
    return chainviz.load(file)[0].recorded_outcome


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({}, {}),
        ({"reward": 1.0}, {"Reward": "1"}),
        ({"reward": None, "reward_info": {"reward": 0.5}, "termination_reason": "user_stop"},
         {"Reward": "0.5", "Termination reason": "user_stop"}),
        ({"info": {"exit_status": "submitted", "submission": "\ndiff --git a b\n+x\n"}},
         {"Exit status": "submitted", "Submission": "diff --git a b … (2 lines, 19 characters)"}),
        ({"info": {"exit_status": "TimeoutError", "submission": ""}}, {"Exit status": "TimeoutError", "Submission": "empty"}),
        ({"scores": {"includes": {"value": "C"}, "odd": 3}}, {"Score includes": "C"}),
        ({"success": False}, {"Success": "no"}),
        ({"reward": {"is": "no value"}, "scores": "none", "info": [1]}, {}),
    ],
)  # fmt: skip
def test_what_lies_beside_the_messages_is_told(tmp_path: Path, members: dict[str, Any], expected: dict[str, str]) -> None:
    assert outcome(tmp_path, {**members, "messages": MESSAGES}) == expected


def test_each_run_of_a_file_has_its_own(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([{"traj": MESSAGES, "reward": number} for number in (0.0, 1.0)]), "utf-8")
    one, other = chainviz.load(file)
    assert (one.recorded_outcome, other.recorded_outcome) == ({"Reward": "0"}, {"Reward": "1"})
    found = chainviz.diff(one, other)
    assert "\nReward " in str(found) and " 0 ≠ 1\n" in str(found)
    assert facts_object(found.facts[1])["recorded_outcome"] == {"Reward": "1"}


def test_a_chain_that_left_its_file_has_none(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"messages": MESSAGES, "reward": 1}), "utf-8")
    chain = chainviz.load(file)[0]
    assert chain.apply("convert", to="anthropic").chain.recorded_outcome == {}


def test_of_very_many_scores_some_are_told(tmp_path: Path) -> None:
    assert len(outcome(tmp_path, {"messages": MESSAGES, "scores": {f"{i}": {"value": i} for i in range(999)}})) == MOST_SCORES


REAL = {
    "tau-bench/gpt-4o-airline__000.json": "Reward",
    "tau2-bench/airline__049.json": "Termination reason",
    "mini-swe-agent/*pvlib*": "Exit status",
    "swe-agent/16d9f3ac*": "Submission",
    "docent/log__samples__72_epoch_1.json": "Score includes",
    "openhands/426a0f*": "Success",
    "claude-code-stream-json/03*": "Result",
}


@pytest.mark.parametrize("pattern", REAL)
def test_real_transcripts_record_it(pattern: str) -> None:
    (file,) = shared("transcripts").glob(pattern)
    assert REAL[pattern] in chainviz.load(file)[0].recorded_outcome
