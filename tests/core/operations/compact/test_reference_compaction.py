"""Every case of seed 3's compaction, observed on the reference; and the readings this program takes (issue 9)."""

from __future__ import annotations

from typing import Any

import pytest

from chainviz.core.operations.compact import REFERENCE, Settings, parse_strategy
from chainviz.core.operations.compact.compactor_types import boundary
from chainviz.core.operations.compact.contract import Compactor, Panic
from chainviz.core.operations.compact.strategy import EVERYTHING_REMOVED
from chainviz.core.state.call import CompactionFailed, Window
from tests.cases import cases
from tests.core.operations.compact.made import REGISTRY, compact, kept, of_letters, of_roles, request

CASES = {case["id"]: case for case in cases("compaction/compaction.json")}
ADVANCE = {case["id"]: case for case in cases("compaction/advance_to_first_user.json")}
TARGET = {"tl-over", "tl-over-9", "tl-over-9b", "tl-far-over", "tl-barely-over", "tl-5", "tl-tools", "co-first-wins", "sp-message-trigger"}
"""Cases in which "down to the target" removes another number of messages than one third."""
LAST_TURN = {"ml-1", "ml-no-user-in-tail", "ml-long-tools", "tl-3b", "tl-no-user-after", "co-token-cannot"}
"""Cases in which the reference removes everything and the last turn is kept here."""


def outcome(case: dict[str, Any], settings: Settings) -> dict[str, Any]:
    try:
        found = compact(case["compactor"], request(of_roles(case["roles"]), case["prompt_tokens"]), settings)
    except Panic as panic:
        return {"panic": str(panic)}
    except CompactionFailed as failed:
        return {"error": str(failed)}
    return {"kept": kept(found), "was_compacted": found.did_compact}


@pytest.mark.parametrize("name", CASES)
def test_the_reference_is_reproduced(name: str) -> None:
    assert outcome(CASES[name], REFERENCE) == CASES[name]["expected"]["reference"]


@pytest.mark.parametrize("name", CASES)
def test_removing_everything_is_warned_of(name: str) -> None:
    case = CASES[name]
    if "kept" not in outcome(case, REFERENCE):
        return
    found = compact(case["compactor"], request(of_roles(case["roles"]), case["prompt_tokens"]), REFERENCE)
    flagged = case["expected"].get("warning") == "would_remove_everything"
    assert found.removes_everything == flagged == (EVERYTHING_REMOVED in found.warnings())


@pytest.mark.parametrize("name", ADVANCE)
def test_a_state_starts_at_its_first_human_message(name: str) -> None:
    case = ADVANCE[name]
    messages = of_roles(case["roles"])
    found = boundary(Window.of(messages), 0, "remove_all")
    assert list(range(len(messages)))[found.cut :] == case["expected"]["kept"]


@pytest.mark.parametrize("name", [name for name in CASES if name not in TARGET | LAST_TURN])
def test_by_default_the_recommended_reading_else_the_observed(name: str) -> None:
    expected = CASES[name]["expected"]
    wanted = expected.get("recommended", expected["reference"])
    assert outcome(CASES[name], Settings()) == {key: wanted[key] for key in wanted if key != "note"}


def test_a_split_is_a_full_compactor() -> None:
    """In the reference it has no Compact method, though the seed's example uses it as one."""
    value = {"type": "split", "trigger": {"type": "count_at_least", "n": 3}, "strategy": {"type": "message_limit", "max_messages": 2}}
    assert isinstance(parse_strategy(value), Compactor)
    found = compact({"type": "composite", "compactors": [value]}, request(of_letters("uaua")))
    assert (kept(found), found.did_compact) == ([2, 3], True)


@pytest.mark.parametrize("name", sorted(TARGET))
def test_a_token_limit_goes_down_to_its_target(name: str) -> None:
    """A third of the messages is an option: then the outcome is the reference's."""
    case = CASES[name]
    found = outcome(case, Settings())
    assert found["was_compacted"] and found["kept"] != case["expected"]["reference"]["kept"]
    assert outcome(case, Settings(reduction="one_third")) == case["expected"]["reference"]
    in_json = {**case, "compactor": with_reduction(case["compactor"], "one_third")}
    assert outcome(in_json, Settings()) == case["expected"]["reference"]


def with_reduction(value: Any, reduction: str) -> Any:
    if isinstance(value, list):
        return [with_reduction(item, reduction) for item in value]
    if not isinstance(value, dict):
        return value
    new = {key: with_reduction(item, reduction) for key, item in value.items()}
    return {**new, "reduction": reduction} if value.get("type") == "token_limit" else new


@pytest.mark.parametrize(("name", "letters"), [("ml-1", "ua"), ("ml-no-user-in-tail", "uctcta"), ("ml-long-tools", "uctctctcta"),
                                               ("tl-3b", "uaa"), ("tl-no-user-after", "uactctcta"), ("co-token-cannot", "ua")])  # fmt: skip
def test_the_last_turn_is_kept_where_no_human_message_follows(name: str, letters: str) -> None:
    found = outcome(CASES[name], Settings())
    roles = of_roles(CASES[name]["roles"])
    assert [roles[place] for place in found["kept"]] == of_letters(letters)
    if "token_limit" not in str(CASES[name]["compactor"]):
        assert outcome(CASES[name], Settings("remove_all")) == CASES[name]["expected"]["reference"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "recommended" in case["expected"]])
def test_a_strategy_with_nothing_to_do_changes_nothing(name: str) -> None:
    """The reference panics, wipes the state or reports a change that is none."""
    found = outcome(CASES[name], Settings())
    assert found == {"kept": list(range(len(CASES[name]["roles"]))), "was_compacted": False}


@pytest.mark.parametrize("value", [case["compactor"] for case in CASES.values() if "error" not in str(case["compactor"])])
def test_every_built_in_stands_as_trigger_and_as_strategy(value: dict[str, Any]) -> None:
    messages = request(of_letters("uauaua"), 1500)
    for split in (
        {"type": "split", "trigger": value, "strategy": {"type": "message_limit", "max_messages": 2}},
        {"type": "split", "trigger": {"type": "always"}, "strategy": value},
    ):
        found = compact(split, messages)
        root = parse_strategy(split, REGISTRY)
        assert found.trial.type == "split" and [place for place, _ in found.trial.parts] == ["trigger", "strategy"]
        trigger = root.should_compact(messages, Settings())
        assert found.trial.is_triggered == trigger.is_triggered
        if split["strategy"] is not value:
            assert found.did_compact == trigger.is_triggered
