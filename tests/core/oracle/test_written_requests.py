"""What chainviz writes for a provider is a request by the types that the provider publishes, whatever format it comes from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from chainviz import Chain, load
from chainviz.core.errors import DocumentError
from chainviz.core.formats import get_format
from chainviz.core.formats.vendors import PROVIDERS
from tests.core.formats.chains import sample_chains
from tests.core.oracle.vendors import VENDORS, Vendor
from tests.examples import share
from tests.shared_folder import shared

CHAINS_OF_A_FILE = 4
LONGEST = 100_000


def faults_of(vendor: Vendor, chain: Chain) -> list[str]:
    """Return the faults of the request that a chain of another format becomes, if the rules accept it nevertheless."""
    if chain.format == vendor.format:
        return []
    written = chain.convert(vendor.format).chain
    value = json.loads(written.to_bytes())
    list_key = get_format(vendor.format).list_key or "messages"
    faults = vendor.faults(value if isinstance(value, dict) else {list_key: value})
    rejects = [written.verdict(each.name).text != "accepted" for each in PROVIDERS if vendor.format in each.clients]
    return [] if all(rejects) else faults


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.format)
def test_every_sample_becomes_a_request_by_the_vendors_types(vendor: Vendor) -> None:
    judged = 0
    for path, _, chain in share(sample_chains(), VENDORS.index(vendor)):
        assert faults_of(vendor, chain) == [], path
        judged += 1
    assert judged > 33


def transcripts() -> Iterator[Path]:
    """One of the shorter files of each kind and folder."""
    seen: set[tuple[Path, str]] = set()
    for path in sorted(shared("transcripts").rglob("*.json*")):
        kind = (path.parent, path.name.partition("__")[0])
        if path.stat().st_size <= LONGEST and kind not in seen:
            seen.add(kind)
            yield path


@pytest.mark.slow
@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.format)
def test_real_transcripts_become_requests_by_the_vendors_types(vendor: Vendor) -> None:
    judged = 0
    for path in share(list(transcripts()), VENDORS.index(vendor)):
        try:
            chains = load(path)[:CHAINS_OF_A_FILE]
        except DocumentError:
            continue
        for chain in chains:
            assert faults_of(vendor, chain) == [], path
            judged += 1
    assert judged >= 10
