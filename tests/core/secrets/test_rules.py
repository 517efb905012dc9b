"""Every rule finds what it is for, and nothing that only looks like it."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from chainviz.core.load import load_file
from chainviz.core.secrets import RULES, get_rule, scan_text
from chainviz.core.secrets.rule import Rule
from chainviz.core.secrets.scan import RuleWords, rule_words, scan_fields, scan_source
from tests.core.secrets.made import EXAMPLES
from tests.examples import examples

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
    assert [rule for rule, _ in rule_words().may_match("", RULES)] == [rule for rule in RULES if not rule.signs] == []


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.near and rule.group == "personal"], ids=lambda rule: rule.name)
@given(st.data())
@examples(40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_whatever_matches_has_what_is_searched_for(rule: Rule, data: st.DataObject) -> None:
    assert isinstance(rule.pattern, re.Pattern)
    text = f" {data.draw(st.from_regex(rule.pattern, fullmatch=True))} "
    assume(next(iter(rule.pattern.finditer(text)), None))
    assert rule in [each for each, _ in rule_words().may_match(text, RULES)]


def test_few_rules_are_tried_for_usual_texts() -> None:
    text = "The path of the patch at 12:30 on 2024-05-17 is /usr/lib/x-1.2.3 (see a::b, line 42, +3 -1, 10,000.50 or commit 55e8a9f)."
    assert [rule.name for rule, _ in rule_words().may_match(text, RULES)] == ["card", "phone"]


@pytest.mark.parametrize(("name", "marked"), POSITIVES)
def test_a_secret_is_found_in_a_field_among_others(name: str, marked: str) -> None:
    _, value, _ = re.split("[«»]", marked)
    text = marked.replace("«", "").replace("»", "")
    fields = {"before": "words", "note": text, "after": ["more", 12, "words"]}
    message = load_file(json.dumps([{"role": "user", "content": "Hi", **fields}], ensure_ascii=False).encode())[0].messages[0]
    alone = [each.value for each in scan_source(f'"note":"{text}"', RULES, "")]
    assert [each.value for each in scan_fields(message, ())] == alone
    assert value in alone or '"' in marked or "\n" in marked


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
