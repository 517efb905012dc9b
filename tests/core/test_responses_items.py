"""What OpenAI's Responses API takes and refuses in its items: ids, reasoning, text as input; and what the fixes change."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import Chain, document_of
from chainviz.core.errors import ChainError

OPENAI, DEEPSEEK = "openai-responses", "deepseek-responses"
ASK = {"role": "user", "content": "Docks?"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "docks", "arguments": "{}"}
CUSTOM = {"type": "custom_tool_call", "call_id": "call_1", "name": "docks", "input": "all"}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "4"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "4"}


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **more}


def reasoning(**more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "summary": [], **more}


def request(*items: Any) -> Chain:
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "input": list(items)}).encode())
    return chain


def rollout(*items: Any) -> Chain:
    head = {"timestamp": "2026-08-10T10:00:00Z", "type": "session_meta", "payload": {"id": "1", "cwd": "/", "cli_version": "0.146.0"}}
    lines = [head, *({"timestamp": "2026-08-10T10:00:01Z", "type": "response_item", "payload": item} for item in items)]
    (chain,) = chainviz.load("".join(json.dumps(line) + "\n" for line in lines).encode())
    return chain


def errors(chain: Chain, provider: str = OPENAI) -> set[str]:
    return {each.rule for each in chain.problems(provider=provider) if each.severity == "error" and each.provider}


def items_after(chain: Chain, *fixes: str) -> list[Any]:
    fixed = chain.apply("repair", only=fixes).chain
    text = b"".join(document_of([fixed])).decode()
    assert b"".join(document_of([fixed.apply("repair", only=fixes).chain])).decode() == text
    lines = text.splitlines()
    return json.loads(text)["input"] if len(lines) == 1 else [json.loads(line)["payload"] for line in lines[1:]]


def test_text_is_the_shortest_input() -> None:
    (chain,) = chainviz.load(b'{"model": "gpt-5.6", "instructions": "Be brief.", "input": "Docks?"}')
    assert errors(chain) == set()


@pytest.mark.parametrize(
    ("item", "rule"),
    [
        (CUSTOM | {"id": "fc_1"}, "item-id"),
        (CALL | {"id": "call_1"}, "item-id"),
        (CALL | {"id": ""}, "item-id-form"),
        (CALL | {"id": "fc_1|x"}, "item-id-form"),
        (CALL | {"id": "fc_" + "a" * 62}, "item-id-too-long"),
    ],
)  # fmt: skip
def test_ids_of_items(item: dict[str, Any], rule: str) -> None:
    output = CUSTOM_OUTPUT if item["type"].startswith("custom") else OUTPUT
    assert errors(request(ASK, item, output)) == {rule}
    assert errors(request(ASK, item, output), DEEPSEEK) == ({"item-id-too-long"} if rule == "item-id-too-long" else set())
    assert items_after(request(ASK, item, output), "respell-item")[1] == {key: item[key] for key in item if key != "id"}


@pytest.mark.parametrize("item", [CUSTOM | {"id": "ctc_1"}, CALL | {"id": "fc_1"}])
def test_ids_that_the_api_makes(item: dict[str, Any]) -> None:
    assert errors(request(ASK, item, CUSTOM_OUTPUT if item["type"].startswith("custom") else OUTPUT)) == set()


@pytest.mark.parametrize("chain", [request, rollout])
def test_content_of_reasoning_moves_into_its_summary(chain: Any) -> None:
    thought = reasoning(id="rs_1", content=[{"type": "reasoning_text", "text": "I count."}], encrypted_content=None)
    made = chain(ASK, thought, CALL, OUTPUT)
    assert errors(made) == {"reasoning-content"}
    assert errors(made, DEEPSEEK) == set()
    summary = [{"type": "summary_text", "text": "I count."}]
    assert items_after(made, "respell-item") == [ASK, thought | {"summary": summary, "content": []}, CALL, OUTPUT]


def test_content_of_reasoning_that_has_a_summary_is_emptied() -> None:
    summary = [{"type": "summary_text", "text": "Counting."}]
    thought = reasoning(content=[{"type": "reasoning_text", "text": "I count."}]) | {"summary": summary}
    assert items_after(request(ASK, thought, CALL, OUTPUT), "respell-item")[1]["summary"] == summary


@pytest.mark.parametrize("chain", [request, rollout])
@pytest.mark.parametrize("between", [(), (ASK,)])
def test_repeated_id_of_an_item(chain: Any, between: tuple[Any, ...]) -> None:
    first, second = said("One.", id="msg_1"), said("Two.", id="msg_1")
    made = chain(ASK, first, *between, second, ASK)
    assert errors(made) == {"item-repeated"}
    fixes = ("drop-copy", "respell-item")
    assert items_after(made, *fixes) == [ASK, first, *between, said("Two."), ASK]
    assert items_after(chain(ASK, first, *between, first, ASK), *fixes) == [ASK, first, *between, ASK]


def test_references_to_stored_items_may_repeat() -> None:
    reference = {"type": "item_reference", "id": "msg_1"}
    assert errors(request(reference, ASK, reference, ASK)) == set()


def test_encrypted_reasoning_is_noted_once_and_can_be_dropped() -> None:
    thought = reasoning(id="rs_1", encrypted_content="gAAA")
    made = request(ASK, thought, CALL | {"id": "fc_1"}, OUTPUT, thought | {"id": "rs_2"}, said("Four.", id="msg_1"), ASK)
    (noted,) = [each for each in made.problems(provider=OPENAI) if each.rule == "reasoning-encrypted"]
    assert (noted.severity, str(noted.path), noted.fixes) == ("info", "s1.p1.m0", ("drop-signed",))
    assert items_after(made, "drop-signed") == [ASK, CALL, OUTPUT, said("Four."), ASK]


@pytest.mark.parametrize(
    "document",
    [
        {"model": "gpt-5.6", "previous_response_id": "resp_1", "input": [OUTPUT]},
        {"model": "gpt-5.6", "conversation": {"id": "conv_1"}, "input": [ASK, OUTPUT]},
        {"model": "gpt-5.6", "input": [ASK, {"type": "item_reference", "id": "fc_1"}, OUTPUT]},
    ],
)
def test_call_that_the_api_stores_is_not_checked(document: Any) -> None:
    (chain,) = chainviz.load(json.dumps(document).encode())
    assert chain.verdict(OPENAI).state == "unchecked"
    assert [each for each in chain.problems(provider=OPENAI) if each.severity == "error"] == []
    assert "structure valid" in str(chain)
    for options in ({}, {"goal": OPENAI}):
        assert not chain.apply("repair", **options).chain.is_changed


def test_result_after_an_answer_of_a_stored_conversation_needs_a_call() -> None:
    items = [ASK, said("One."), ASK, OUTPUT]
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "previous_response_id": "resp_1", "input": items}).encode())
    assert "result-without-call" in errors(chain)


def test_users_beside_a_stored_answer_are_two_turns() -> None:
    reference = {"type": "item_reference", "id": "msg_1"}
    chain = request(ASK, reference, ASK)
    assert "double-human" not in {each.rule for each in chain.problems()}
    assert not chain.apply("repair").chain.is_changed


@pytest.mark.parametrize("model", ["gpt-5.6", "o3"])
def test_request_with_nothing_but_text_is_a_chain(model: str) -> None:
    (chain,) = chainviz.load(json.dumps({"model": model, "input": "Docks?"}).encode())
    assert (chain.format, [message.role for message in chain.messages]) == ("openai_responses", ["human"])


@pytest.mark.parametrize(
    "more", [{"model": "text-embedding-3-small"}, {"model": "gpt-4o-mini-tts", "voice": "alloy"}, {"model": "gpt-5", "output": "Four."}]
)
def test_text_input_of_another_api_is_no_chain(more: dict[str, str]) -> None:
    with pytest.raises(ChainError):
        chainviz.load(json.dumps({"input": "Docks?", **more}).encode())


def test_call_in_an_answer_waits_for_its_output() -> None:
    response = {"id": "resp_1", "object": "response", "model": "gpt-5.6", "status": "completed", "output": [CALL]}
    (chain,) = chainviz.load(json.dumps(response).encode())
    assert errors(chain) == set()


HOOK = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Mind the crane."}]}
OTHER_CALL, OTHER_OUTPUT = CALL | {"call_id": "call_2"}, OUTPUT | {"call_id": "call_2"}
INTERLEAVED = {
    "a message of a hook": ((CALL, HOOK, OUTPUT), [CALL, OUTPUT, HOOK]),
    "a question": ((CALL, ASK, OUTPUT), [CALL, OUTPUT, ASK]),
    "a text": ((CALL, said("I count."), OUTPUT), [said("I count."), CALL, OUTPUT]),
    "a text between calls": (
        (CALL, said("I count."), OTHER_CALL, OUTPUT, OTHER_OUTPUT), [said("I count."), CALL, OTHER_CALL, OUTPUT, OTHER_OUTPUT],
    ),
    "reasoning": ((CALL, reasoning(), OUTPUT), [reasoning(), CALL, OUTPUT]),
}  # fmt: skip


@pytest.mark.parametrize("case", INTERLEAVED)
def test_deepseek_takes_no_item_between_a_call_and_its_output(case: str) -> None:
    """Such as a hook of Codex puts there; OpenAI matches them anywhere in the input."""
    items, fixed = INTERLEAVED[case]
    made = request(ASK, *items)
    assert errors(made) == set()
    assert errors(made, DEEPSEEK)
    after = made.apply("repair", goal=DEEPSEEK).chain
    assert json.loads(after.to_bytes())["input"] == [ASK, *fixed]
    assert errors(after, DEEPSEEK) == set()
    place = made.locate_error('{"error":{"message":"No tool output found for tool call call_1.","type":"invalid_request_error"}}')
    assert place is not None
