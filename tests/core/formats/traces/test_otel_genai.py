"""OpenTelemetry spans: three attributes make one chain, in plain JSON and inside of strings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import differing, exported
from tests.shared_folder import SAMPLES

OTLP = (SAMPLES / "otel_genai" / "ok_otlp_span.json").read_bytes()
PLAIN = (SAMPLES / "otel_genai" / "ok_messages.json").read_bytes()
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"


def only(content: bytes, format: str | None = None) -> LoadedChain:
    (chain,) = load_file(content, format)
    assert exported(content, chain) == content
    return chain


def with_text(chain: LoadedChain, index: int, text: str) -> tuple[Message, ...]:
    message = replace(chain.messages[index], parts=(Text(text, origin=0), *chain.messages[index].parts[1:]))
    return (*chain.messages[:index], restyle(chain.messages, index, message, chain.format, chain.envelope), *chain.messages[index + 1 :])


def attributes(document: bytes) -> dict[str, Any]:
    span = json.loads(document)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return {item["key"]: item["value"].get("stringValue") for item in span["attributes"]}


@pytest.mark.parametrize("format", [None, "otel_genai"])
@pytest.mark.parametrize("content", [OTLP, PLAIN])
def test_attributes_make_one_chain(content: bytes, format: str | None) -> None:
    chain = only(content, format)
    assert chain.format == "otel_genai"
    assert [m.role for m in chain.messages if m.role != SYSTEM] == [HUMAN, AI, TOOL, TOOL, AI]
    assert chain.messages[-1].note == "stop"


def test_an_edit_inside_a_string_changes_that_string_only() -> None:
    chain = only(OTLP)
    index = next(i for i, message in enumerate(chain.messages) if message.role == HUMAN)
    before, after = attributes(OTLP), attributes(exported(OTLP, chain, with_text(chain, index, 'Say "é" \\ twice.\n')))
    assert {key for key in before if before[key] != after[key]} == {INPUT}
    where = differing(json.loads(before[INPUT]), json.loads(after[INPUT]))
    assert where == {(1, "parts", 0, "content")}


def test_messages_come_and_go_in_each_list() -> None:
    chain = only(OTLP)
    new = restyle(chain.messages, 3, Message(HUMAN, (Text("more"),)), chain.format, chain.envelope)
    document = exported(OTLP, chain, (*chain.messages[:3], new, *chain.messages[4:-1]))
    found = attributes(document)
    assert [item["role"] for item in json.loads(found[INPUT])] == ["system", "user", "user", "tool", "tool"]
    assert json.loads(found[OUTPUT]) == []
    answer = restyle(chain.messages, 6, Message(AI, (Text("end"),)), chain.format, chain.envelope)
    found = attributes(exported(OTLP, chain, (*chain.messages, answer)))
    assert [item["parts"][0]["content"] for item in json.loads(found[OUTPUT])] == ["Done.", "end"]
    assert attributes(exported(OTLP, chain, ()))[INPUT] == "[]"


def test_attributes_in_any_order_are_read_in_the_order_of_the_chain() -> None:
    value = json.loads(PLAIN)
    content = json.dumps(dict(reversed(value.items())), indent=1).encode()
    chain = only(content)
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI]
    document = json.loads(exported(content, chain, with_text(chain, 5, "Changed.")))
    assert differing(json.loads(content), document) == {(OUTPUT, 0, "parts", 0, "content")}
    shorter = json.loads(exported(content, chain, (*chain.messages[:1], *chain.messages[2:])))
    assert [item["role"] for item in shorter[INPUT]] == ["assistant", "tool", "tool"]


@pytest.mark.parametrize("spelled", ["\\u0041\\/", "\\u00e9", "\\ud83d\\ude00", "é 🦊"])
def test_odd_escapes_of_unchanged_messages_stay(spelled: str) -> None:
    inner = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "X"}]}, {"role": "user", "parts": []}])
    only(json.dumps({INPUT: inner, "x": 1}).replace("X", spelled).encode())


def test_messages_that_break_off_are_kept_as_they_are() -> None:
    content = (SAMPLES / "otel_genai" / "broken_truncated_attr.json").read_bytes()
    chain = only(content)
    assert [message.role for message in chain.messages] == [SYSTEM]
    assert "cut off" in chain.warnings[0]


def test_spans_of_one_file_are_chains_of_their_own() -> None:
    value = json.loads(OTLP)
    spans = value["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append(spans[0])
    content = json.dumps(value).encode()
    assert [len(chain.messages) for chain in load_file(content)] == [7, 7]


def test_a_list_in_a_string_is_no_chain_beside_a_plain_one() -> None:
    one = {"role": "user", "content": "hi"}
    content = json.dumps({"copy": json.dumps([one]), "messages": [one, one]}).encode()
    chain = only(content)
    assert len(chain.messages) == 2
