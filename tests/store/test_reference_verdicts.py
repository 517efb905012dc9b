"""The reference's chains have the same problems in an outline as `chainviz check` finds: of the tree and of every provider."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chainviz.core.chain.messages import Message
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.store.content.pieces import Piece, PlacedMessage
from chainviz.store.outline.blocks import PackedBlock, unpack_rows, unpack_sections
from chainviz.store.outline.build import OutlineBuilder
from chainviz.store.outline.cache import BlockReader
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rules.late_results import late_results
from tests.core.cases import FILES, read_messages
from tests.core.provider_problems import provider_problems
from tests.shared_folder import CASES
from tests.store.test_outline import in_order, problems


def outline_of(messages: Sequence[Message]) -> OutlineReader:
    """Without a database."""
    written: list[PackedBlock] = []
    builder = OutlineBuilder(written.append, late=late_results(messages))
    for index, message in enumerate(messages):
        builder.add(PlacedMessage(message, Piece(1, index, 1), bytes(32)))
    listing = builder.finish()
    blocks = {block.entry.digest: block.rows for block in written}
    rows = {entry.digest: unpack_rows(blocks[entry.digest]) for entry in listing.rows}
    sections = {entry.digest: unpack_sections(blocks[entry.digest]) for entry in listing.sections}
    return OutlineReader(listing, BlockReader(0, rows, sections))


def test_outlines_of_the_reference_chains() -> None:
    chains = set()
    for name in FILES:
        requests = [json.loads(line)["request"] for line in (CASES / name).read_text("utf-8").splitlines()]
        chains |= {read_messages(request) for request in requests if "messages" in request}
    assert len(chains) > 100
    for messages in chains:
        tree = parse(messages)
        expected = sorted([*tree_problems(tree), *provider_problems(tree)], key=in_order)
        assert sorted(problems(outline_of(messages)), key=in_order) == expected
