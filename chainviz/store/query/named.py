"""The messages of a chain that have an id: of a call, a result or an item of the API."""

from __future__ import annotations

from itertools import islice

from chainviz.store.content.chain import StoredChain
from chainviz.store.content.spans import stored_bytes
from chainviz.store.query.find import candidates
from chainviz.store.query.search_pattern import Needle

LOOKED_AT = 50
"""Messages that may hold the id."""
LONGEST = 1_000_000
"""The source of a message of more bytes is not read for the id of an item."""


def messages_with_id(chain: StoredChain, id: str, most: int) -> list[int]:
    """Their indexes, at most so many, in the order of the chain."""
    near = list(islice(candidates(chain, Needle(id, case_sensitive=True), -1), LOOKED_AT))
    rows = chain.rows_at(near)
    found = [index for index, row in zip(near, rows, strict=True) if id in {ref.id for ref in (*row.shape.calls, *row.shape.results)}]
    others = [(index, row) for index, row in zip(near, rows, strict=True) if index not in found and stored_bytes(row.source) <= LONGEST]
    sources = chain.bodies.sources([row for _, row in others])
    found += [
        index for (index, _), source in zip(others, sources, strict=True) if any(f'"{id}"' in fragment.text for fragment in source)
    ]
    return sorted(found)[:most]
