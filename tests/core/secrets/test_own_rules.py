"""A person's own rules: RE2 or a clear refusal, and no pattern can stop the machine."""

from __future__ import annotations

import sys

import pytest

from chainviz.core.errors import OptionsError
from chainviz.core.secrets import own_rule, scan_text
from tests.cpu import within_cpu_seconds


def test_without_re2_own_rules_are_refused_and_never_run_on_re(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(OptionsError, match="google-re2"):
        own_rule("ticket", r"TICKET-\d+")


@pytest.fixture
def re2() -> None:
    pytest.importorskip("re2", reason="google-re2 is not installed")


@pytest.mark.usefixtures("re2")
def test_an_own_rule_finds_its_value() -> None:
    rule = own_rule("ticket", r"ticket (?P<value>T-\d+)")
    assert [(f.value, f.start) for f in scan_text("é \ud800 ticket T-12!", [rule])] == [("T-12", 11)]
    assert scan_text("T-12", [own_rule("t", r"T-\d+")])[0].rule.group == "own"


@pytest.mark.usefixtures("re2")
@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (r"(?=a)b", "look-around"), (r"(?<!a)b", "look-around"), (r"(a)\1", "back-references"), (r"(?P<x>a)(?P=x)", "back-references"),
        (r"a++", "possessive"), (r"(?>a)", "atomic"), ("(", "missing"), ("[a", "missing"), ("a{1001}", "repetition size"),
        ("", "needs a pattern"), ("a*", "empty text"), ("x" * 1001, "needs a pattern"), ("\ud800", "surrogate"),
    ],
)  # fmt: skip
def test_what_re2_cannot_do_is_refused_in_a_sentence(pattern: str, says: str) -> None:
    with pytest.raises(OptionsError, match=says):
        own_rule("x", pattern)


EVIL = [
    r"(a+)+$", r"([a-zA-Z]+)*$", r"(a|aa)+$", r"(a|a?)+$", r"(.*a){20}$", r"^(([a-z])+.)+[A-Z]([a-z])+$", r"(x+x+)+y",
    r"(?:a*)*b", r"(\w+\s?)*!$", r"^(\d+)+$", r"(a?){50}a{50}", r"(.+)+x", r"((a*)*)*c", r"(?i)(a+|b+|c+)*d$",
]  # fmt: skip


@pytest.mark.usefixtures("re2")
@pytest.mark.parametrize("pattern", EVIL)
def test_no_pattern_takes_more_than_linear_time(pattern: str) -> None:
    text = "a" * 1_000_000 + "!"
    try:
        within_cpu_seconds(2, lambda: scan_text(text, [own_rule("evil", pattern)]))
    except OptionsError:
        return  # it matches the empty text
