"""With all fixes no provider refuses a chain, unless there is nothing to answer; test_error_classes.py has each error by itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.chain.messages import SYSTEM, Image, Message, Opaque, Text, Thinking
from chainviz.core.chain.tree import parse
from chainviz.core.dialects.values import data_url
from chainviz.core.operations.repair import CHOICES, RepairOptions, repaired
from tests.core.pictures import ai, call, h, result, tool
from tests.core.provider_problems import provider_problems
from tests.core.strategies import messages
from tests.examples import examples

GIF = Image(data_url("image/gif", b"GIF89a" + (9000).to_bytes(2, "little") + (20).to_bytes(2, "little")))
SEARCHED = Opaque("web_search_tool_result", '{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}')
THOUGHT = Thinking("hm", "sig")

SELDOM = [ai(SEARCHED), ai(THOUGHT, call("a")), ai(Thinking("", "sig"), call("b"))]


@examples(300)
@given(st.lists(messages | st.sampled_from(SELDOM), max_size=9))
def test_with_all_fixes_no_provider_refuses_any_chain(chain: list[Message]) -> None:
    every = RepairOptions(only=tuple(CHOICES))
    after = repaired(chain, every)
    refused = [problem for problem in provider_problems(parse(after)) if problem.severity == "error"]
    if all(message.role == SYSTEM for message in after):
        refused = [problem for problem in refused if problem.rule != "messages-missing"]
    # ids of nine characters are made for the one provider that wants them
    assert [problem for problem in refused if problem.provider != "mistral-v11"] == []
    assert repaired(after, every) == after


def test_a_note_in_the_place_of_a_picture_comes_behind_the_result_beside_it() -> None:
    chain = [h("Go"), ai(call("abcdefgh1")), tool(Image("no-address.png"), "abcdefgh1")]
    last = repaired(chain, RepairOptions(only=tuple(CHOICES)))[-1]
    assert last.parts == (result("abcdefgh1"), Text("[A picture was here: no-address.png]"))
