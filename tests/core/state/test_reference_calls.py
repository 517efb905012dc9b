"""Every case of seed 3's state, observed on the reference: what is sent, stored and logged."""

from __future__ import annotations

import pytest

from chainviz.core.state.faults import read_state
from tests.core.state.calls import CASES, ERRORS, label, run


@pytest.mark.parametrize("name", CASES)
def test_the_reference_is_reproduced(name: str) -> None:
    case = CASES[name]
    expected = case["expected"]
    outcome = run(case, reference=True)
    assert outcome.state == expected["state_out"]
    assert outcome.events == expected["events"]
    assert outcome.sent == expected.get("sent", [])
    if "error_kind" in expected:
        assert outcome.events[-1] == ERRORS[expected["error_kind"]]


@pytest.mark.parametrize("name", CASES)
def test_a_state_is_classified_as_the_reference_does(name: str) -> None:
    case = CASES[name]
    assert label(read_state((case["state_in"] or "").encode(), "openai", reference=True)) == case["expected"]["state_in"]
