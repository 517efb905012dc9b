"""Cache readings of whole chains between requests, because a live preview needs them at every keystroke.

The last few readings stay in the memory of the process. A purge increases the edition of a history, and the next request drops the
readings of earlier editions.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from chainviz.store.content.chain import StoredChain

MOST = 10
"""The number of cached readings, enough for two pages."""
T = TypeVar("T")
_kept: OrderedDict[tuple[Hashable, ...], Any] = OrderedDict()


def cached(chain: StoredChain, name: Hashable, work: Callable[[], T]) -> T:
    """Return the result of `work` for this content; `name` identifies the work and its options."""
    history, edition = chain.snapshot.history_id, chain.snapshot.history.edition
    for key in [key for key in _kept if key[0] == history and key[1] != edition]:
        _kept.pop(key, None)
    # the database may reuse a number after a rollback, so the digest is part of the key
    key = (history, edition, chain.snapshot.pk, bytes(chain.snapshot.digest), name)
    if key in _kept:
        _kept.move_to_end(key)
    else:
        _kept[key] = work()
    found: T = _kept[key]
    while len(_kept) > MOST:
        _kept.popitem(last=False)
    return found
