"""An edited outline is the outline built anew; both are the parsed chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.pieces import Piece, PlacedMessage, PlacedSplice
from chainviz.store.content.runs import RunWriter
from chainviz.store.models import History, Run, Snapshot
from chainviz.store.outline import blocks
from chainviz.store.outline.build import OutlineBuilder
from chainviz.store.outline.cache import BlockReader, BlockWriter, visible_problems
from chainviz.store.outline.measures import Charts, add_counts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import OPENING, unpack_problem
from chainviz.store.outline.rules.late_results import late_results
from chainviz.store.outline.rules.section_rules import SectionRules
from chainviz.store.outline.update import OutlineEditor
from tests.core.provider_problems import provider_problems
from tests.examples import examples
from tests.store.stub import STUB

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stub_format")]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: Any) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)


IDS = st.sampled_from(["a", "b", "c"])
MESSAGES = st.one_of(
    st.builds(lambda t: {"role": "system", "text": t}, IDS),
    st.builds(lambda t: {"role": "human", "text": t}, IDS),
    st.builds(lambda t: {"role": "ai", "text": t}, IDS),
    st.builds(lambda ids: {"role": "ai", "calls": [[i, "tool"] for i in ids]}, st.lists(IDS, max_size=3)),
    st.builds(lambda i, t: {"role": "tool", "results": [[i, t]]}, IDS, IDS),
    st.builds(lambda t: {"role": "exit", "text": t}, IDS),
)


def messages(values: list[dict[str, Any]]) -> list[Message]:
    from tests.store.stub import parts

    made = []
    for value in values:
        bare = Message(value["role"], parts(value))
        made.append(STUB.message(bare.role, STUB.write(bare, None)))  # type: ignore[arg-type]
    return made


class Store:
    """A history with runs, without snapshots."""

    def __init__(self) -> None:
        self.history = History.objects.create()

    def placed(self, new: list[Message]) -> list[PlacedMessage]:
        writer = RunWriter(Run.objects.create(history=self.history, kind=Run.EDIT, format="stub"))
        found = [writer.add(message) for message in new]
        writer.finish()
        return found

    def build(self, placed: list[PlacedMessage]) -> tuple[OutlineReader, Charts]:
        keeper = BlockWriter(self.history.pk)
        builder = OutlineBuilder(keeper, late=late_results(one.message for one in placed))
        for one in placed:
            builder.add(one)
        listing = builder.finish()
        keeper.flush()
        return OutlineReader(listing, BlockReader(self.history.pk)), builder.charts

    def edit(self, old: OutlineReader, charts: Charts, changes: list[PlacedSplice]) -> OutlineReader:
        keeper = BlockWriter(self.history.pk)
        chain = StoredChain(Snapshot(history=self.history))
        chain.outline = old
        listing = OutlineEditor(chain, keeper, charts).edit(changes)
        keeper.flush()
        return OutlineReader(listing, BlockReader(self.history.pk))


def told(outline: OutlineReader) -> list[Any]:
    """All that an outline says, whatever its blocks."""
    listing = outline.listing
    rows = outline.rows(range(listing.total.rows))
    return [
        listing.total,
        listing.hash,
        [(p.number, p.before, p.section) for p in outline.sections(1, listing.section_count + 1)],
        [(p.row, p.start, list(p.pieces(99))) for p in rows.values()],
    ]


def problems(outline: OutlineReader) -> Iterator[Any]:
    for number, place in outline.rows(range(outline.listing.total.rows)).items():
        path = outline.section_of_row(number).path_of(number)
        for packed in place.row.problems:
            if packed[5] != OPENING or outline.listing.section_count > 1:
                yield unpack_problem(packed, place.row.kind, path, place.start)
        yield from SectionRules(outline, "").of_row(outline.section_of_row(number), number, place)


def in_order(problem: Any) -> tuple[str, int, str, str]:
    return problem.provider, problem.message, problem.rule, str(problem.path)


@st.composite
def edits(draw: Any, length: int) -> list[tuple[int, int, list[dict[str, Any]]]]:
    found = []
    place = 0
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(place, length))
        removed = draw(st.integers(0, min(6, length - start)))
        found.append((start, removed, draw(st.lists(MESSAGES, max_size=6))))
        place = start + removed
        if place >= length:
            break
    return found


@examples(60, suppress_health_check=list(HealthCheck))
@given(st.data(), st.lists(MESSAGES, max_size=60))
def test_edited_outline_is_the_one_built_anew(data: Any, values: list[dict[str, Any]]) -> None:
    store = Store()
    placed = store.placed(messages(values))
    outline, charts = store.build(placed)
    for _ in range(3):
        changes = []
        after: list[PlacedMessage] = []
        place = 0
        for start, removed, new in data.draw(edits(len(placed))):
            fresh = store.placed(messages(new))
            changes.append(PlacedSplice(start, removed, tuple(fresh)))
            after += placed[place:start] + fresh
            place = start + removed
        placed = after + placed[place:]
        outline = store.edit(outline, charts, changes)
        anew, fresh_charts = store.build(placed)
        assert told(outline) == told(anew)
        assert charts.roles == fresh_charts.roles and charts.tools == fresh_charts.tools
        assert all(entry.count <= 16 for entry in outline.listing.rows)


@examples(60, suppress_health_check=list(HealthCheck))
@given(st.lists(MESSAGES, max_size=60))
def test_built_outline_is_the_parsed_chain(values: list[dict[str, Any]]) -> None:
    store = Store()
    made = messages(values)
    outline, _ = store.build(store.placed(made))
    tree = parse(made)
    total = outline.listing.total
    assert (outline.listing.section_count, total.size, total.messages) == (len(tree.sections), tree.size, len(made))
    for place, section in zip(outline.sections(1, 99), tree.sections, strict=True):
        measure = place.measure
        assert (measure.headers, measure.pairs) == (len(section.header), len(section.body))
        assert (measure.size, measure.header_size, measure.messages) == (section.size, section.header_size, len(section))
        assert measure.invalid == sum(not pair.is_valid for pair in section.body)
        for p, pair in enumerate(section.body):
            row = outline.row(place.before.rows + measure.headers + p).row
            assert (row.kind.pair_type, row.valid, row.size) == (pair.type, pair.is_valid, pair.size)
    found = list(problems(outline))
    expected = sorted([*tree_problems(tree), *provider_problems(tree)], key=in_order)
    counts = add_counts(visible_problems(total, len(tree.sections)), SectionRules(outline, "").total())
    assert sum(map(sum, counts.values())) == len(found)
    assert sorted(found, key=in_order) == expected
    assert sorted((p for p in found if not p.provider), key=in_order) == sorted(tree_problems(tree), key=in_order)
    for index in range(len(made)):
        assert outline.span(outline.path_at(index)) == range(index, index + 1)


def test_pieces_of_a_stretch() -> None:
    store = Store()
    placed = store.placed(messages([{"role": "human", "text": "x"}] * 30))
    outline, _ = store.build(placed)
    assert outline.pieces(3, 27) == [Piece(placed[0].piece.run, 3, 24)]
