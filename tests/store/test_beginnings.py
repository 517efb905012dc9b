"""Only the beginning of a very long text is read. The rest is read on request, and numbers are those of the whole text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.messages import Message
from chainviz.core.documents.json import long_values
from chainviz.core.documents.json.long_values import LongText, length_of, part_of
from chainviz.store.content import message_reader
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import BodyReader
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain, make_chain_of, result
from tests.shared_folder import SAMPLES

pytestmark = pytest.mark.django_db
LONG = 'say "hi" to C:\\new é 😀 \ud83d \0\n' * 20


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(long_values, "STEP", 64)
    monkeypatch.setattr(LongText, "BEGINNING", 50)
    yield


def chain_of(content: bytes, name: str = "story.json") -> StoredChain:
    return stored(make_chain_of(content, name))


def stored(chain: Any) -> StoredChain:
    return StoredChain(Version.objects.get(history=chain.history, number=1).snapshot)


def long_in(message: Message) -> list[LongText]:
    values = (getattr(part, field.name) for part in message.parts for field in fields(part))
    return [value for value in values if isinstance(value, LongText)]


def same(begun: Message, whole: Message) -> bool:
    """Whether both say the same, once the rest of long texts is read."""
    assert (begun.role, begun.label, begun.note, begun.size) == (whole.role, whole.label, whole.note, whole.size)
    for ours, part in zip(begun.parts, whole.parts, strict=True):
        for field in fields(part):
            value, expected = getattr(ours, field.name), getattr(part, field.name)
            if isinstance(value, LongText):
                assert expected.startswith(value)
                value = part_of(value, 0, length_of(value))
            assert value == expected
    return True


def both(chain: StoredChain) -> list[tuple[Message, Message]]:
    rows = chain.rows(0, len(chain))
    return list(zip(chain.bodies.begun(rows), chain.bodies.messages(rows), strict=True))


def call(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"type": "function", **members}]}


OPENAI = [human(LONG), ai(LONG, ("c1", "write", LONG)), result("c1", LONG), ai("short")]
BLOCKS = [
    {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": LONG}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": LONG}], "is_error": True},
        {"type": "text", "text": "and now?"},
    ]},
]  # fmt: skip


def test_long_texts_of_openai_begin_and_go_on() -> None:
    pairs = both(stored(make_chain(OPENAI)))
    assert [len(long_in(begun)) for begun, _ in pairs] == [1, 2, 1, 0]
    assert all(same(*pair) for pair in pairs)


def test_long_texts_of_anthropic_begin_and_go_on() -> None:
    chain = chain_of(json.dumps({"model": "m", "max_tokens": 9, "system": "s", "messages": BLOCKS}).encode())
    assert chain.format == "anthropic"
    pairs = both(chain)
    assert sum(len(long_in(begun)) for begun, _ in pairs) == 2
    assert all(same(*pair) for pair in pairs)


def test_what_a_line_says_twice_is_cut_twice() -> None:
    lines = [
        {"type": message["role"], "uuid": f"u{i}", "parentUuid": f"u{i - 1}" if i else None, "sessionId": "s",
         "isSidechain": False, "cwd": "/x", "version": "2", "timestamp": f"2026-01-01T00:00:0{i}.000Z",
         "message": message, "toolUseResult": {"stdout": LONG}}
        for i, message in enumerate(BLOCKS)
    ]  # fmt: skip
    chain = chain_of("\n".join(map(json.dumps, lines)).encode(), "session.jsonl")
    assert chain.format == "claude_code"
    pairs = both(chain)
    assert sum(len(long_in(begun)) for begun, _ in pairs) == 2
    assert all(same(*pair) for pair in pairs)


@pytest.mark.parametrize(
    "odd",
    [
        {"role": "user", "content": [{"type": "text", "text": LONG, "x": 1}, {"type": "strange", "a": LONG}]},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 99}}]},
        {"role": "assistant", "content": "b", "reasoning_content": LONG},
        call(id=LONG, function={"name": LONG, "arguments": "{}"}),
        call(id="a", function={"name": "f", "arguments": {"a": LONG}}),
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": LONG}, {"type": "text", "text": LONG}]},
        {"role": "user", "content": " " * 900},
        {"role": "user", "content": "[1]" + " " * 900},
        {"role": "user", LONG: "x", "content": "y"},
        {"role": LONG, "content": "y"},
    ],
)  # fmt: skip
def test_odd_messages_are_read_whole_where_a_beginning_would_not_do(odd: dict[str, Any]) -> None:
    assert all(same(*pair) for pair in both(stored(make_chain([human("a"), odd, ai("b")]))))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*/ok_*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_samples_of_all_formats_say_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = chain_of(path.read_bytes(), path.name)
    assert all(same(*pair) for pair in both(chain))
    monkeypatch.setattr(long_values, "STEP", 1 << 20)
    monkeypatch.setattr(message_reader, "MANY", 1)
    for row in chain.rows(0, len(chain)):
        whole = chain.bodies.messages([row])[0].parts
        assert tuple(chain.bodies.parts(row, range(1, 3))) == whole[1:3]


def test_what_is_begun_has_no_source_to_be_written_from() -> None:
    begun = both(stored(make_chain(OPENAI)))[0][0]
    assert begun.source == ()


def test_the_second_look_reads_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_values, "STEP", 10_000)
    chain = stored(make_chain([human("a"), ai(None, ("c1", "f", "{}")), result("c1", "line é\n" * 200_000)]))
    rows = chain.rows(2, 3)
    chain.bodies.begun(rows)
    asked = []
    reader = BodyReader()
    upload = reader.upload(rows[0].run)
    assert upload is not None
    monkeypatch.setattr(type(upload), "__call__", lambda self, start, end: asked.append(end - start) or b"".join(
        content for _, content in self.chunks(start // 262_144, (end - 1) // 262_144)
    )[start % 262_144 :][: end - start])  # fmt: skip
    text = long_in(reader.begun(rows)[0])[0]
    assert part_of(text, 700_000, 700_007) == "line é\n"
    assert sum(asked) < 100_000
