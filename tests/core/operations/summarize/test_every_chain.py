"""What summarizing promises for every chain."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

from hypothesis import given

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import parse
from chainviz.core.operations.summarize import SummarizeOptions, SummaryRequest, Unchanged, fold
from chainviz.core.operations.summarize.folding import plan
from chainviz.core.operations.summarize.plan import is_summary
from tests.core.operations.summarize.fake import Fake, run, size
from tests.core.operations.summarize.strategies import many, options, texts, writers
from tests.examples import examples


@given(many, options, writers)
@examples(400)
def test_it_never_grows_loses_no_header_and_has_nothing_to_do_a_second_time(
    messages: list[Message], given: dict[str, Any], text: str | Callable[[SummaryRequest], str]
) -> None:
    before = copy.deepcopy(messages)
    after, outcome = run(messages, Fake(text), **given)
    assert messages == before
    assert size(after) <= size(messages)
    again, second = run(after, Fake(text), **given)
    assert again == after and not second.changes
    said = [m for m in messages if m.role == "system"]
    assert [m for m in after if m.role == "system"] == said
    if not given["summ_human_in_qa"]:
        parts = [part for m in messages if m.role == "human" for part in m.parts]
        assert [part for m in after if m.role == "human" for part in m.parts] == parts
    old, new = parse(messages).sections, parse(after).sections
    assert (old[-1].body[-1:] == new[-1].body[-1:]) if old else not new
    rows = [row for row in outcome.report if row.becomes]
    where = MemoryChain(after)
    for row in rows:
        assert row.bytes_after <= row.bytes_before
        span = where.span(parse_path(row.becomes))
        if row.becomes.startswith("s1.h"):
            assert after[span.start].role == "human"
        else:
            pair = parse(after[span.start : span.stop]).sections[0].body[0]
            assert is_summary(pair) and pair.is_valid


@given(many, options, texts)
@examples(100)
def test_the_plan_says_before_what_happens_then(messages: list[Message], given: dict[str, Any], text: str) -> None:
    chain = MemoryChain(tuple(messages))
    chosen = SummarizeOptions(**given)
    planned = plan(chain, chosen)
    texts: dict[str, str | Unchanged] = {}
    while waiting := planned.waiting(texts):
        texts.update({piece.key: text for piece in waiting})
        planned = plan(chain, chosen, texts)
    after = apply_splices(messages, fold(planned, texts, random.Random(3)).changes)
    assert size(after) == planned.size_after
    covered = [kept.first.section for kept in planned.kept] + [piece.first.section for piece in planned.pieces]
    assert not messages or 1 in covered
    assert len({piece.key for piece in planned.pieces}) == len(planned.pieces)
