"""What `chainviz integrate` adds to the settings of real agents: they run the check and load the MCP server."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chainviz.cli import main
from tests.agents.breaks import Break, doubled, without_result
from tests.agents.driver import Run, Workplace, what_is_missing
from tests.agents.programs import CODEX, GEMINI, OPENCODE, Agent

pytestmark = [pytest.mark.agents, pytest.mark.skipif(bool(what_is_missing()), reason=what_is_missing())]
Prepare = Callable[[Agent, str], Workplace]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Prepare:
    """Return the place of an agent with a session and with chainviz in its settings."""

    def prepare(agent: Agent, name: str) -> Workplace:
        place = Workplace(agent, tmp_path)
        place.begin("How many crates are in the depot?")
        monkeypatch.setenv("HOME", str(place.home))
        monkeypatch.setenv("CHAINVIZ_DATA", str(tmp_path / "data"))
        assert main(["integrate", name, "--yes"]) == 0
        return place

    return prepare


def resume_broken(place: Workplace, broken: Break, *words: str) -> Run:
    session = place.session
    session.write_bytes(broken([json.loads(line) for line in session.read_text().splitlines()]))
    return place.run(*words, "And in the yard?")


@pytest.mark.xdist_group("Gemini CLI")
@pytest.mark.parametrize("minute", ["", "2026-01-01T00-00"], ids=["in its first minute", "later"])
def test_gemini_cli_shows_what_the_check_found(workplace: Prepare, minute: str) -> None:
    place = workplace(GEMINI, "gemini-cli")
    session = place.session
    if minute:
        session = session.rename(session.with_name(f"session-{minute}-{session.stem[-8:]}.jsonl"))
    run = resume_broken(place, without_result, *GEMINI.resumed)
    assert "Hook system message: chainviz: the API would refuse this session." in run.output, run.output
    assert f"Quit and run: chainviz fix {session}" in run.output, run.output


@pytest.mark.xdist_group("Codex")
def test_codex_runs_the_check(workplace: Prepare) -> None:
    words = ("exec", "--dangerously-bypass-hook-trust", "--skip-git-repo-check", "resume", "--last")
    run = resume_broken(workplace(CODEX, "codex"), doubled, *words)
    assert "hook: SessionStart Completed" in run.output, run.output


@pytest.mark.xdist_group("opencode")
def test_opencode_offers_the_tools_of_the_server(workplace: Prepare) -> None:
    pytest.importorskip("mcp")
    run = workplace(OPENCODE, "opencode").resume("And in the yard?")
    assert run.has_said("chainviz_check_chain"), run.output
