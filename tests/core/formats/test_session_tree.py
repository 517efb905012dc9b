"""The branches of a pi session are chains of their own; the first is the one that pi goes on with."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.chain.messages import HUMAN, Message, Text, text_of
from chainviz.core.load import load_file, restyle
from tests.core.formats.chains import exported, values


def entry(id: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": id, "parentId": parent, "message": {"role": "user", "content": text}, **more}


def document(*entries: dict[str, Any]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in entries).encode()


HEADER = {"type": "session", "version": 3, "id": "s", "cwd": "/repo"}
MODEL = {"type": "model_change", "id": "m", "parentId": "a", "provider": "anthropic", "modelId": "claude"}
TREE = document(
    HEADER, entry("a", None, "one"), MODEL, entry("b", "m", "two"), entry("c", "a", "three"), entry("d", "b", "four"),
    entry("e", "b", "five"),
)  # fmt: skip


def words(content: bytes) -> list[list[str]]:
    return [[text_of(message) for message in chain.messages] for chain in load_file(content)]


def test_the_path_to_the_last_entry_comes_first_then_the_branches_that_were_left() -> None:
    assert words(TREE) == [["one", "two", "five"], ["one", "three"], ["one", "two", "four"]]
    chains = load_file(TREE)
    assert [chain.pointer for chain in chains] == [(), ("branch", "c"), ("branch", "d")]
    assert all(exported(TREE, chain) == TREE for chain in chains)


def test_a_person_who_went_back_goes_on_from_there() -> None:
    """Nothing was said since: the last entry, a mark, says where."""
    mark = {"type": "label", "id": "l", "parentId": "a", "targetId": "a", "label": "here"}
    content = document(HEADER, entry("a", None, "one"), entry("b", "a", "two"), mark)
    assert words(content) == [["one"], ["one", "two"]]


def test_a_session_whose_entries_follow_one_another_is_one_chain() -> None:
    assert words(document(HEADER, entry("a", None, "one"), MODEL, entry("b", "m", "two"))) == [["one", "two"]]
    assert words(document(HEADER, entry("a", None, "one"), {**MODEL, "id": "n"}, entry("b", "a", "two"))) == [["one", "two"]]


def test_a_loop_ends() -> None:
    assert words(document(entry("a", "b", "one"), entry("b", "a", "two"), entry("c", "a", "three")))[0] == ["one", "two", "three"]


def test_an_edit_of_one_branch_leaves_the_others() -> None:
    chain = load_file(TREE)[0]
    new = restyle(chain.messages, 1, Message(HUMAN, (Text("new"),)), chain.format, chain.envelope)
    written = values(exported(TREE, chain, (chain.messages[0], new, *chain.messages[1:])))
    parents = {each["id"]: each["parentId"] for each in written if each["type"] != "session"}
    (added,) = parents.keys() - {"a", "m", "b", "c", "d", "e"}
    assert parents == {"a": None, added: "a", "m": added, "b": "m", "c": "a", "d": "b", "e": "b"}


def test_a_branch_whose_beginning_is_deleted_follows_what_was_before_it() -> None:
    chain = load_file(TREE)[0]
    written = values(exported(TREE, chain, (chain.messages[0], chain.messages[2])))
    parents = {each["id"]: each["parentId"] for each in written if each["type"] != "session"}
    assert parents == {"a": None, "m": "a", "c": "a", "d": "m", "e": "m"}
