"""Files that chainviz writes are detected and read again with the same content, in every format, after conversion and repair."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from chainviz import Chain, load
from chainviz.core.chain.messages import SYSTEM, TOOL, Message, Opaque, Part, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import message_paths
from chainviz.core.errors import DocumentError, PathError, Refused
from chainviz.core.formats import WRITTEN, get_format
from tests.core.formats.chains import sample_chains
from tests.examples import share
from tests.shared_folder import shared

TARGETS = [form.name for form in WRITTEN if form.name != "raw"]
GOALS = ("", "openai-chat", "openai-responses", "anthropic", "gemini-3", "bedrock", "mistral")
LONGEST = 60_000
MOVED = "text that follows a tool call moves"
"""The loss that a conversion reports when it changes the order of parts."""
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
USER, ANSWER = {"role": "user", "content": "Ask."}, {"role": "assistant", "content": "Done."}
RESULT, OTHER = {"role": "tool", "tool_call_id": "a", "content": "One."}, {"role": "tool", "tool_call_id": "b", "content": "Two."}
ORPHANS = {
    "without a call": [USER, RESULT, ANSWER],
    "at the start": [RESULT, USER, ANSWER],
    "after an answer": [USER, ANSWER, RESULT, USER],
    "of another call": [USER, CALL, OTHER, ANSWER],
    "beside that of the call": [USER, CALL, OTHER, RESULT, ANSWER],
    "twice": [USER, CALL, RESULT, {**RESULT, "content": "Two."}, ANSWER],
    "after a user message": [USER, CALL, USER, RESULT, ANSWER],
    "empty": [USER, CALL, {**RESULT, "content": ""}, ANSWER],
}


Content = list[tuple[str, list[Part]]]


def content(messages: Sequence[Message]) -> Content:
    """Return what neighbours of one role say together: several formats write them as one. Results have the names of their
    calls and no order, JSON has no white space, and empty texts do not count."""
    names: dict[str, str] = {}
    found: list[tuple[str, list[Part]]] = []
    for message in messages:
        parts = [_plain(part, names) for part in message.parts if part != Text("")]
        if found and found[-1][0] == message.role:
            found[-1][1].extend(parts)
        elif parts:
            found.append((message.role, parts))
    return [(role, sorted(parts, key=str) if role == TOOL else parts) for role, parts in found]


def _plain(part: Part, names: dict[str, str]) -> Part:
    match part:
        case ToolCall():
            names[part.id] = part.name
            return replace(part, arguments=_compact(part.arguments))
        case ToolResult():
            return replace(part, name=names.get(part.call_id, part.name), content=_compact(part.content))
        case Opaque():
            return replace(part, text=_compact(part.text))
    return part


def _compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return text


def reopened(chain: Chain, place: int = 0) -> Content:
    return content(load(chain.to_bytes())[place].messages)


def in_order(messages: Content, warnings: Sequence[str]) -> Content | list[str]:
    """Return the content, without an order of parts where the conversion reports another one."""
    if any(MOVED in warning for warning in warnings):
        return sorted(str(part) for _, parts in messages for part in parts)
    return messages


@pytest.mark.parametrize("target", TARGETS)
def test_a_converted_sample_opens_again(target: str) -> None:
    judged = 0
    for path, _, chain in share(sample_chains(), TARGETS.index(target)):
        result = chain.convert(target)
        again = reopened(result.chain)
        assert in_order(again, result.warnings) == in_order(content(result.chain.messages), result.warnings), path
        judged += 1
    assert judged > 30


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_that_has_no_call_opens_again(target: str) -> None:
    for name, messages in ORPHANS.items():
        (chain,) = load(json.dumps({"model": "gpt-5", "messages": messages}).encode())
        result = chain.convert(target)
        (again,) = load(result.chain.to_bytes(), target)
        assert content(again.messages) == content(result.chain.messages), name
        assert again.is_fully_read, name
        if get_format(target).results_in_calls and name != "empty":
            assert any("results that answer no call of their turn become user messages (1 message" in each for each in result.warnings)


@pytest.mark.parametrize("goal", GOALS)
def test_a_repaired_sample_opens_again(goal: str) -> None:
    judged = 0
    for path, place, chain in share(sample_chains(), GOALS.index(goal), 2):
        try:
            new = chain.apply("repair", **({"goal": goal} if goal else {})).chain
        except Refused:
            continue
        assert reopened(new, place) == content(new.messages), path
        judged += 1
    assert judged > 50


EDITS = {
    "delete": ({},),
    "text": ({"text": "Another\n “text”."},),
    "answer": ({"text": "Another result."}, {"text": ""}),
    "role": ({"role": "human"}, {"role": "ai"}, {"role": "system"}),
    "split": ({"offset": 3},),
    "merge": ({},),
}


@pytest.mark.parametrize("action", EDITS)
def test_an_edited_sample_opens_again(action: str) -> None:
    judged = 0
    for path, place, chain in share(sample_chains(), [*EDITS].index(action)):
        if not get_format(chain.format).writes or len(chain) > 60:
            continue
        is_alone = len(load(path)) == 1
        for target, options in product(node_paths(chain), EDITS[action]):
            try:
                new = chain.apply("edit", action=action, path=target, **options).chain
            except (Refused, PathError):
                continue
            if is_alone and any(message.role != SYSTEM for message in new.messages):
                assert reopened(new, place) == content(new.messages), (path, target, options)
                judged += 1
    assert judged > (0 if action in ("split", "merge") else 20)


def node_paths(chain: Chain) -> list[str]:
    """Return the paths of the messages and of their parts."""
    messages = [str(path) for path in message_paths(chain.tree)]
    counts = [len(message.parts) for message in chain.messages]
    return [*messages, *(f"{path}.c{part}" for path, count in zip(messages, counts, strict=True) for part in range(count))]


def test_a_bare_text_becomes_a_message_beside_others() -> None:
    """OpenAI's Responses take a text in place of a list, but no text in a list."""
    (chain,) = load(json.dumps({"model": "gpt-5", "input": "Ask."}).encode())
    new = chain.apply("edit", action="append", role="ai", text="Done.").chain
    assert json.loads(new.to_bytes())["input"] == [{"role": "user", "content": "Ask."}, {"role": "assistant", "content": "Done."}]


def test_a_copy_of_an_edited_text_follows_it() -> None:
    block = {"type": "thinking", "thinking": "Look at the log."}
    answer = {"role": "assistant", "content": "Done.", "reasoning_content": "Look at the log.", "thinking_blocks": [block]}
    (chain,) = load(json.dumps({"messages": [USER, answer]}).encode())
    new = chain.apply("edit", action="text", path="s1.p1.m0.c0", text="Look twice.").chain
    (stored,) = json.loads(new.to_bytes())["messages"][1:]
    assert stored["reasoning_content"] == stored["thinking_blocks"][0]["thinking"] == "Look twice."


def test_a_role_that_the_record_cannot_have_is_refused() -> None:
    ran = {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 0}
    lines = [{"type": "session", "version": 3, "id": "s", "cwd": "/"}, {"type": "message", "id": "b", "parentId": None, "message": ran}]
    (chain,) = load("\n".join(map(json.dumps, lines)).encode(), "pi_session")
    with pytest.raises(Refused, match="no way to store this: opened again, the messages would differ"):
        chain.apply("edit", action="role", path="s1.h.m0", role="ai")


def transcripts() -> Iterator[tuple[Path, Chain]]:
    """The first chain of one of the shorter files of each folder and author."""
    seen: set[tuple[Path, str]] = set()
    for path in sorted(shared("transcripts").rglob("*.*")):
        kind = (path.parent, path.name.partition("__")[0])
        if not path.is_file() or path.stat().st_size > LONGEST or kind in seen or path.suffix in (".md", ".tsv", ".db"):
            continue
        seen.add(kind)
        try:
            chain = load(path)[0]
        except DocumentError:
            continue
        if any(message.has_text for message in chain.messages):
            yield path, chain


def opened(chain: Chain) -> Content | str:
    try:
        return reopened(chain)
    except DocumentError as error:
        return str(error)


@pytest.mark.slow
def test_converted_and_repaired_transcripts_open_again() -> None:
    judged, wrong = 0, []
    for row, (path, chain) in enumerate(transcripts()):
        for target in share(TARGETS, row, 5):
            result = chain.convert(target)
            judged += 1
            again, warnings = opened(result.chain), result.warnings
            if isinstance(again, str) or in_order(again, warnings) != in_order(content(result.chain.messages), warnings):
                wrong.append((path.name, target))
    assert judged > 100
    assert not wrong
