"""Every rule finds what it is for, and nothing that only looks like it."""

from __future__ import annotations

import re

import pytest

from chainviz.core.secrets import RULES, get_rule, scan_text
from tests.core.secrets.made import EXAMPLES

POSITIVES = [
    pytest.param(name, text, id=f"{name}-{i}") for name, (texts, _) in EXAMPLES.items() for i, text in enumerate(texts)
]
NEGATIVES = [
    pytest.param(name, text, id=f"{name}-{i}") for name, (_, texts) in EXAMPLES.items() for i, text in enumerate(texts)
]


def test_every_rule_has_both_kinds_of_examples_and_a_name_of_its_own() -> None:
    assert [rule.name for rule in RULES if not all(EXAMPLES.get(rule.name, ((), ())))] == []
    assert len({rule.name for rule in RULES}) == len(RULES) == len(EXAMPLES)


@pytest.mark.parametrize(("name", "marked"), POSITIVES)
def test_a_secret_is_found_where_it_is(name: str, marked: str) -> None:
    before, value, _ = re.split("[«»]", marked)
    text = marked.replace("«", "").replace("»", "")
    found = scan_text(text)
    assert [(each.value, each.start) for each in found] == [(value, len(before))]
    alone = scan_text(text, [rule for rule in [get_rule(name)] if rule])
    assert [each.value for each in alone] == [value]


@pytest.mark.parametrize(("name", "text"), NEGATIVES)
def test_what_only_looks_like_one_is_left(name: str, text: str) -> None:
    assert [(each.rule.name, each.value) for each in scan_text(text)] == []


@pytest.mark.parametrize(("name", "marked"), POSITIVES)
def test_a_rule_takes_whole_words_only(name: str, marked: str) -> None:
    _, value, _ = re.split("[«»]", marked)
    glued = f"{value[:1]}{value}"
    rule = get_rule(name)
    assert rule is not None
    if value[0].isalnum() and rule.value == 0 and name != "private-key":
        assert value not in [each.value for each in scan_text(f"A{glued}", [rule])]
