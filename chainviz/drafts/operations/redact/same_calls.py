"""Which calls of a content are made again: found by reading all calls, so what was found last is kept between requests.

A live preview asks again with every key. Only numbers are kept, nothing that a purge would have to reach.
"""

from __future__ import annotations

from chainviz.core.chain.chain import Chain
from chainviz.core.operations.redact.same_calls import SameCalls, find_same_calls
from chainviz.store.content.chain import StoredChain

_found_last: dict[tuple[int, bytes], SameCalls] = {}


def same_calls_of(chain: Chain) -> SameCalls:
    assert isinstance(chain, StoredChain)
    # a number is used again after a rollback, so the digest is part of the key
    key = (chain.snapshot.pk, bytes(chain.snapshot.digest))
    found = _found_last.get(key)
    if found is None:
        found = find_same_calls(chain)
        _found_last.clear()
        _found_last[key] = found
    return found
