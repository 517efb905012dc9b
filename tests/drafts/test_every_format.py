"""State, compaction, simulation and observations of every format: the pages give the same answers as the Python API (issue 9)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import chainviz
from chainviz.chains.models import Chain
from chainviz.chains.observations.index_job import read_index
from chainviz.core.errors import Refused
from chainviz.core.formats import get_format
from chainviz.core.operations.compact import CompactOptions
from chainviz.core.operations.contract import Context
from chainviz.core.state.document import write_state
from chainviz.core.state.export import call_after, provider_of
from chainviz.drafts.operations.compact.run import run_strategy
from chainviz.drafts.simulation.run import A, Chosen, run_simulation
from chainviz.drafts.state.state_page import document_of, recorded_length
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from chainviz.store.query.state import StatePart
from tests import ROOT
from tests.chains.making import make_chain_of

pytestmark = pytest.mark.django_db

SAMPLES = ROOT / "tests" / "samples"
FILES = [sorted(folder.glob("ok_*"))[0] for folder in sorted(SAMPLES.iterdir()) if folder.is_dir()]
LIMIT = {"type": "message_limit", "max_messages": 2}


@pytest.fixture(params=FILES, ids=lambda file: file.parent.name)
def both(request: pytest.FixtureRequest) -> tuple[chainviz.Chain, StoredChain]:
    """The first chain of a sample, loaded and stored."""
    file: Path = request.param
    chain: Chain = make_chain_of(file.read_bytes(), file.name)
    version = Version.objects.get(history=chain.history, number=chain.version)
    return chainviz.load(file)[0], StoredChain(version.snapshot)


def test_the_pages_and_python_agree(both: tuple[chainviz.Chain, StoredChain]) -> None:
    loaded, stored = both
    assert stored.format == loaded.format
    part = StatePart.of(stored)
    recorded = recorded_length(part)
    call = call_after(part, part.count_to_last_answer if recorded is None else recorded)
    same = loaded.next_call(leading=())
    assert (len(call.stored), call.stored.size, call.seen) == (len(same.stored), same.stored.size, same.seen)
    assert call.warnings == same.warnings

    provider = provider_of(stored.format)
    if provider:
        assert b"".join(document_of(part, provider, None)) == write_state(loaded.state())
    else:
        with pytest.raises(Refused, match="Convert the chain first"):
            loaded.state()

    ran = run_strategy(stored, CompactOptions(strategy=json.dumps(LIMIT)), Context())
    if get_format(stored.format).writes:
        compacted = loaded.apply("compact", strategy=LIMIT).chain
        assert ran.leading + ran.after.messages == len(compacted)
        assert ran.leading_size + ran.after.size == compacted.size

    chosen = Chosen(a=json.dumps(LIMIT))
    simulated = run_simulation(stored, chosen, Context())
    lines = loaded.simulate({"Strategy A": LIMIT}).lines
    assert [line.sizes for line in simulated.lines] == [line.sizes for line in lines]
    assert [removed for line in simulated.lines if line.key == A for removed in line.removed] == [each.removed for each in lines[1].firings]

    observed = loaded.observed()
    index = read_index(stored, ())
    found = [result for each in observed for result in each.results]
    assert [index.tools[row.tool] for row in index.results] == [result.tool for result in found]
    assert [row.size for row in index.results] == [result.size for result in found]
    assert [row.call_message for row in index.results] == [result.call.message if result.call else -1 for result in found]
