"""Requests that real APIs answered with 200: none is rejected by the rules of the provider that took it; those that they refused are."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainviz.core.chain.tree import parse
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.load import load_file
from chainviz.core.providers.check import check
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import reason_without_fix
from tests.shared_folder import shared

REFUSED = ("rejects", "modified_history")
"""Words in the name of a recording whose API answered with 400."""
NAMED = {
    ("deepseek", "openai_chat"): ("deepseek", "deepseek-v3.2"),
    ("deepseek", "openai_responses"): ("deepseek-responses",),
    ("mistral", "openai_chat"): ("mistral",),
}
"""Providers that speak the form of another one, by a word in the recording's name and the format."""


def requests() -> list[Path]:
    return sorted(shared("transcripts").glob("*/*.request.json"))


def askers(path: Path, format: str) -> list[Provider]:
    words = next((names for (word, own), names in NAMED.items() if word in path.name and format == own), ())
    return [each for each in PROVIDERS if (each.name in words if words else each.is_of(format))]


def test_no_recorded_request_is_rejected() -> None:
    rejected, judged = [], 0
    for path in requests():
        if any(word in path.name for word in REFUSED):
            continue
        for chain in load_file(path):
            tree = parse(chain.messages)
            for provider in askers(path, chain.format):
                judged += 1
                errors = [each for each in check(provider, tree, chain.format) if each.severity == "error"]
                rejected += [f"{path.name}: {provider.name} {each.rule} {each.text}" for each in errors]
    assert judged >= 15
    assert rejected == []


def test_recorded_refusals_are_rejected() -> None:
    refused = [path for path in requests() if any(word in path.name for word in REFUSED)]
    assert refused
    for path in refused:
        (chain,) = load_file(path)
        tree = parse(chain.messages)
        for provider in askers(path, chain.format):
            found = [each for each in check(provider, tree, chain.format) if each.severity == "error"]
            assert found and all(each.fixes or reason_without_fix(each) for each in found), path.name


@pytest.mark.parametrize(("name", "rule", "place"), [
    ("openai_chat/broken_pending_and_orphan.json", "result-missing", "s1.p1.m0.c1"),
    ("openai_chat/broken_pending_and_orphan.json", "result-without-call", "s2.p1.m1.c0"),
    ("openai_responses/broken_orphan_output.json", "result-without-call", "s1.p1.m1.c0"),
    ("openai_responses/broken_orphan_output.json", "reasoning-without-item", "s1.p1.m0.c0"),
    ("openai_responses/broken_orphan_output.json", "item-id", "s1.p2.m0.c0"),
    ("anthropic/broken_unpaired.json", "call-id-pattern", "s2.p1.m0.c2"),
    ("anthropic/broken_unpaired.json", "text-empty", "s2.h.m0.c0"),
    ("gemini/broken_counts.json", "result-count", "s1.p1.m0.c0"),
    ("gemini/broken_counts.json", "thought-signature-missing", "s1.p1.m0.c0"),
    ("gemini/broken_counts.json", "part-twofold", "s1.p3.m0.c0"),
])  # fmt: skip
def test_the_defects_of_samples_are_found_in_their_places(name: str, rule: str, place: str) -> None:
    chain = load_file(shared("samples", name))[0]
    tree = parse(chain.messages)
    own = [each for each in PROVIDERS if each.is_of(chain.format)]
    found = {(each.rule, str(each.path)) for provider in own for each in check(provider, tree, chain.format)}
    assert (rule, place) in found


@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "anthropic", "gemini"])
def test_sound_samples_are_not_rejected(provider: str) -> None:
    ends_with_calls = ("ok_response_object.json",)
    for path in sorted(shared("samples", provider).glob("ok_*")):
        if path.name in ends_with_calls:
            continue
        for chain in load_file(path):
            tree = parse(chain.messages)
            for each in PROVIDERS:
                if each.is_of(chain.format):
                    assert [p for p in check(each, tree, chain.format) if p.severity == "error"] == [], path.name
