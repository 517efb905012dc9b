"""Every format, with content that it does not know: a renamed key, an unknown type or role, a record that is missing. Each text is
still shown, or the chain is not fully read; and a repair removes only what its report lists."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import Chain
from chainviz.core.chain.messages import Message, Opaque, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tree import section_paths
from chainviz.core.errors import ChainError
from chainviz.core.formats.reader import INSTRUCTIONS
from tests.core.formats.chains import sample_files
from tests.examples import IS_LONG

EXAMPLES = 6 if IS_LONG else 2
"""Changes of each kind that are tried on a sample."""
LARGEST = 40_000
TREES = ("chatgpt", "deepseek_export", "open_webui", "librechat")
"""Formats that leave out messages of other branches: a message whose link is lost is one of these."""
Place = tuple[str | int, ...]


def documents(path: Path) -> tuple[Any, bool]:
    """The decoded sample, and whether it is JSON Lines."""
    text = path.read_text("utf-8")
    try:
        return json.loads(text), False
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()], True


def written(value: Any, is_lines: bool) -> bytes:
    return ("\n".join(map(json.dumps, value)) + "\n" if is_lines else json.dumps(value)).encode()


def is_json(path: Path) -> bool:
    if path.suffix not in (".json", ".jsonl") or path.stat().st_size > LARGEST:
        return False
    try:
        documents(path)
    except ValueError:
        return False
    return True


FILES = (*sample_files(), *sample_files(writes=False))
SAMPLES = [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in FILES if is_json(path)]


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def value_at(value: Any, at: Place) -> Any:
    for step in at:
        value = value[step]
    return value


def texts(chains: Sequence[Chain]) -> list[str]:
    return [text for chain in chains for message in chain.messages for text in texts_of(message)]


def texts_of(message: Message) -> list[str]:
    found = []
    for part in message.parts:
        if isinstance(part, Text | Opaque):
            found.append(part.text)
        elif isinstance(part, Thinking | ToolResult):
            found.append(part.content)
        elif isinstance(part, ToolCall):
            found.append(part.arguments)
    return [text for text in found if text]


def is_prose(text: Any) -> bool:
    return isinstance(text, str) and len(text) > 8 and " " in text.strip() and text[0] not in "{["


def in_records(value: Any, at: Place) -> bool:
    """Whether a place lies in one of several elements of a list: what is beside the messages is not judged."""
    first = next((place for place, step in enumerate(at) if isinstance(step, int)), len(at))
    return first + 1 < len(at) and len(value_at(value, at[:first])) > 1


def renamed(value: Any, at: Place) -> Any:
    value = copy.deepcopy(value)
    holder = value_at(value, at[:-1])
    items = [(f"{key}x" if key == at[-1] else key, inner) for key, inner in holder.items()]
    holder.clear()
    holder.update(items)
    return value


def changed(value: Any, at: Place, new: Any) -> Any:
    value = copy.deepcopy(value)
    value_at(value, at[:-1])[at[-1]] = new
    return value


def cut(value: Any, at: Place) -> Any:
    value = copy.deepcopy(value)
    del value_at(value, at[:-1])[at[-1]]
    return value


def some(found: Sequence[Place], seed: str) -> list[Place]:
    return random.Random(seed).sample(list(found), min(EXAMPLES, len(found)))


def shows(chains: Sequence[Chain], text: str) -> bool:
    found = texts(chains)
    lines = [line for line in text.splitlines() if line.strip()]
    if any(len(shown) > 8 and shown in text for shown in found):
        return True  # the format may read a shorter copy of it
    return all(any(line in shown or json.dumps(line)[1:-1] in shown for shown in found) for line in lines)


def assert_kept_or_named(content: bytes, text: str, what: str) -> None:
    try:
        chains = chainviz.load(content)
    except ChainError:
        return
    is_named = any(not chain.is_fully_read or "left out" in " ".join(chain.warnings) for chain in chains)
    assert is_named or shows(chains, text), f"{what}: {text!r} is lost"


@pytest.mark.parametrize("path", SAMPLES)
def test_a_renamed_key_keeps_its_text_or_is_named(path: Path) -> None:
    value, is_lines = documents(path)
    chains = chainviz.load(written(value, is_lines))
    named = [at for at in places(value) if at and isinstance(at[-1], str) and at[-1] not in INSTRUCTIONS]
    found = [at for at in named if in_records(value, at) and is_prose(value_at(value, at))]
    for at in some([at for at in found if shows(chains, value_at(value, at))], path.name):
        assert_kept_or_named(written(renamed(value, at), is_lines), value_at(value, at), f"{at} renamed")


SAME = ("mimeType", "mime_type", "mediaType", "fileUri")
"""Keys without which an image is still shown, as a file."""
IN_RESULTS = ("response", "exit_code", "user_rejected")
"""Keys whose value, or the object around it, is shown as it is written."""
IDS = ("c1",)
"""Keys that are ids of calls: a result under another id is shown as one that answers no call."""


@pytest.mark.parametrize("path", SAMPLES)
def test_a_misspelt_key_keeps_the_meaning_or_is_named(path: Path) -> None:
    """Any key of the document, that of a role, an id or an attribute of a trace included."""
    value, is_lines = documents(path)
    chains = chainviz.load(written(value, is_lines))
    if not all(chain.is_fully_read for chain in chains):
        return
    different = {tuple("*" if isinstance(step, int) else step for step in at): at for at in places(value) if at and isinstance(at[-1], str)}
    for at in some(list(different.values()), path.name):
        if at[-1] in (*SAME, *IN_RESULTS, *IDS) or {"response", "input", "args"} & {*at[:-1]}:
            continue
        try:
            after = chainviz.load(written(renamed(value, at), is_lines))
        except ChainError:
            continue
        is_named = len(after) != len(chains) or any(not chain.is_fully_read or chain.warnings for chain in after)
        shown = "\n".join(texts(after)).replace(f"{at[-1]}x", str(at[-1]))
        lost = [text for text in texts(chains) if text not in shown and text not in ("{}", "null")]
        assert is_named or (not lost and roles(after) == roles(chains)), f"{at} renamed: {lost}"


def roles(chains: Sequence[Chain]) -> list[str]:
    return [message.role for chain in chains for message in chain.messages]


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("key", ["type", "role"])
def test_an_unknown_type_or_role_keeps_its_text_or_is_named(path: Path, key: str) -> None:
    value, is_lines = documents(path)
    chains = chainviz.load(written(value, is_lines))
    found = [at for at in places(value) if at and at[-1] == key and in_records(value, at) and isinstance(value_at(value, at), str)]
    for at in some(found, path.name):
        holder = value_at(value, at[:-1])
        own = [each for each in (value_at(holder, place) for place in places(holder)) if is_prose(each) and shows(chains, each)]
        content = written(changed(value, at, "omen"), is_lines)
        for text in own[:2]:
            assert_kept_or_named(content, text, f"{at} is unknown")


@pytest.mark.parametrize("path", SAMPLES)
def test_without_one_record_the_others_are_read_as_before(path: Path) -> None:
    if path.parent.name in TREES:
        pytest.skip("a missing message cuts off its branch")
    value, is_lines = documents(path)
    chains = chainviz.load(written(value, is_lines))
    before = texts(chains)
    leaves = {each for at in places(value) if isinstance(each := value_at(value, at), str)}
    found = [at for at in places(value) if at and isinstance(at[-1], int) and isinstance(value_at(value, at), dict)]
    for at in some([at for at in found if len(value_at(value, at[:-1])) > 2], path.name):
        own = json.dumps(value_at(value, at))
        others = [text for text in before if is_prose(text) and text in leaves and json.dumps(text)[1:-1] not in own]
        for text in others[:2]:
            assert_kept_or_named(written(cut(value, at), is_lines), text, f"without {at}")


@pytest.mark.parametrize("path", SAMPLES)
def test_a_repair_removes_only_what_its_report_lists(path: Path) -> None:
    value, is_lines = documents(path)
    found = [at for at in places(value) if at and isinstance(at[-1], int) and isinstance(value_at(value, at), dict)]
    for at in some(found, path.name)[:3]:
        try:
            chains = chainviz.load(written(cut(value, at), is_lines))
        except ChainError:
            continue
        for chain in chains[:2]:
            assert_listed(chain)


def assert_listed(chain: Chain) -> None:
    try:
        made = chain.apply("repair", goal=chain.provider)
    except ChainError:
        return
    if not made.report:
        assert made.chain.messages == chain.messages
    listed = {row.path for row in made.report}
    after = "\n".join(texts([made.chain]))
    for place, path in enumerate(paths_of(chain)):
        lost = [text for text in texts_of(chain.messages[place]) if text not in after]
        assert not lost or any(row == path or row.startswith(f"{path}.") for row in listed), f"{path} lost {lost[0][:40]!r}; {listed}"


def paths_of(chain: Chain) -> list[str]:
    return [str(path) for number, section in enumerate(chain.tree.sections, 1) for path in section_paths(section, number)]
