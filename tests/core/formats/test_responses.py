"""OpenAI Responses: items make messages, and messages items again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Image, Message, Opaque, Reasoning, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.load import LoadedChain, document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

RESPONSES = get_format("openai_responses")

FOLDER = SAMPLES / "openai_responses"


def loaded(*items: dict[str, Any], **beside: Any) -> tuple[bytes, LoadedChain]:
    document = json.dumps({"model": "gpt-5.4", **beside, "input": list(items)}).encode()
    (chain,) = load_file(document, "openai_responses")
    return document, chain


def text(role: str, said: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": said, **more}


def call(id: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}"}


def output(id: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id, "output": "ok"}


def test_a_run_of_the_models_items_is_one_message() -> None:
    (chain,) = load_file(FOLDER / "ok_request.json")
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI, HUMAN, AI]
    assert [fragment.ordinal for fragment in chain.messages[2].source] == [1, 2, 3, 4]
    assert [type(part) for part in chain.messages[2].parts] == [Thinking, Text, ToolCall, ToolCall]
    search, answer = chain.messages[5].parts
    assert isinstance(search, Opaque)
    assert search.kind == "web_search_call"
    assert isinstance(answer, Text)
    assert not list(tree_problems(parse(chain.messages)))


def test_defects_of_the_broken_sample() -> None:
    (chain,) = load_file(FOLDER / "broken_orphan_output.json")
    found = {(problem.rule, str(problem.path)) for problem in tree_problems(parse(chain.messages))}
    assert found == {("orphan-result", "s1.p1.m1.c0"), ("pending-call", "s1.p2.m0.c0")}


def test_interleaved_calls_and_texts_are_one_turn() -> None:
    _, chain = loaded(text("user", "q"), text("assistant", "a"), call("1"), text("assistant", "b"), call("2"), output("1"), output("2"))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, TOOL]


def test_texts_without_ids_are_messages_of_their_own_and_reasoning_goes_with_what_follows() -> None:
    reasoning = {"type": "reasoning", "summary": []}
    _, chain = loaded(text("user", "q"), text("assistant", "a"), reasoning, text("assistant", "b"))
    assert [[type(part) for part in message.parts] for message in chain.messages] == [[Text], [Text], [Thinking, Text]]
    _, chain = loaded(text("user", "q"), text("assistant", "a", id="msg_1"), text("assistant", "b", id="msg_2"))
    assert [len(message.parts) for message in chain.messages] == [1, 2]


def test_a_compaction_that_opens_a_chain_stands_for_what_came_before() -> None:
    compaction = {"type": "compaction", "encrypted_content": "gA=="}
    _, chain = loaded(compaction, text("user", "q"))
    assert [(message.role, message.label) for message in chain.messages] == [(SYSTEM, "compaction"), (HUMAN, "")]
    _, chain = loaded(text("user", "q"), compaction)
    assert [message.role for message in chain.messages] == [HUMAN, AI]


def test_items_that_only_steer_the_api_are_carried() -> None:
    document, chain = loaded(text("user", "q"), {"type": "item_reference", "id": "rs_1"}, text("user", "r"))
    assert len(chain.messages) == 2
    assert exported(document, chain) == document


def test_instructions_that_say_nothing_stay() -> None:
    for value in (None, 5):
        document, chain = loaded(text("user", "q"), instructions=value)
        assert [message.role for message in chain.messages] == [HUMAN]
        assert exported(document, chain) == document


def test_instructions_are_made_changed_and_taken_out() -> None:
    document, chain = loaded(text("user", "q"))
    system = restyle(chain.messages, 0, Message(SYSTEM, (Text("Be brief."),)), "openai_responses", chain.envelope)
    made = json.loads(exported(document, chain, (system, *chain.messages)))
    assert made["instructions"] == "Be brief."
    document, chain = loaded(text("user", "q"), instructions="Be brief.")
    assert "instructions" not in json.loads(exported(document, chain, chain.messages[1:]))


def test_a_second_system_message_becomes_an_item() -> None:
    messages = (Message(SYSTEM, (Text("one"),)), Message(SYSTEM, (Text("two"),)), Message(HUMAN, (Text("q"),)))
    document = json.loads(b"".join(document_in(RESPONSES, messages, RESPONSES)))
    assert document == {
        "instructions": "one", "input": [{"role": "system", "content": "two"}, {"role": "user", "content": "q"}],
    }  # fmt: skip


def test_server_side_tool_search_waits_for_nobody() -> None:
    search = {"type": "tool_search_call", "execution": "server", "call_id": None, "arguments": {}}
    found = {"type": "tool_search_output", "execution": "server", "call_id": None, "tools": []}
    _, chain = loaded(text("user", "q"), search, found, call("1"), output("1"))
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL]
    assert len(chain.messages[1].calls) == 1


def test_a_custom_call_keeps_its_kind_and_free_text() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}
    document, chain = loaded(text("user", "q"), custom)
    part = chain.messages[1].parts[0]
    assert part == ToolCall("c", "apply_patch", "*** Begin", "custom")
    again = b"".join(document_in(RESPONSES, chain.messages, RESPONSES))
    assert json.loads(again)["input"][1] == custom
    changed = replace(chain.messages[1], parts=(replace(part, arguments="*** End"),))  # type: ignore[arg-type]
    styled = restyle(chain.messages, 1, changed, "openai_responses", chain.envelope)
    assert json.loads(exported(document, chain, (chain.messages[0], styled)))["input"][1] == {**custom, "input": "*** End"}


def test_parts_that_swap_places_take_their_items_along() -> None:
    document, chain = loaded(text("user", "q"), call("1"), call("2"), output("1"), output("2"))
    ai = chain.messages[1]
    styled = restyle(chain.messages, 1, replace(ai, parts=ai.parts[::-1]), "openai_responses", chain.envelope)
    items = json.loads(exported(document, chain, (chain.messages[0], styled, *chain.messages[2:])))["input"]
    assert [item.get("call_id") for item in items] == [None, "2", "1", "1", "2"]


def test_what_hangs_on_a_text_or_a_call_becomes_an_item_before_it() -> None:
    message = Message(AI, (Text("", Reasoning(signature="s")), ToolCall("c", "ls", "{}", reasoning=Reasoning("why", "t"))))
    items = json.loads(b"".join(document_in(RESPONSES, (Message(HUMAN, (Text("q"),)), message), RESPONSES)))["input"]
    assert [item.get("type") for item in items] == [None, "reasoning", "reasoning", "function_call"]


def test_pictures_of_a_result() -> None:
    picture = {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}
    _, chain = loaded(
        text("user", "q"),
        {"type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "c", "output": picture},
    )
    assert chain.messages[1].parts == (ToolCall("c", "computer", '{"type": "screenshot"}', "computer"),)
    assert chain.messages[2].parts == (ToolResult("c", "", "", media=(Image("data:image/png;base64,AA=="),)),)


def test_instructions_beside_plain_messages_make_a_request() -> None:
    (chain,) = load_file(json.dumps({"instructions": "Be brief.", "input": [text("user", "Hi"), text("assistant", "Hello")]}).encode())
    assert chain.format == "openai_responses"
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI]
