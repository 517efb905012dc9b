"""Every rule finds what it is for, and nothing that only looks like it."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from chainviz.core.secrets import RULES, get_rule, scan_text
from chainviz.core.secrets.scan import RuleWords, rule_words
from tests.core.secrets.made import EXAMPLES

POSITIVES = [pytest.param(name, text, id=f"{name}-{i}") for name, (texts, _) in EXAMPLES.items() for i, text in enumerate(texts)]
NEGATIVES = [pytest.param(name, text, id=f"{name}-{i}") for name, (_, texts) in EXAMPLES.items() for i, text in enumerate(texts)]


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


@pytest.mark.parametrize(("name", "marked"), POSITIVES)
def test_no_rule_is_ruled_out_for_a_text_that_it_matches(name: str, marked: str) -> None:
    """Neither alone nor among letters that change their length in lower case or are no text at all."""
    text = marked.replace("«", "").replace("»", "")
    for searched in (text, text.upper(), f"\u0130 {text} \ud800"):
        matching = {rule.name for rule in RULES if next(iter(rule.pattern.finditer(searched)), None)}
        assert name in matching or searched == text.upper()
        tried = {rule.name for rule, pattern in rule_words().may_match(searched, RULES) if next(iter(pattern.finditer(searched)), None)}
        assert matching == tried


def test_a_text_without_any_word_rules_out_every_rule_that_has_words() -> None:
    assert [rule for rule, _ in rule_words().may_match("", RULES)] == [rule for rule in RULES if not rule.words]


@pytest.mark.parametrize("search", [None, SimpleNamespace(Match=lambda text: None)], ids=["no RE2", "RE2 gives up"])
def test_without_a_search_for_words_every_rule_is_tried(search: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.core.secrets.scan._search", lambda words: search)
    assert RuleWords().may_match("plain", RULES) == tuple((rule, rule.pattern) for rule in RULES)


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
