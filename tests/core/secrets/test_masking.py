"""Placeholders: the same for the same value everywhere, never a secret themselves, and nothing else is touched."""

from __future__ import annotations

import base64
import copy
import json
import re
import urllib.parse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import AI, Binary, Image, Message, Opaque, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.load import export_chain, load_file, restyle
from chainviz.core.secrets import Masker, Values, fingerprint, mask, scan_chain, scan_message, scan_text, spellings
from tests.core.pictures import ai, h, tool
from tests.core.secrets.made import EXAMPLES, fake, join
from tests.core.strategies import chains
from tests.examples import examples

TOKEN = join("gh", "p_", fake(36))
MAIL = "ada@engine.dev"
STRATEGIES: list[Any] = ["replace", "mask", "pseudonym"]
MARKED = [text for texts, _ in EXAMPLES.values() for text in texts]


def plain(marked: str) -> str:
    return marked.replace("«", "").replace("»", "")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("marked", MARKED)
def test_what_is_masked_is_gone_and_not_found_again(marked: str, strategy: Any) -> None:
    message = h(plain(marked))
    masked = mask(message, scan_message(message), Masker(strategy))
    before, value, after = re.split("[«»]", marked)
    text = masked.parts[0].text  # type: ignore[union-attr]
    assert value not in text
    assert text.startswith(before) and text.endswith(after)
    assert scan_message(masked) == []


def everywhere() -> Message:
    return Message(
        AI,
        (
            Text(f"a {TOKEN}", Reasoning(f"b {TOKEN}", "")),
            ToolCall("id1", "push", json.dumps({"token": TOKEN, "n": 1.50})),
            ToolResult("id1", "push", f"c {TOKEN}", media=(Image(f"https://h/?t={TOKEN}"),)),
            Thinking(f"d {TOKEN}"),
            Binary("text/plain", f"e {TOKEN}".encode()),
            Opaque("odd", json.dumps({"x": TOKEN})),
        ),
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_part_is_searched_and_one_value_has_one_placeholder(strategy: Any) -> None:
    message = everywhere()
    before = copy.deepcopy(message)
    masker = Masker(strategy)
    masked = mask(message, scan_message(message), masker)
    assert message == before
    assert len(masker.placeholders) == 1
    (placeholder,) = masker.placeholders.values()
    assert TOKEN not in repr(masked) and repr(masked).count(placeholder) == 8
    assert masked.calls == message.calls
    assert json.loads(masked.parts[1].arguments) == {"token": placeholder, "n": 1.5}  # type: ignore[union-attr]


def test_pseudonyms_tell_values_apart_and_are_the_same_everywhere() -> None:
    masker = Masker("pseudonym")
    messages = [h(f"from {MAIL} to b@engine.dev"), tool(f"{MAIL} wrote"), ai(f"answer {MAIL}")]
    masked = [mask(m, scan_message(m), masker) for m in messages]
    assert masked[0].parts[0] == Text("from [EMAIL_1] to [EMAIL_2]")
    assert masked[2].parts[0] == Text("answer [EMAIL_1]")


def test_a_mask_leaves_a_public_prefix_or_the_last_digits() -> None:
    masker = Masker("mask")
    found = scan_text("card 4111 1111 1111 1111 " + join("hf_", fake(34)))
    assert [masker.placeholder(each.rule, each.value) for each in found] == ["********1111", "hf_********"]


@pytest.mark.parametrize("signature", ["", "c2ln"])
def test_signed_reasoning_goes_as_a_whole(signature: str) -> None:
    message = Message(AI, (Thinking(f"see {TOKEN}", signature), Text("ok", Reasoning(TOKEN, signature)), ToolCall("a", "f", "{}")))
    masked = mask(message, scan_message(message), Masker())
    kept = Thinking("see [GITHUB_TOKEN]")
    reasoning = None if signature else Reasoning("[GITHUB_TOKEN]")
    assert masked.parts == (*(() if signature else (kept,)), Text("ok", reasoning), ToolCall("a", "f", "{}"))
    alone = Message(AI, (Thinking(TOKEN, signature),))
    assert len(mask(alone, scan_message(alone), Masker()).parts) == 1  # a message never ends up empty


def test_encrypted_reasoning_stays_byte_for_byte() -> None:
    message = Message(AI, (Thinking(TOKEN, TOKEN, redacted=True),))
    assert mask(message, scan_message(message), Masker()) is message


def test_a_card_that_is_a_number_in_json_leaves_json() -> None:
    message = ai(ToolCall("a", "pay", '{"card": 4111111111111111, "to": ["4111111111111111", 4111111111111111]}'))
    masked = mask(message, scan_message(message), Masker())
    arguments = masked.parts[0].arguments  # type: ignore[union-attr]
    assert json.loads(arguments) == {"card": "[CARD]", "to": ["[CARD]", "[CARD]"]}


@examples(200)
@given(chains, st.sampled_from(STRATEGIES))
def test_messages_without_secrets_stay_the_same_objects(messages: list[Message], strategy: Any) -> None:
    masker = Masker(strategy)
    for message in messages:
        assert mask(message, scan_message(message), masker) is message
        assert Values({"not-in-there-at-all": "x"}).mask(message) is message


awkward = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=12, max_size=30).map(lambda t: f"{t}q7")


@examples(120)
@given(awkward)
def test_a_value_is_found_in_each_of_its_spellings(value: str) -> None:
    raw = value.encode()
    written = [
        json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(json.dumps(value)),
        urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value),
        *(base64.b64encode(b"x" * n + raw + b"tail").decode() for n in range(4)),
        base64.urlsafe_b64encode(raw).decode(),
    ]  # fmt: skip
    known = spellings(value)
    for text in written:
        assert any(spelling in text for spelling in known)
        masked = Values({value: "[X]"}).mask_raw(json.dumps({"a": text}))
        assert is_json(masked)
        assert not any(spelling in json.loads(masked)["a"] for spelling in known)


def test_values_are_masked_where_no_rule_would_find_them() -> None:
    masker = Masker("pseudonym")
    first = h("password: tR0ub4dor&3x")
    mask(first, scan_message(first), masker)
    later = ai("it is tR0ub4dor&3x", ToolCall("a", "f", json.dumps({"u": "https://h/?p=tR0ub4dor%263x"})))
    masked = Values(masker.placeholders).mask(later)
    assert masked.parts == (
        Text("it is [ASSIGNED_SECRET_1]"), ToolCall("a", "f", '{"u": "https://h/?p=[ASSIGNED_SECRET_1]"}'),
    )  # fmt: skip


CLAUDE_LINES = [
    {"type": "user", "sessionId": "s", "uuid": "1", "message": {"role": "user", "content": "push it"}},
    {"type": "assistant", "sessionId": "s", "uuid": "2", "costUSD": 0.10, "message": {"id": "m", "role": "assistant", "content": [
        {"type": "thinking", "thinking": f"the token is {TOKEN}", "signature": "c2ln"},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"push --token {TOKEN}"}}]}},
    {"type": "user", "sessionId": "s", "uuid": "3", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}, "toolUseResult": {"stdout": f"used {TOKEN}"}},
]  # fmt: skip


def test_nothing_of_a_value_is_left_in_an_export() -> None:
    raw = "".join(json.dumps(line) + "\n" for line in CLAUDE_LINES).encode()
    loaded = load_file(raw)[0]
    masker = Masker("pseudonym")
    for message in loaded.messages:
        mask(message, scan_message(message), masker)
    values = Values(masker.placeholders)
    masked = [values.mask(message) for message in loaded.messages]
    assert [type(part).__name__ for part in masked[1].parts] == ["ToolCall"]  # the signed block went as a whole
    cleaned = [
        values.mask_source(message if message is old else restyle(masked, i, message, loaded.format, loaded.envelope))
        for i, (old, message) in enumerate(zip(loaded.messages, masked, strict=True))
    ]
    exported = export_chain(cleaned, loaded.envelope, loaded.format, lambda a, b: raw[a:b])
    assert not any(spelling.encode() in exported for spelling in spellings(TOKEN))
    assert load_file(exported)[0].messages == tuple(masked)
    assert b'"costUSD": 0.1, ' in exported and b'"used [GITHUB_TOKEN_1]"' in exported


def test_short_values_go_as_whole_words_only() -> None:
    assert Values({"ada": "[N]"}).mask_raw('"adapter of ada, ada"') == '"adapter of [N], [N]"'


def test_base64_stays_as_long_so_that_what_is_beside_it_can_be_read() -> None:
    file = b"before " * 3 + TOKEN.encode() + b" after" * 3
    line = json.dumps({"data": base64.b64encode(file).decode()})
    masked = base64.b64decode(json.loads(Values({TOKEN: "[X]"}).mask_raw(line))["data"])
    assert len(masked) == len(file) and TOKEN.encode()[2:-2] not in masked
    assert masked.startswith(b"before before before") and masked.endswith(b"after after after")


def test_a_finding_does_not_show_its_value() -> None:
    (found,) = scan_chain(MemoryChain((h(TOKEN),)))
    finding = found.finding
    assert (found.message, finding.value) == (0, TOKEN)
    assert TOKEN not in repr(finding)
    assert fingerprint(TOKEN, b"k") == fingerprint(TOKEN, b"k") != fingerprint(TOKEN, b"l")
