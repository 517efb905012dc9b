"""Usual messages of OpenAI's form are read a short way, with the same result as the long one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.formats.vendors.openai_form import read
from chainviz.core.load import LoadedChain, load_file
from tests.examples import examples
from tests.store.test_usual_rows import CALL, CALLS, MESSAGES

TEXTS = st.sampled_from(["words", "", "user", "read_file", '{"a": "words"}', None])
FUNCTIONS = st.fixed_dictionaries({"name": TEXTS, "arguments": TEXTS})
USUAL_CALLS = st.builds(lambda id, function: CALL | {"id": id, "function": function}, TEXTS, FUNCTIONS)
LIKELY = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "assistant", "tool"]), "content": TEXTS},
    optional={"tool_call_id": TEXTS, "tool_calls": st.lists(USUAL_CALLS | CALLS, max_size=3)},
)


def loaded(values: list[dict[str, Any]]) -> LoadedChain:
    return load_file(json.dumps({"model": "m", "messages": values}).encode(), "openai_chat")[0]


@given(st.lists(LIKELY | MESSAGES, min_size=1, max_size=8))
@examples(300)
def test_both_ways_give_the_same_messages_and_unread_fields(values: list[dict[str, Any]]) -> None:
    short = loaded(values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "is_usual", lambda value: False)
        long = loaded(values)
    assert short.envelope == long.envelope
    assert repr(short.messages) == repr(long.messages)
    assert [facts(message) for message in short.messages] == [facts(message) for message in long.messages]


def facts(message: Any) -> object:
    origins = [part.origin for part in message.parts]
    return message.label, message.note, message.size, message.calls, message.results, message.source, origins
