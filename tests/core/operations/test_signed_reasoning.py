"""A change before signed reasoning warns, whatever operation makes it, and says how the reasoning goes."""

from __future__ import annotations

from typing import Any

import pytest

from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import Message, Thinking
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import WARNING, execute, keeps_signed_reasoning
from tests.core.pictures import ai, call, h, tool

THOUGHT = Thinking("hm", "sig")
SIGNED = MemoryChain((h("key ghp_0123456789abcdefghijABCDEFGHIJ012345"), ai(THOUGHT, call("a")), tool("a"), ai("done")), "anthropic")


@pytest.mark.parametrize(("operation", "options", "warns"), [
    ("edit", {"path": "s1.h.m0", "action": "text", "text": "hello"}, True),
    ("edit", {"path": "s1.p2", "action": "text", "text": "hello"}, False),
    ("mask", {}, True),
    ("convert", {"to": "anthropic", "drop_reasoning": True}, False),
])  # fmt: skip
def test_an_operation_warns_where_signed_reasoning_follows(operation: str, options: dict[str, Any], warns: bool) -> None:
    outcome = execute(operation, options, SIGNED, Context())
    assert outcome.changes and (WARNING in outcome.warnings) is warns


def test_what_the_warning_offers_removes_exactly_what_is_refused() -> None:
    kept, asked = ai(THOUGHT, call("a")), h("new")
    chain = MemoryChain((h(), kept, tool("a"), asked, ai(THOUGHT, Thinking("own"), "x"), h(), ai(THOUGHT)), "anthropic")
    outcome = execute("repair", {"only": ["drop-signed"], "since": "s2"}, chain, Context())
    after = apply_splices(chain.messages, outcome.changes)
    assert after == (h(), kept, tool("a"), asked, ai(Thinking("own"), "x"), h())
    assert WARNING not in outcome.warnings
    assert not execute("repair", {}, chain, Context()).changes


@pytest.mark.parametrize(("message", "follows"), [
    (ai(THOUGHT, "x"), True), (ai(Thinking("hm"), "x"), False), (ai(Thinking("", redacted=True), "x"), True), (ai("x"), False),
])  # fmt: skip
def test_only_signed_reasoning_counts(message: Message, follows: bool) -> None:
    assert keeps_signed_reasoning(MemoryChain((h(), h(), message)), [Splice(0, 1, (h("new"),))]) is follows


def test_what_changes_too_does_not_count_and_distance_does_not_matter() -> None:
    chain = MemoryChain((h(), ai(THOUGHT, "x"), h()))
    assert not keeps_signed_reasoning(chain, [Splice(0, 1, ()), Splice(1, 1, (ai("x"),))])
    assert keeps_signed_reasoning(chain, [Splice(0, 1, ()), Splice(2, 1, ())])
    assert keeps_signed_reasoning(MemoryChain((*[h()] * 999, ai(THOUGHT, "x"))), [Splice(0, 1, ())])
    assert not keeps_signed_reasoning(chain, [])
