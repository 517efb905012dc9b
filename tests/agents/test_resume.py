"""An agent that cannot resume a broken session, or has forgotten it, resumes the whole of it after `chainviz fix`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from chainviz.cli import main
from tests.agents.breaks import Break, as_it_is, cut_off, doubled, ends_with_call, lost_result, without_numbers, without_result
from tests.agents.driver import Run, Workplace, fails, is_refused, what_is_missing
from tests.agents.programs import CODEX, GEMINI, KIMI, PI, QWEN, Agent

pytestmark = [pytest.mark.agents, pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing())]
FIRST, SECOND = "How many crates are in the depot?", "And in the yard?"


def forgets(run: Run) -> bool:
    """The program sends a conversation that begins later."""
    return bool(run.requests) and not run.has_said(FIRST)


@dataclass(frozen=True)
class Case:
    agent: Agent
    broken: Break
    before: Callable[[Run], bool] | None = None
    """What happens before the fix; None where the program itself copes, or repairs what it sends."""

    @property
    def id(self) -> str:
        return f"{self.agent.name}, {self.broken.__name__}"


CASES = (
    Case(GEMINI, as_it_is, is_refused),
    Case(GEMINI, without_result, is_refused),
    Case(GEMINI, ends_with_call, is_refused),
    Case(GEMINI, cut_off, is_refused),
    Case(GEMINI, doubled, is_refused),
    Case(CODEX, doubled, is_refused),
    Case(CODEX, without_numbers, fails),
    Case(CODEX, without_result),
    Case(CODEX, ends_with_call),
    Case(CODEX, cut_off),
    Case(KIMI, doubled, is_refused),
    Case(KIMI, without_result),
    Case(KIMI, ends_with_call),
    Case(KIMI, cut_off),
    Case(QWEN, lost_result, forgets),
    Case(QWEN, without_result),
    Case(QWEN, ends_with_call),
    Case(QWEN, cut_off),
    Case(QWEN, doubled),
    Case(PI, lost_result, forgets),
    Case(PI, without_result),
    Case(PI, ends_with_call),
    Case(PI, cut_off),
    Case(PI, doubled),
)


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Agent], Workplace]:
    """Return the place of an agent with its real session, which is made once."""
    made: dict[str, Workplace] = {}

    def workplace_of(agent: Agent) -> Workplace:
        if agent.name not in made:
            place = Workplace(agent, tmp_path_factory.mktemp(agent.name.replace(" ", "-")))
            run = place.begin(FIRST)
            assert len(run.requests) >= 2 and not run.faults, run.output
            place.keep()
            made[agent.name] = place
        return made[agent.name]

    return workplace_of


def broken_session(place: Workplace, case: Case) -> str:
    """Put the broken session in the place of the real one; return its path."""
    place.restore()
    session = place.session
    session.write_bytes(case.broken([json.loads(line) for line in session.read_text().splitlines()]))
    return str(session)


@pytest.mark.parametrize("case", [pytest.param(case, marks=pytest.mark.xdist_group(case.agent.name), id=case.id) for case in CASES])
def test_a_fixed_session_resumes(case: Case, workplace: Callable[[Agent], Workplace]) -> None:
    place = workplace(case.agent)
    if case.before is not None:
        broken_session(place, case)
        before = place.resume(SECOND)
        assert case.before(before), before.output
    session = broken_session(place, case)
    main(["fix", session])
    assert main(["fix", "--check", session]) == 0, "nothing is left to fix"
    after = place.resume(SECOND)
    assert after.requests and not after.faults, (after.faults, after.output)
    assert after.has_said(FIRST) and after.has_said(SECOND), "the agent has the whole session"
