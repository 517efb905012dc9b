"""A page reads and decodes only the shown parts of a message with very many parts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.core.documents.json.long_values import list_items
from chainviz.core.formats.vendors.anthropic.messages import Anthropic
from chainviz.core.formats.vendors.openai.chat import OpenAIChat
from chainviz.store.content import message_reader
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import BodyReader, StoredMessage
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain, make_chain_of, result

pytestmark = pytest.mark.django_db
PARTS = 2_100
"""More than the inspector counts the tokens of."""


def texts(count: int) -> list[dict[str, Any]]:
    return [{"type": "text", "text": f"text {i}"} for i in range(count)]


def uses(count: int) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": f"t{i}", "name": "look", "input": {"n": [{"of": i}]}} for i in range(count)]


def results(count: int) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": f"t{i}", "content": f"says t{i}"} for i in range(count)]


def anthropic(*contents: Any) -> Chain:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": content} for i, content in enumerate(contents)]
    return make_chain_of(json.dumps({"model": "m", "max_tokens": 9, "system": "s", "messages": messages}).encode())


SHAPES: dict[str, Any] = {
    "texts of a person": lambda n: (anthropic(texts(n), "ok"), "s1.h.m1"),
    "texts of an answer": lambda n: (anthropic("Go", texts(n)), "s1.p1"),
    "calls": lambda n: (anthropic("Go", uses(n)), "s1.p1"),
    "calls and results": lambda n: (anthropic("Go", uses(n), results(n), "done"), "s1.p1"),
    "results and a text": lambda n: (anthropic("Go", uses(n), [*results(n), *texts(1)], "done"), "s1.p1"),
    "calls of OpenAI": lambda n: (make_chain([human("Go"), ai("I look.", *[(f"t{i}", "look", {}) for i in range(n)])]), "s1.p1"),
}  # fmt: skip


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many parts each message had that a format read."""
    numbers: list[int] = []

    def counting(read: Any) -> Any:
        def message(*args: Any) -> Any:
            found = read(*args)
            numbers.append(len(found.parts))
            return found

        return message

    for format in (Anthropic, OpenAIChat):
        monkeypatch.setattr(format, "message", counting(format.message))
    return numbers


@pytest.mark.parametrize("name", ["texts of a person", "calls and results", "calls of OpenAI"])
def test_a_view_decodes_the_parts_it_shows(client: Client, decoded: list[int], name: str) -> None:
    chain, node = SHAPES[name](PARTS)
    for address in ("", f"at/{node}", f"node/{node}", f"node/{node}?from=700", f"inspect/{node}"):
        decoded.clear()
        answer = client.get(f"/c/{chain.pk}/v/1/{address}")
        assert answer.status_code == 200
        assert sum(decoded) <= 80, address
        assert len(answer.content) <= 100_000


def test_every_part_can_be_reached(client: Client, decoded: list[int]) -> None:
    chain, _ = SHAPES["calls and results"](PARTS)
    decoded.clear()
    page = client.get(f"/c/{chain.pk}/v/1/node/s1.p1?part=s1.p1.m1.c777").content.decode()
    assert "says t777<" in page and page.index("says t777<") < page.index("says t778<")
    page = client.get(f"/c/{chain.pk}/v/1/part/s1.p1.m1.c777").content.decode()
    assert "says t777" in page
    assert sum(decoded) <= 80


def test_a_result_in_another_place_is_shown_there(client: Client) -> None:
    swapped = results(600)
    swapped[7], swapped[90] = swapped[90], swapped[7]
    chain = anthropic("Go", uses(600), swapped, "done")
    page = client.get(f"/c/{chain.pk}/v/1/node/s1.p1?from=8").content.decode()
    assert "says t90<" in page and "says t7<" not in page


def test_results_without_a_call_follow(client: Client) -> None:
    chain = anthropic("Go", uses(300), results(600), "done")
    page = client.get(f"/c/{chain.pk}/v/1/node/s1.p1?from=301").content.decode()
    assert "says t300<" in page and "says t299<" not in page and "No call" in page


@pytest.mark.parametrize("name", SHAPES)
def test_parts_are_those_of_the_whole_message(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    chain, _ = SHAPES[name](40)
    monkeypatch.setattr(message_reader, "MANY", 3)
    stored = StoredChain(Version.objects.get(history=chain.history, number=1).snapshot)
    for row in stored.rows(0, len(stored)):
        check_parts(stored.bodies, row)


def check_parts(bodies: BodyReader, row: StoredMessage) -> None:
    whole = bodies.messages([row])[0].parts
    for start in range(0, len(whole), 7):
        assert tuple(bodies.parts(row, range(start, start + 5))) == whole[start : start + 5]


def test_a_message_that_its_window_does_not_fit_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a result that stands beside the blocks is no item of a list."""
    monkeypatch.setattr(message_reader, "MANY", 1)
    chain = make_chain([human("Go"), ai(None, ("a", "f", {})), result("a", "x"), {"role": "user", "content": [*texts(3), 5]}])
    stored = StoredChain(Version.objects.get(history=chain.history, number=1).snapshot)
    for row in stored.rows(0, len(stored)):
        check_parts(stored.bodies, row)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "content": [1, "x,]", {"b": [2, "}"]}, [], null, "\\"", 1e5]}',
        ' {"content": 5, "content" : [ ] , "z": {"content": [1]}}',
        '{"content": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}',
        '{"content": "text"}',
        '{"role": "user"}',
        "[1]",
        '{"cont\\u0065nt": ["é", "😀"]}',
    ],
)
def test_items_of_a_list(text: str) -> None:
    value = json.loads(text)
    expected = value.get("content") if isinstance(value, dict) else None
    content = text.encode()
    found = list_items(content, ("content",))
    if found is None:
        assert not expected or isinstance(expected, str) or "[[[[" in text
    else:
        assert [json.loads(content[start:end]) for start, end in zip(found.starts, found.ends, strict=True)] == expected
