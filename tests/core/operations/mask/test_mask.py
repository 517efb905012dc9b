"""Masking a chain: what is found goes everywhere, what is declined stays, and nothing stored names a value."""

from __future__ import annotations

import copy
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import chainviz
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message, Text
from chainviz.core.operations.contract import Context
from chainviz.core.operations.mask import MASK, MaskOptions
from chainviz.core.secrets import scan_chain
from tests.core.pictures import ai, call, h, tool
from tests.core.secrets.made import fake, join
from tests.core.strategies import chains

TOKEN = join("gh", "p_", fake(36))
PASSWORD = "tR0ub4dor&3x"
CHAIN = (
    h(f"push with {TOKEN}, mail ada@engine.dev"),
    ai(call("a", "push", json.dumps({"token": TOKEN}))),
    tool("a"),
    ai(f"password: {PASSWORD}"),
    h(f"so {PASSWORD} it is"),
)


def masked(messages: tuple[Message, ...] | list[Message], **options: Any) -> tuple[Message, ...]:
    chain = MemoryChain(tuple(messages))
    return apply_splices(chain.messages, MASK.run(chain, MaskOptions(**options), Context()).changes)


def test_a_value_goes_wherever_it_stands() -> None:
    before = copy.deepcopy(CHAIN)
    after = masked(CHAIN)
    assert before == CHAIN
    assert after[0].parts == (Text("push with [GITHUB_TOKEN_1], mail [EMAIL_1]"),)
    assert after[1].parts == (call("a", "push", '{"token": "[GITHUB_TOKEN_1]"}'),)
    assert after[2] is CHAIN[2]
    assert after[4].parts == (Text("so [ASSIGNED_SECRET_1] it is"),)
    assert masked(after) == after


def test_a_word_goes_beside_the_messages_wherever_it_is_found(tmp_path: Path) -> None:
    """A real export of tau2-bench names a customer in an id beside the messages."""
    messages = [{"role": "user", "content": "I am noah_k_9"}, {"role": "assistant", "content": "Hi", "as": "noah_k_9"}]
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"task": {"user_id": "noah_k_9", "names": ["Noah", "NOAH-2"]}, "messages": messages}))
    written = chainviz.load(file)[0].apply("mask", own_words="Noah").chain.to_bytes()
    assert b"noah" not in written.lower()
    assert written.count(b"[OWN_WORDS_1]_k_9") == 3


def test_a_word_in_upper_and_lower_case_is_one_value() -> None:
    after = masked([h("Anna asks"), ai("anna, ANNA and Ben"), h("Ben")], own_words="Anna\nBen")
    assert [message.parts[0].text for message in after] == [  # type: ignore[union-attr]
        "[OWN_WORDS_1] asks",
        "[OWN_WORDS_1], [OWN_WORDS_1] and [OWN_WORDS_2]",
        "[OWN_WORDS_2]",
    ]


def test_an_address_in_other_letters_is_the_same_value() -> None:
    after = masked([h("Anna.Lee@depot-mail.com asks"), ai("anna.lee@depot-mail.com and ben@depot-mail.com")])
    found = [message.parts[0].text for message in after]  # type: ignore[union-attr]
    assert found == ["[EMAIL_1] asks", "[EMAIL_1] and [EMAIL_2]"]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"look_for": "secrets"}, "ada@engine.dev"),
        ({"look_for": "personal"}, TOKEN),
        ({"rules": ("email",)}, PASSWORD),
        ({"skip_rules": ("github-token", "assigned-secret")}, TOKEN),
    ],
)
def test_rules_can_be_chosen(options: dict[str, Any], kept: str) -> None:
    after = masked(CHAIN, **options)
    assert after != CHAIN
    assert kept in repr(after)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValidationError, match="no rule"):
        MaskOptions(rules=("nonsense",))


def test_a_declined_finding_stays_and_its_value_elsewhere_goes_where_it_was_found() -> None:
    first = next(each for each in scan_chain(MemoryChain(CHAIN)) if each.finding.value == TOKEN)
    assert first.id == "s1.h.m0.c0:text:10"
    after = masked(CHAIN, decline=(first.id,))
    assert TOKEN in after[0].parts[0].text  # type: ignore[union-attr]
    assert TOKEN not in repr(after[1])


def test_report_and_options_name_no_value() -> None:
    outcome = MASK.run(MemoryChain(CHAIN), MaskOptions(), Context())
    told = json.dumps([asdict(row) for row in outcome.report]) + repr(list(scan_chain(MemoryChain(CHAIN))))
    assert not [value for value in (TOKEN, PASSWORD, "ada@engine.dev") if value in told]
    assert [(row.path, row.reason) for row in outcome.report][:2] == [
        ("s1.h.m0.c0", "GitHub token in the text"),
        ("s1.h.m0.c0", "E-mail address in the text"),
    ]


@given(chains, st.sampled_from(["replace", "mask", "pseudonym"]))
def test_a_chain_without_secrets_is_left_alone(messages: list[Message], strategy: str) -> None:
    assert MASK.run(MemoryChain(tuple(messages)), MaskOptions(strategy=strategy), Context()).changes == ()
