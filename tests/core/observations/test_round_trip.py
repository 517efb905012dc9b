"""The lossless check says exactly what a reader would not get back."""

from __future__ import annotations

import pytest
from hypothesis import given

from chainviz.core.observations.contract import Block
from chainviz.core.observations.texts import ObservationReader, check, is_wrapped, rewrite, write_observation
from tests.core.observations.strategies import TOOLS, block_lists, contents, conventions, wrappers
from tests.examples import examples

READER = ObservationReader(TOOLS)


def losses(text: str, convention: str, *, name: str = "a", wrapper: str = "auto", more: tuple[Block, ...] = ()) -> list[str]:
    """What is lost of one result, in words."""
    blocks = [Block(name, text), *more]
    written = write_observation(blocks, convention, wrapper)  # type: ignore[arg-type]
    reader = ObservationReader(["a", "b", "my tool"])
    return [f"{loss.kind}: {loss.reason}" for loss in check(written, 0, blocks, (convention, wrapper), reader)]  # type: ignore[arg-type]


@given(block_lists, conventions, wrappers)
@examples(400)
def test_losses_are_reported_exactly_where_a_result_does_not_read_back(blocks, convention, wrapper) -> None:  # type: ignore[no-untyped-def]
    text = write_observation(blocks, convention, wrapper)
    found = list(check(text, 0, blocks, (convention, wrapper), READER))
    back = READER.read(text)
    read = [(block.name or "error", block.content) for block in back.blocks] if back else []
    is_same = read == [(block.name, block.content) for block in blocks] and back is not None
    is_same = is_same and (back.convention, back.is_wrapped) == (convention, is_wrapped(convention, wrapper))
    names_fit = convention != "xml" or all(" " not in block.name for block in blocks)
    assert (not found) == (is_same and names_fit)
    assert len(found) <= len(blocks)


@given(block_lists, conventions, conventions, wrappers, contents, contents)
@examples(400)
def test_what_is_rewritten_without_loss_comes_back(blocks, first, second, wrapper, before, behind) -> None:  # type: ignore[no-untyped-def]
    text = f"{before}\n{write_observation(blocks, first, 'auto')}\n{behind}"
    found = READER.read(text)
    if found is None:
        return
    there = rewrite(text, found, second, wrapper, READER)
    assert there.text.startswith(text[: found.start])
    assert there.text.endswith(text[found.end :])
    if there.losses:
        return
    read = READER.read(there.text)
    assert read is not None
    assert [(each.name or "error", each.content) for each in read.blocks] == [(each.name or "error", each.content) for each in found.blocks]
    back = rewrite(there.text, read, found.convention, "auto" if found.is_wrapped else "none", READER)
    again = READER.read(back.text)
    if not back.losses:
        assert again is not None
        assert [each.content for each in again.blocks] == [each.content for each in found.blocks]


@given(block_lists, conventions, wrappers, contents, contents)
@examples(400)
def test_ranges_are_exact(blocks, convention, wrapper, before, behind) -> None:  # type: ignore[no-untyped-def]
    text = f"{before}\n{write_observation(blocks, convention, wrapper)}\n{behind}"
    found = READER.read(text)
    if found is None:
        return
    assert 0 <= found.start <= found.end <= len(text)
    place = found.start
    for block in found.blocks:
        assert text[block.start : block.end] == block.content
        assert place <= block.outer_start <= block.start <= block.end <= found.end
        place = block.end
    for each in found.ignored:
        assert text[each.start : each.end].strip() == text[each.start : each.end] != ""
        assert found.start <= each.start < each.end <= found.end


CASES = [
    ("markdown", "one\n# Changes\ntwo", ["cut: would be cut short: line 2, “# Changes”, ends the result"]),
    ("markdown", "one\n# b\ntwo", ["cut: would be cut short: line 2, “# b”, reads as a new result"]),
    ("markdown", "# METAR\nwind", ["dropped: would be dropped: “# METAR” reads as a header, and nothing is left before it"]),
    ("markdown", "```\n# comment\n```", ["cut: would be cut short: line 2, “# comment”, ends the result"]),
    ("markdown", "  x\n", ["trimmed: has 3 blank bytes around it, which would be trimmed"]),
    ("markdown", "", ["dropped: is empty and would be dropped"]),
    ("markdown", "<a> </a> [b]\n[b]\n## x", []),
    ("xml", "one\n</a> two", ["cut: would be cut short: line 2, “</a> two”, ends the result"]),
    ("xml", "one <a>two</a>", []),
    ("xml", "# x\n[a]\n<b>\n", ["trimmed: has 1 blank byte around it, which would be trimmed"]),
    ("xml", " ", ["dropped: is empty and would be dropped"]),
    ("brackets", "one\n[b]\ntwo", ["cut: would be cut short: line 2, “[b]”, reads as a new result"]),
    ("brackets", "one\n[INFO] x\n[b](url)\n# b\n</b>", []),
    ("brackets", "  x\n", []),
    ("brackets", "", []),
    ("raw", "x", ["name: loses the name of its tool"]),
]  # fmt: skip


@pytest.mark.parametrize(("convention", "text", "expected"), CASES)
def test_each_kind_of_loss_has_its_sentence(convention: str, text: str, expected: list[str]) -> None:
    assert losses(text, convention) == expected


def test_a_name_that_xml_cannot_carry() -> None:
    assert losses("x", "xml", name="my tool") == ["dropped: cannot be a tag: “my tool” is not the name of one"]
    assert losses("x", "markdown", name="my tool") == []


def test_a_name_that_differs_in_case_only_reads_as_the_other_tool() -> None:
    blocks = [Block("a", "x")]
    for convention, wanted in (("xml", ["would be read as a result of A"]), ("brackets", [])):
        text = write_observation(blocks, convention)
        assert [loss.reason for loss in check(text, 0, blocks, (convention, "auto"), READER)] == wanted


def test_text_behind_the_results_is_not_taken_in_silently() -> None:
    text = "<a>\n1\n</a>\nPlease go on."
    found = ObservationReader(["a"]).read(text)
    assert found is not None
    assert text[found.end :] == "\nPlease go on."
    there = rewrite(text, found, "markdown", "auto", ObservationReader(["a"]))
    assert [loss.kind for loss in there.losses] == ["joined"]
    wrapped = rewrite(text, found, "brackets", "auto", ObservationReader(["a"]))
    assert wrapped.losses == ()
    assert wrapped.text == "<observation>\n[a]\n1\n</observation>\nPlease go on."


def test_text_among_the_results_that_belongs_to_none_is_a_loss() -> None:
    text = "# a\n1\n# Notes\nkeep me\n# b\n2"
    found = ObservationReader(["a", "b"]).read(text)
    assert found is not None
    there = rewrite(text, found, "xml", "auto", ObservationReader(["a", "b"]))
    assert [loss.kind for loss in there.losses] == ["ignored"]
    assert "# Notes" in there.losses[0].reason
