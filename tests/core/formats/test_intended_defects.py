"""The defects that were put into the broken samples are shown, each with its rule and place."""

from __future__ import annotations

import pytest

from chainviz.core.chain.content_problems import content_problems
from chainviz.core.chain.parse import parse
from chainviz.core.chain.problems import Problem, tree_problems
from chainviz.core.load import LoadedChain, load_file
from tests.shared_folder import SAMPLES

DEFECTS: dict[str, list[str]] = {
    "langchain/broken_dangling.json": [
        "pending-call s1.p1.m0.c0",
        "pending-call s1.p1.m0.c1",
        "unmatched-result s1.p1.m1.c0",
        "unknown-role s1.p1.m2",
    ],
    "vercel_ui/broken_interrupted.json": [
        "terminal-call s1.p1.m0.c0",
        "terminal-call s1.p1.m0.c1",
        "terminal-call s1.p1.m0.c2",
    ],
    "vercel_model/broken_missing_result.json": [
        "pending-call s1.p1.m0.c0",
        "shared-call-id s1.p1.m0.c1",
        "unmatched-result s1.p1.m1.c0",
    ],
    "inspect/broken_parse_error.json": ["terminal-call s1.p1.m0.c0"],
    "langsmith/broken_error_run.json": ["orphan-result s1.p1.m1.c0"],
    "pydantic_ai/broken_retry_without_call.json": ["empty-content s1.p1.m0", "orphan-result s1.p1.m1.c0"],
}


def problems_of(chain: LoadedChain) -> list[Problem]:
    tree = parse(chain.messages)
    found = list(tree_problems(tree))
    first = 0
    for number, section in enumerate(tree.sections, 1):
        found += content_problems(section, number, first)
        first += len(section)
    return found


@pytest.mark.parametrize("name", DEFECTS)
def test_intended_defects_are_shown(name: str) -> None:
    (chain,) = load_file(SAMPLES / name)
    assert sorted(f"{problem.rule} {problem.path}" for problem in problems_of(chain)) == sorted(DEFECTS[name])
