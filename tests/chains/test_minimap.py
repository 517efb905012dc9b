"""The minimap: few blocks that differ, whose sums are the chain's, drawn from rows or from sums of the outline."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from chainviz.chains.explorer import overview as module
from chainviz.chains.explorer.overview import MOST_BLOCKS, minimap_blocks
from chainviz.chains.models import Chain
from tests.chains.making import STORY, ai, human, long_story, make_chain, newest, result

pytestmark = pytest.mark.django_db


def svg(chain: Chain) -> str:
    html = Client().get(f"/c/{chain.pk}/").content.decode()
    return html[html.index('<svg class="minimap"') : html.index("data-frame")]


def test_a_block_says_its_section_kind_size_and_problems() -> None:
    drawn = svg(make_chain(STORY))
    labels = re.findall(r'<a [^>]*aria-label="([^"]+)"', drawn)
    assert labels[0].startswith("Section 1: system message, ")
    assert labels[1].startswith("Section 1: request, ")
    assert labels[2].startswith("Section 1: 3 messages from 2, ")
    assert [label for label in labels if label.endswith(", 1 problem")] == [labels[5]]
    assert drawn.count("M27") == 1
    assert {"system", "human", "tool", "ai"} <= set(re.findall(r'data-role="(\w+)"', drawn))


def test_a_larger_block_is_higher_and_wider() -> None:
    sizes = [10, 40_000, 2_000]
    turns = [[ai(None, (f"c{n}", "f", {})), result(f"c{n}", "x" * size)] for n, size in enumerate(sizes)]
    drawn = svg(make_chain([human("a"), *(message for turn in turns for message in turn)]))
    boxes = re.findall(r"M2 ([\d.]+)h([\d.]+)v([\d.]+)H2", drawn)
    boxes = [(width, height) for _, width, height in sorted(boxes, key=lambda box: float(box[0]))][1:]
    small, large, middle = [tuple(map(float, box)) for box in boxes]
    assert all(a <= b <= c for a, b, c in zip(small, middle, large, strict=True))
    assert all(a < c for a, c in zip(small, large, strict=True))


@pytest.mark.parametrize("shape", [(1, 700), (30, 30), (70, 6), (300, 2)])
def test_there_are_few_blocks_in_order_and_nothing_is_left_out(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    chain = newest(make_chain(long_story(*shape)))
    for most_rows in (module.MOST_ROWS, 0):  # from rows, then from sums
        monkeypatch.setattr(module, "MOST_ROWS", most_rows)
        blocks = minimap_blocks(chain)
        assert len(blocks) <= MOST_BLOCKS
        starts = [block.start for block in blocks]
        assert starts == [sum(block.messages for block in blocks[:n]) for n in range(len(blocks))]
        assert sum(block.messages for block in blocks) == len(chain)
        assert sum(block.size for block in blocks) == chain.snapshot.size
        if shape[0] <= module.MOST_SECTIONS:
            assert [block.section for block in blocks if block.is_header] == list(range(1, shape[0] + 1))


def test_sums_count_the_problems_that_rows_have(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = long_story(20, 20)
    messages[300:300] = [ai(None, ("lost", "f", {}))]
    chain = newest(make_chain(messages))
    by_rows = {block.section: block.problems for block in minimap_blocks(chain) if block.problems}
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    by_sums = {block.section: block.problems for block in minimap_blocks(chain) if block.problems}
    assert by_rows == by_sums != {}


def test_a_chain_of_very_many_sections_is_read_without_them(monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: object) -> None:
    chain = newest(make_chain(long_story(300, 2)))
    monkeypatch.setattr(module, "MOST_ROWS", 0)
    assert chain.outline.listing.section_count == 300
    with django_assert_num_queries(0):  # type: ignore[operator]
        minimap_blocks(chain)
