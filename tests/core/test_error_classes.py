"""Every class of error: found on its node, led to by the API's own words, and gone after the repair."""

from __future__ import annotations

import pytest

import chainviz
from chainviz.api.chain import Chain, document_of
from chainviz.core.chain.problems import Problem
from chainviz.core.pasted_errors.locate import locate_error
from chainviz.core.pasted_errors.message import read_error
from tests.core.error_classes import CASES, CLASSES, ErrorCase

each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def loaded(content: bytes, case: ErrorCase) -> Chain:
    (chain,) = chainviz.load(content, case.format)
    return chain


def found(chain: Chain, case: ErrorCase) -> list[Problem]:
    return [each for each in chain.problems(provider=case.provider) if each.provider and each.rule == case.rule]


def test_no_class_is_missing() -> None:
    assert {case.name.split()[0] for case in CASES} == CLASSES and len(CLASSES) == 22


@each_case
def test_the_cause_is_found_on_its_node(case: ErrorCase) -> None:
    chain = loaded(case.content, case)
    assert case.path in [str(each.path) for each in found(chain, case)] or not case.rule


@each_case
def test_the_words_of_the_api_lead_to_the_node_and_its_fix(case: ErrorCase) -> None:
    chain = loaded(case.content, case)
    located = locate_error(read_error(case.pasted), chain.messages, chain.format)
    assert (str(located.path), case.fix in located.fixes) == (case.path, True)
    assert [each.rule for each in located.problems[:1]] == ([case.rule] if case.rule else [])


@each_case
def test_the_repair_ends_it(case: ErrorCase) -> None:
    """With the provider as its goal where it is an error, else with the fix that is offered."""
    chain = loaded(case.content, case)
    problems = found(chain, case)
    is_error = any(each.severity == "error" for each in problems)
    result = chain.apply("repair", **({"goal": case.provider} if is_error else {"only": [case.fix]}))
    after = loaded(b"".join(document_of([result.chain])), case)
    assert result.chain.is_changed
    assert found(after, case) == []
    assert after.verdict(case.provider).errors == 0
