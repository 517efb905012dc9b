"""Where the seed and its code disagree: the reading this program takes, one test each (issue 9)."""

from __future__ import annotations

import json

import pytest

from chainviz.core.errors import Refused
from chainviz.core.operations.compact import Settings, Strategy, parse_strategy
from chainviz.core.state.call import CallRules, CompactionRequest, Reply, add_event, append, next_state
from chainviz.core.state.document import State, write_state
from chainviz.core.state.faults import EVENTS, Fault, read_state, salvage
from tests.core.state.calls import CASES, run

DIFFERENT = {
    "st-state-starts-with-system", "st-state-starts-with-system-nolead", "st-extra-msg-field", "st-extra-field-in-reply",
    "st-extra-top", "st-content-parts", "cp-not-in-tools", "cp-token", "cp-wipe",
}  # fmt: skip
"""Cases in which a reading below changes the outcome."""
DISCARDED = {name for name, case in CASES.items() if case["expected"]["state_in"].startswith("discarded")}


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT | DISCARDED])
def test_all_other_cases_are_as_observed(name: str) -> None:
    expected = CASES[name]["expected"]
    outcome = run(CASES[name], reference=False)
    assert (outcome.state, outcome.events) == (expected["state_out"], expected["events"])
    # a stored null is sent as it is stored; the reference leaves it out
    sent = [[{k: item for k, item in message.items() if item is not None} for message in one] for one in outcome.sent]
    assert sent == expected.get("sent", [])


def stored(name: str) -> list[object]:
    messages: list[object] = run(CASES[name], reference=False).state["messages"]
    return messages


def test_turn_one_sends_its_system_and_user_message_only() -> None:
    outcome = run(CASES["st-first-turn"], reference=False)
    assert [[message["role"] for message in request] for request in outcome.sent] == [["system", "user"]]


def test_an_event_is_appended_as_a_user_message() -> None:
    state = add_event(State("openai", ('{"role": "user", "content": "hi"}',), 1), "checked in at Harrogate Theatre")
    assert json.loads(state.messages[1]) == {"role": "user", "content": "checked in at Harrogate Theatre"}
    assert state.processed_length == 1


def test_compaction_goes_down_to_the_target() -> None:
    """The reference removes a third and keeps four messages here."""
    assert stored("cp-token") == [{"role": "user", "content": "u3"}, {"role": "assistant", "content": "a3"}]


def test_the_last_turn_stays_where_no_user_message_follows_the_cut() -> None:
    """The reference stores nothing here."""
    assert [message["role"] for message in stored("cp-not-in-tools")] == ["user", "assistant", "tool", "assistant"]  # type: ignore[index]
    assert stored("cp-wipe")[0] == {"role": "user", "content": "u1"}


def test_all_fields_are_kept_sent_and_stored() -> None:
    outcome = run(CASES["st-extra-msg-field"], reference=False)
    message = {"role": "assistant", "content": "b", "reasoning_content": "secret", "confidence": 0.5}
    assert outcome.sent[0][1] == message == outcome.state["messages"][1]
    assert stored("st-extra-field-in-reply")[1] == {"role": "assistant", "content": "r", "reasoning_content": "think"}
    assert run(CASES["st-extra-top"], reference=False).state["note"] == "x"


def test_a_mid_conversation_system_message_is_stored() -> None:
    assert {"role": "system", "content": "User completed task X"} in stored("st-mid-system")


def test_every_problem_is_its_own_and_visible() -> None:
    found = {name: read_state(CASES[name]["state_in"].encode(), "openai") for name in DISCARDED - {"st-content-parts"}}
    assert all(file.problem for file in found.values())
    assert {file.problem.fault for file in found.values() if file.problem} == set(Fault) == set(EVENTS)


@pytest.mark.parametrize("name", sorted(DISCARDED - {"st-content-parts"}))
def test_nothing_is_discarded(name: str) -> None:
    """There is no state to append to or to write until a person has resolved the problem; the bytes stay."""
    content = CASES[name]["state_in"].encode()
    file = read_state(content, "openai")
    assert file.content == content
    with pytest.raises(Refused, match="Resolve this first"):
        file.opened()
    if file.found.messages:
        assert salvage(file, "openai").state.messages


def test_a_list_of_content_parts_is_no_problem() -> None:
    assert stored("st-content-parts")[0] == {"role": "user", "content": [{"type": "text", "text": "hi"}]}


def test_a_compactor_is_given_the_processed_length_too() -> None:
    seen: list[CompactionRequest] = []
    strategy = Strategy(parse_strategy({"type": "message_limit", "max_messages": 9}), Settings())

    def compact(request: CompactionRequest) -> object:
        seen.append(request)
        return strategy(request)

    old = State("openai", ('{"role": "user", "content": "hi"}', '{"role": "assistant", "content": "yes"}'), 2)
    options = ['{"role": "system", "content": "brief"}', '{"role": "user", "content": "more"}']
    reply = Reply('{"role": "assistant", "content": "ok"}', "stop", 77)
    next_state(old, options, [reply], {}, compact)  # type: ignore[arg-type]
    (request,) = seen
    assert [message.role for message in request.messages] == ["human", "ai", "human", "ai"]
    assert [message.role for message in request.leading] == ["system"]
    assert request.usage is not None and (request.usage.prompt_tokens, request.usage.sent) == (77, len("briefhiyesmore"))
    assert (request.provider, request.processed_length) == ("openai", 2)


@pytest.mark.parametrize("name", ["st-state-starts-with-system", "st-state-starts-with-system-nolead"])
def test_only_system_messages_of_the_call_are_left_out(name: str) -> None:
    """The reference drops the one that the state begins with, after it was sent once."""
    assert stored(name)[0] == {"role": "system", "content": "orphan system"}


def test_developer_messages_are_stored_unless_wanted_otherwise() -> None:
    options = ['{"role": "developer", "content": "dev"}', '{"role": "user", "content": "u"}']
    reply = Reply('{"role": "assistant", "content": "a"}', "stop")
    for rules, roles in ((CallRules(), ["developer", "user", "assistant"]), (CallRules(developer_is_system=True), ["user", "assistant"])):
        _, state, _ = next_state(None, options, [reply], {}, rules=rules)
        assert state is not None
        assert [json.loads(text)["role"] for text in state.messages] == roles


def test_an_append_needs_a_provider_that_is_known() -> None:
    with pytest.raises(Refused, match="gemma"):
        append(None, [], "gemma")


def test_replies_that_run_out_give_no_state() -> None:
    call = '{"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}'
    sent, state, events = next_state(None, ['{"role": "user", "content": "u"}'], [Reply(call, "tool_calls")], {})
    assert (len(sent), state, events) == (1, None, ("no_reply",))


def test_stored_messages_are_the_same_bytes_after_a_call() -> None:
    odd = '{ "role":"user" ,"content": "\\u00e9 \\/", "n": 1.50e0 }'
    _, state, _ = next_state(State("openai", (odd,), 0), [], [Reply('{"role":"assistant","content":"a"}', "stop")], {})
    assert state is not None
    assert state.messages[0] == odd
    assert odd.encode() in write_state(state)
