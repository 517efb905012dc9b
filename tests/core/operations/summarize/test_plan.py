"""The plan: what it says, what it reads, how quick it is, and what becomes of a piece that is declined or cancelled."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis import given

from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import CallRef, Message, text_of
from chainviz.core.chain.tree import ChainAST, parse
from chainviz.core.generate import generate_messages
from chainviz.core.operations.contract import Context
from chainviz.core.operations.summarize import SUMMARIZE, Manual, SummarizeOptions, Unchanged, fold
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.options import LAST_PAIR, ONE_SUMMARY, SMALL_ENOUGH, TOO_SMALL
from chainviz.core.operations.summarize.plan import PREFIX
from tests.core.operations.summarize.fake import NOW, OLD, TALK, Fake, size, text_in, work
from tests.core.operations.summarize.strategies import many, options
from tests.core.pictures import ai, h
from tests.cpu import within_cpu_seconds
from tests.examples import examples


def test_planning_ten_thousand_messages_is_quick() -> None:
    messages = tuple(generate_messages(10_000, random.Random(1)))
    for preset in ("default", "assistant"):
        chosen = SummarizeOptions(preset=preset)  # type: ignore[arg-type]
        assert within_cpu_seconds(0.2, lambda: plan(MemoryChain(messages), chosen)).pieces  # noqa: B023 - usually 0.02


def test_a_declined_piece_stays_and_the_rest_goes_on() -> None:
    chain = MemoryChain((*OLD, *TALK, *NOW))
    planned = plan(chain, SummarizeOptions())
    first, second = planned.pieces
    outcome = fold(planned, {first.key: Unchanged("Declined."), second.key: "talk"})
    assert outcome.changes == (Splice(5, 2, (ai(PREFIX + "talk"),)),)
    assert "Declined." in outcome.warnings[0]


def test_what_was_finished_stays_when_a_run_is_cancelled() -> None:
    writer = Fake()
    context = Context(writer=writer, cancelled=lambda: bool(writer.asked))
    chain = (*OLD, *TALK, *NOW)
    outcome = SUMMARIZE.run(MemoryChain(chain), SummarizeOptions(), context)
    assert len(writer.asked) == 1 and len(outcome.changes) == 1
    assert "cancelled" in outcome.warnings[0]


def test_the_size_after_counts_summarized_questions_once() -> None:
    chain = tuple(m for i in range(4) for m in (h("please " * 20), *work(str(i))))
    options = SummarizeOptions(use_qa=True, max_qa_sections=2, summ_human_in_qa=True)
    texts = {piece.key: "short" for piece in plan(MemoryChain(chain), options).pieces}
    planned = plan(MemoryChain(chain), options, texts)
    assert planned.size_after == size(apply_splices(chain, fold(planned, texts).changes))


def test_a_text_that_is_not_fit_leaves_its_nodes_whole_and_a_failure_gives_way_to_smaller_pieces() -> None:
    chain = MemoryChain((h(), *work("a", 3_000), *work("b", 400), *work("c")))
    options = SummarizeOptions(max_bp_bytes=1_000, last_sec_bytes=1_500)
    (rotation,) = plan(chain, options).pieces
    too_long = plan(chain, options, {rotation.key: "x" * 5_000})
    assert [(piece.rule, bool(piece.left)) for piece in too_long.pieces] == [("rotation", True)]
    failed = plan(chain, options, {rotation.key: Unchanged("No answer.")})
    assert [(piece.rule, bool(piece.left)) for piece in failed.pieces] == [("rotation", True), ("pair", False)]


class LazyChain(MemoryChain):
    """Counts which bodies are read; everything else sees shapes only."""

    read: set[int] = set()

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        self.read.update(range(start, stop))
        return self.messages[start:stop]


def test_a_plan_reads_no_body_and_a_run_only_those_of_folded_pieces() -> None:
    chain = LazyChain((*OLD, *NOW))
    chain.read.clear()
    planned = plan(chain, SummarizeOptions())
    assert not chain.read
    fold(planned, {piece.key: "short" for piece in planned.pieces})
    assert not chain.read
    planned.request(planned.pieces[0])
    assert chain.read == {0, 1, 2, 3}


@dataclass(frozen=True)
class Shadow:
    """A message as a store knows it before its body is read."""

    role: str
    size: int
    calls: tuple[CallRef, ...]
    results: tuple[CallRef, ...]
    preview: str


class ShadowChain(MemoryChain):
    @cached_property
    def tree(self) -> ChainAST[Any]:
        return parse([Shadow(m.role, m.size, m.calls, m.results, " ".join(text_of(m).split())) for m in self.messages])


@given(many, options)
@examples(100)
def test_shapes_are_enough_to_plan(messages: list[Message], given: dict[str, Any]) -> None:
    marked = [*messages, h(), ai(PREFIX + "long " * 300), *NOW]
    seen = [plan(kind(tuple(marked)), SummarizeOptions(**given)) for kind in (MemoryChain, ShadowChain)]
    assert [seen[0].pieces, seen[0].kept] == [seen[1].pieces, seen[1].kept]


def test_a_plan_says_what_stays_and_why() -> None:
    chain = MemoryChain((h(), ai(PREFIX + "old"), h(), ai("x"), h(), *work("a", 3_000), *work("b"), *work("c")))
    planned = plan(chain, SummarizeOptions(max_bp_bytes=1_000))
    assert [(piece.key, piece.measure > piece.limit) for piece in planned.pieces] == [("pair:s3.p1", True)]
    assert [(str(kept.first), kept.why, kept.protected) for kept in planned.kept] == [
        ("s1", ONE_SUMMARY, False), ("s2", TOO_SMALL, False), ("s3.p2", SMALL_ENOUGH, False),
        ("s3.p3", LAST_PAIR, True),
    ]  # fmt: skip


def test_a_person_can_be_the_writer() -> None:
    chain = (*OLD, *TALK, *NOW)
    outcome = SUMMARIZE.run(MemoryChain(chain), SummarizeOptions(), Context(writer=Manual({"section:s1.p1-s1.p2": "mine"})))
    assert [row.action for row in outcome.report] == ["summarize", "left"]
    assert text_in(outcome.changes[0].messages[1]) == "mine"
