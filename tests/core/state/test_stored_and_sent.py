"""What would be stored and what would be sent; the chain as a document; where the divider goes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text
from chainviz.core.errors import Refused
from chainviz.core.load import LoadedChain, load_file
from chainviz.core.operations.compact import Compact, CompactOptions
from chainviz.core.operations.contract import Context
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.core.state.call import Usage, usage_of
from chainviz.core.state.document import shifted_length, write_state
from chainviz.core.state.export import Mark, is_state_format, next_call, provider_of, state_of
from chainviz.core.state.faults import read_state
from tests.core.pictures import ai, call, h, s, tool
from tests.core.strategies import chains
from tests.shared_folder import SAMPLES

CHAIN = [s("rules"), h("hi"), ai(call("a")), tool("a"), ai("yes"), s("event"), h("late")]


def sample(name: str) -> LoadedChain:
    return load_file(SAMPLES / name)[0]


def test_leading_systems_are_sent_and_what_follows_is_stored() -> None:
    found = next_call(CHAIN, [s("new rules")], h("next"))
    marks = [found.mark(place) for place in range(len(CHAIN))]
    assert marks == [Mark.NOT_STORED, *[Mark.SEEN] * 4, *[Mark.APPENDED] * 2]
    assert (len(found.stored), found.sent_count, found.stored.systems) == (6, 8, 1)
    stored = sum(message.size for message in CHAIN[1:])
    assert (found.stored.size, found.appended_size) == (stored, len("event") + len("late"))
    assert found.sent_size == stored + len("new rules") + len("next")
    assert found.tokens() == -(-found.sent_size // 4)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("messages", "given", "seen", "words"),
    [
        ([s("a"), s("b")], None, 0, "Nothing would be stored"),
        (CHAIN, 99, 6, "but only 6 are stored"),
        (CHAIN, -1, 0, ""),
        (CHAIN, 2, 2, ""),
        ([h("a"), h("b")], None, 0, ""),
        ([], None, 0, "Nothing would be stored"),
    ],
)
def test_the_divider(messages: list[Message], given: int | None, seen: int, words: str) -> None:
    found = next_call(messages, processed_length=given)
    assert found.seen == seen
    assert words in " ".join(found.warnings)
    assert bool(words) == bool(found.warnings)


def test_of_a_state_document_a_first_system_message_is_stored() -> None:
    found = next_call(CHAIN, is_state=True)
    assert len(found.stored) == len(CHAIN)
    assert "starts with a system message" in found.warnings[0]


def test_a_chat_becomes_a_state_without_its_leading_system_messages() -> None:
    chain = sample("openai_chat/ok_request.json")
    assert provider_of(chain.format) == "openai" and not is_state_format(chain.format)
    state = state_of(chain.messages, chain.format, "openai")
    stored = [message for message in chain.messages if message.role != SYSTEM]
    assert len(chain.messages) > len(stored)
    assert state.messages == tuple(message.source[0].text for message in stored)
    assert read_state(write_state(state), "openai").opened() == state


def test_a_state_document_becomes_the_state_it_is() -> None:
    for name in ("goaitools_state/ok_state.json", "goaitools_state_anthropic/ok_state.json"):
        content = (SAMPLES / name).read_bytes()
        chain = sample(name)
        provider = provider_of(chain.format)
        file = read_state(content, provider)
        assert is_state_format(chain.format) and file.problem is None
        # processed_length counts messages of the chain here, of which one of Anthropic's may be two
        seen = {"openai": 4, "anthropic": 5}[provider]
        assert state_of(chain.messages, chain.format, provider, processed_length=seen) == file.found
        assert state_of(chain.messages, chain.format, provider) == file.found


def test_new_messages_are_written_in_the_dialect() -> None:
    chain = sample("goaitools_state/ok_state.json")
    given = MemoryChain(chain.messages, chain.format)
    outcome = Edit().run(given, EditOptions(action="add_event", text="Event: boarded"), Context())
    messages = apply_splices(chain.messages, outcome.changes)
    state = state_of(messages, chain.format, "openai", processed_length=4)
    assert json.loads(state.messages[-1]) == {"role": "user", "content": "Event: boarded"}
    assert (state.processed_length, len(state.messages)) == (4, 6)


def test_another_provider_is_a_conversion() -> None:
    chain = sample("openai_chat/ok_request.json")
    with pytest.raises(Refused, match="Convert the chain first"):
        state_of(chain.messages, chain.format, "anthropic")
    with pytest.raises(Refused, match="not known"):
        state_of(chain.messages, chain.format, "gemma")
    assert provider_of("claude_code") == ""


def test_an_appended_message_of_any_role_is_not_seen() -> None:
    given = MemoryChain(tuple(CHAIN))
    for options in ({"role": "system", "text": "n"}, {"role": "ai", "text": "n"}, {"role": "tool", "text": "n", "call_id": "a"}):
        outcome = Edit().run(given, EditOptions(action="append", **options), Context())
        (splice,) = outcome.changes
        assert (splice.start, splice.removed, splice.messages[0].role) == (len(CHAIN), 0, options["role"])
        after = next_call(apply_splices(CHAIN, outcome.changes), processed_length=4)
        assert after.mark(len(CHAIN)) is Mark.APPENDED
    # unlike a human message, which joins one that is not answered yet
    event = Edit().run(given, EditOptions(action="add_event", text="n"), Context()).changes[0]
    assert event == Splice(len(CHAIN), 0, (Message(HUMAN, (Text("n"),)),))


SPLICES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), max_size=4)


@given(st.integers(0, 12), st.integers(0, 14), SPLICES)
def test_processed_length_follows_the_last_message_the_model_has_seen(count: int, seen: int, steps: list[tuple[int, int, int]]) -> None:
    splices, place = [], 0
    for gap, removed, new in steps:
        place += gap
        if place + removed > count:
            break
        splices.append(Splice(place, removed, (h("new"),) * new))
        place += removed
    messages = [h(str(number)) for number in range(count)]
    after = apply_splices(messages, splices)
    length = shifted_length(seen, splices)
    unseen = [message for message in messages[seen:] if any(message is each for each in after)]
    assert all(any(message is each for each in after[length:]) for message in unseen)
    assert not any(message is each for message in messages[:seen] for each in after[length:])
    if seen <= count:
        assert 0 <= length <= len(after)
    if not splices:
        assert length == seen


def test_it_stays_on_append_and_shifts_with_compaction() -> None:
    messages = [h("a"), ai("b"), h("c"), ai("d"), h("e")]
    outcome = Compact().run(MemoryChain(tuple(messages)), CompactOptions(max_messages=3), Context())
    assert shifted_length(4, outcome.changes) == 2
    assert shifted_length(4, [Splice(5, 0, (h("f"),))]) == 4


@given(chains, st.none() | st.integers(-2, 20), st.booleans())
def test_both_columns_add_up_for_any_chain(messages: list[Message], given: int | None, is_state: bool) -> None:
    found = next_call(messages, [s("rules")], None, processed_length=given, is_state=is_state)
    marks = [found.mark(place) for place in range(len(messages))]
    assert marks == sorted(marks, key=list(Mark).index)
    stored = [message for message, mark in zip(messages, marks, strict=True) if mark is not Mark.NOT_STORED]
    assert found.stored.size == sum(message.size for message in stored)
    assert len(stored) == len(found.stored) == found.sent_count - 1
    assert found.appended_size == sum(m.size for m, mark in zip(messages, marks, strict=True) if mark is Mark.APPENDED)


def test_usage_is_recorded_or_given_or_estimated() -> None:
    chain = sample("claude_code/ok_session.jsonl")
    messages = chain.messages[: max(i for i, m in enumerate(chain.messages) if m.role == "ai") + 1]
    given = MemoryChain(messages, chain.format)
    sent = sum(message.size for message in messages[:-1])
    recorded = usage_of(given)
    assert (recorded.source, recorded.sent) == ("recorded", sent) and recorded.prompt_tokens > 0
    assert usage_of(given, 77) == Usage(77, sent, "given")
    bare = MemoryChain(tuple(replace(message, source=()) for message in messages))
    assert usage_of(bare) == Usage(-(-sent // 4), sent, "estimated")
    assert "(estimated)" in str(usage_of(bare)) and "(" not in str(recorded)
    assert usage_of(MemoryChain(())) == Usage(0, 0, "estimated")
