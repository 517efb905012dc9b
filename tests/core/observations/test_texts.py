"""Reading and writing results in one text: the reference's bracket convention, and cases of our own."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest

from chainviz.core.observations.contract import Block
from chainviz.core.observations.texts import ObservationReader, write_observation
from tests.cases import cases

READER = ObservationReader(["a", "b"])
OK, FAILED = Block("a", '{"x":1}'), Block("b", "Error: no seat")


@pytest.mark.parametrize("case", cases("toolchain/brackets.json"), ids=itemgetter("id"))
def test_brackets_are_read_as_observed(case: dict[str, Any]) -> None:
    found = ObservationReader(case["known_tools"]).read(case["text"])
    blocks = [{"name": each.name, "content": each.content, "error": each.is_error} for each in found.blocks] if found else []
    wrapper = "observation" if found and found.is_wrapped else None
    assert {"wrapper": wrapper, "blocks": blocks} == case["expected"]


WRITTEN = [
    ("brackets", "auto", [OK, FAILED], '<observation>\n[a]\n{"x":1}\n[b] Error: no seat\n</observation>'),
    ("brackets", "none", [OK, FAILED], '[a]\n{"x":1}\n[b] Error: no seat'),
    ("brackets", "section", [OK], '<observation>\n[a]\n{"x":1}\n</observation>'),
    ("brackets", "auto", [Block("error", "Error: invalid JSON")], "<observation>\nError: invalid JSON\n</observation>"),
    ("brackets", "none", [Block("error", "Error: invalid JSON")], "[error] Error: invalid JSON"),
    ("brackets", "auto", [Block("a", ""), Block("a", "l1\n\nl2")], "<observation>\n[a]\n\n[a]\nl1\n\nl2\n</observation>"),
    ("markdown", "auto", [OK, FAILED], '# a\n{"x":1}\n\n# b\nError: no seat'),
    ("markdown", "section", [OK], '# observation\n# a\n{"x":1}'),
    ("xml", "auto", [OK, FAILED], '<observation>\n<a>\n{"x":1}\n</a>\n<b>\nError: no seat\n</b>\n</observation>'),
    ("xml", "none", [OK], '<a>\n{"x":1}\n</a>'),
    ("xml", "auto", [Block("", "Error: invalid JSON")], "<observation>\n<error>\nError: invalid JSON\n</error>\n</observation>"),
    ("raw", "auto", [OK, FAILED], '{"x":1}\n\nError: no seat'),
    ("raw", "section", [OK], '{"x":1}'),
]  # fmt: skip


@pytest.mark.parametrize(("convention", "wrapper", "blocks", "text"), WRITTEN)
def test_every_convention_is_written(convention: str, wrapper: Any, blocks: list[Block], text: str) -> None:
    assert write_observation(blocks, convention, wrapper) == text
    found = READER.read(text)
    if convention == "raw":
        assert found is None
        return
    assert found is not None
    assert (found.convention, found.is_wrapped, found.start, found.end) == (
        convention, text.startswith(("<observation>", "# observation")), 0, len(text),
    )  # fmt: skip
    assert [(each.name or "error", each.content) for each in found.blocks] == [(each.name or "error", each.content) for each in blocks]


READ = [
    ("hello", None),
    ("[INFO] started\n[done]", None),
    ("# Title\ntext", None),
    ("<c>x</c>", None),
    ("Error: no", None),
    ("<observation>\n\n</observation>", None),
    ("see <observation>[a]", ("brackets", None)),
    ("Here:\n[a]\n1", ("brackets", ["1"])),
    ("[a] \n1", ("brackets", ["1"])),
    ("[a]\r\n1", ("brackets", ["1"])),
    ("[a]", ("brackets", [""])),
    ("Result:\n<a>1</a> and <b>2</b>.", ("xml", ["1", "2"])),
    ("<A>1</A>", ("xml", ["1"])),
    ("<a>\n# b\n[b]\n</a>", ("xml", ["# b\n[b]"])),
    ("# a\n[b]\n2", ("markdown", ["[b]\n2"])),
    ("<observation>\n# a\n1\n</observation>", ("markdown", ["1"])),
    ("<OBSERVATION>\n<a>1</a>\n</OBSERVATION>", ("xml", ["1"])),
    ("<a>x <a>y</a> z</a>", ("xml", ["x <a>y</a> z"])),
    ("<a>1</a>\n<a></a>\n<b>2</b>", ("xml", ["1", "2"])),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_what_is_taken_for_results(text: str, expected: tuple[str, list[str] | None] | None) -> None:
    found = READER.read(text)
    if expected is None or expected[1] is None:
        assert found is None
        return
    assert found is not None
    assert (found.convention, [each.content for each in found.blocks]) == expected
