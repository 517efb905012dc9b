"""Stored chains and `chainviz check` say the same: a provider's verdict, its problems and their places."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz import load
from chainviz.core.chain.tree import parse
from chainviz.core.errors import DocumentError
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.check import check
from chainviz.store.content.chain import StoredChain
from chainviz.store.query.problems import ProblemFilter, problems
from chainviz.store.query.windows import window
from chainviz.web.templatetags.chainviz import place
from tests.chains.making import make_chain, make_chain_of, newest
from tests.shared_folder import SAMPLES

pytestmark = pytest.mark.django_db


def told(chain: StoredChain) -> set[tuple[str, str, str]]:
    found = [each for provider in PROVIDERS for each in problems(chain, count=10_000, wanted=ProblemFilter(provider.name)).problems]
    return {(each.provider, each.rule, str(each.path)) for each in found}


def checked(content: bytes, format: str) -> set[tuple[str, str, str]]:
    chain = load(content, format)[0]
    tree = parse(chain.messages)
    return {(each.provider, each.rule, str(each.path)) for provider in PROVIDERS for each in check(provider, tree, format, chain.request)}


def test_samples_have_the_problems_that_check_finds() -> None:
    for path in sorted(SAMPLES.glob("*/*")):
        content = path.read_bytes()
        try:
            kept = make_chain_of(content, path.name)
        except DocumentError:
            assert path.parent.name == "langfuse"
            continue
        chain = newest(kept)
        found = told(chain)
        assert (path.name, found) == (path.name, checked(content, chain.format))
        of_providers = {name for name in kept.rules_broken if ":" in name and not name.endswith(":not-understood")}
        assert of_providers == {f"{provider}:{rule}" for provider, rule, _ in found if rule != "not-understood"}
        rows = window(chain, count=500).rows
        assert {(each.provider, each.rule, str(each.path)) for row in rows for each in row.problems if each.provider} == found


def calling(id: str, **members: Any) -> dict[str, Any]:
    call = {"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call], **members}


def answer(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


def test_responses_take_an_output_behind_other_pairs() -> None:
    """OpenAI's Responses match a call and its output by id, wherever they are; an id without the other stays an error."""
    said = {"role": "user", "content": "and"}
    opening = [{"role": "user", "content": "hi"}, calling("a"), said]
    lone = told(newest(make_chain([*opening, answer("b"), said])))
    assert {(rule, path) for name, rule, path in lone if name == "openai-responses"} == {
        ("result-missing", "s1.p1.m0.c0"), ("result-without-call", "s2.p1.m1.c0"),
    }  # fmt: skip
    late = told(newest(make_chain([*opening, answer("a"), said])))
    assert not [rule for name, rule, _ in late if name == "openai-responses"]


HALF = [{"role": "user", "content": "hi"}, calling("a", reasoning_content="hm"), answer("a"), calling("b"), answer("b")]
PLAIN = [{"role": "user", "content": "hi"}, calling("c"), answer("c")]


def test_reasoning_counts_in_its_own_section_and_signatures_in_the_last() -> None:
    kept = make_chain([*PLAIN, *HALF, *PLAIN])
    chain = newest(kept)
    found = told(chain)
    assert {name for name in kept.rules_broken if ":" in name} == {f"{provider}:{rule}" for provider, rule, _ in found}
    assert {path for name, rule, path in found if (name, rule) == ("deepseek-v3.2", "reasoning-missing")} == {"s2.p2.m0"}
    assert "thought-signature-missing" not in {rule for _, rule, _ in found}
    assert ("anthropic", "thinking-missing", "s3.p1.m0") not in found
    row = {str(each.path): each for each in window(chain, count=99).rows}
    assert row["s2"].counts["deepseek-v3.2"][1] == row["s2.p2"].counts["deepseek-v3.2"][1] == 1


def test_signatures_are_wanted_in_the_last_section_of_contents() -> None:
    turn = [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {}}}]},
    ]
    chain = newest(make_chain_of(json.dumps({"contents": [*turn, *turn]}).encode(), "contents.json"))
    assert {path for _, rule, path in told(chain) if rule == "thought-signature-missing"} == {"s2.p1.m0.c0"}
    row = {str(each.path): each for each in window(chain, count=99).rows}
    assert "gemini-3" not in row["s1"].counts or not row["s1"].counts["gemini-3"][0]


@pytest.mark.parametrize(("error", "path", "fix"), [
    ("The `reasoning_content` in the thinking mode must be passed back to the API.", "s1.p2.m0", "drop-thinking"),
])  # fmt: skip
def test_a_pasted_error_of_a_section_finds_its_node(error: str, path: str, fix: str) -> None:
    chain = make_chain(HALF)
    page = Client().get(f"/c/{chain.pk}/v/1/problems", {"error": error}).content.decode()
    assert f"Show {place(path)}<" in page and f"kind={fix}" in page
