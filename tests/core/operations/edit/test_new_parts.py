"""One more part in a message, another image in the place of one, and calls whose id nobody has to invent (issue 12)."""

from __future__ import annotations

import random
import re

import pytest

import chainviz
from chainviz.core.chain.chain import MemoryChain
from chainviz.core.chain.messages import Image, Message, Text, ToolCall
from chainviz.core.errors import Refused
from chainviz.core.operations.edit.values import new_call_id
from tests.core.operations.edit.test_edit import CHAIN, after, ai, h, s, t


@pytest.mark.parametrize(
    ("ids", "pattern"),
    [
        ((), r"call_[A-Za-z0-9]{24}"),
        (("call_1", "call_2"), r"call_3"),
        (("c09", "c10"), r"(?!c09|c10).{6}"),
        (("toolu_01AbCdEfGhIjKlMn",), r"toolu_[A-Za-z0-9]{16}"),
        (("chatcmpl-tool-9f86d081884c7d65",), r"chatcmpl-tool-[0-9a-f]{16}"),
        (("7",), "8"),
    ],
)  # fmt: skip
def test_a_new_id_is_spelt_as_those_around_it(ids: tuple[str, ...], pattern: str) -> None:
    chain = MemoryChain((s("rules"), h("hi"), ai("look", *ids)))
    new = new_call_id(chain, 2, random.Random(7))
    assert re.fullmatch(pattern, new), new
    assert new not in ids


def test_a_call_is_inserted_without_an_id() -> None:
    new = after(CHAIN, path="s2.p1", action="insert", where="before", role="ai", name="search")
    assert new[7].parts == (ToolCall("3", "search", "{}"),)


@pytest.mark.parametrize(
    ("path", "options", "part"),
    [
        ("s1.h.m1", {"text": "and now"}, Text("and now")),
        ("s1.h.m1", {"url": "https://example.org/a.png"}, Image("https://example.org/a.png")),
        ("s1.p2", {"name": "search", "arguments": '{"q": 1}'}, ToolCall("3", "search", '{"q": 1}')),
    ],
)  # fmt: skip
def test_a_part_is_added_at_the_end(path: str, options: dict[str, str], part: object) -> None:
    at = 1 if path == "s1.h.m1" else 5
    new = after(CHAIN, path=path, action="add_part", **options)
    assert new[at].parts == (*CHAIN[at].parts, part)


def test_a_part_is_added_behind_another() -> None:
    assert after([h("a", "b")], path="s1.h.m0.c0", action="add_part", text="x") == (h("a", "x", "b"),)


@pytest.mark.parametrize(
    ("messages", "options", "text"),
    [
        ([h("hi")], {}, "Type a text"),
        ([h("hi")], {"name": "search"}, "Only an AI message"),
        ([ai("", "1"), t("1")], {"path": "s1.p1.m1", "text": "x"}, "only have results"),
        ([ai("look")], {"path": "s1.p1", "name": "search", "arguments": "{"}, "column 2: a key in double quotes is missing. Fix them"),
    ],
)  # fmt: skip
def test_what_cannot_be_added_is_refused(messages: list[Message], options: dict[str, str], text: str) -> None:
    with pytest.raises(Refused, match=text):
        after(messages, **{"path": "s1.h.m0", **options, "action": "add_part"})


def test_an_image_is_replaced() -> None:
    message = Message("human", (Text("See"), Image("https://example.org/a.png", detail="low")))
    new = after([message], path="s1.h.m0", action="image", url="data:image/png;base64,AAAA")
    assert new[0].parts[1] == Image("data:image/png;base64,AAAA", detail="low")
    with pytest.raises(Refused, match="needs an address"):
        after([message], path="s1.h.m0", action="image")


@pytest.mark.parametrize(
    "image",
    [
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "BBBB"}},
    ],
    ids=["OpenAI", "Anthropic"],
)
def test_a_replaced_image_is_written_as_its_format_spells_it(image: dict[str, object]) -> None:
    chain = chainviz.load([{"role": "user", "content": [{"type": "text", "text": "See"}, image]}])[0]
    new = chain.apply("edit", path="s1.h.m0", action="image", url="data:image/png;base64,AAAA").chain
    assert new.messages[0].parts[1] == Image("data:image/png;base64,AAAA")
