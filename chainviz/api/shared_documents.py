"""Work on the chains of a file where some share a document, as the branches and sub-agents of a session do.

Chains of one document are changed in turn: the second one is read from the file that holds the changes of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from chainviz.api.chain import Chain, chains_of, document_of, is_only_rewritten
from chainviz.core.errors import Refused

Made = TypeVar("Made")
Work = Callable[[Chain], tuple[Chain, Made]]
"""A function that takes a chain, and returns the new chain and a further result."""


def in_turn(chains: Sequence[Chain], work: Work[Made]) -> tuple[list[Made], list[Chain]]:
    """Do the work on each chain. Return the result of each, and the chains from which `document_of` writes the file with all changes.
    Raises Refused if a changed file no longer contains the other chains of its document."""
    made: dict[int, Made] = {}
    waiting = dict(enumerate(chains))
    after: list[Chain] = []
    while waiting:
        pass_, later = _Pass(), {}
        for number, chain in waiting.items():
            changed, came = work(chain)
            if pass_.takes(changed):
                made[number] = came
            else:
                later[number] = chain
        after = pass_.chains
        waiting = _read_again(after, later) if later else {}
    return [made[number] for number in range(len(chains))], after


class _Pass:
    """The chains whose changes are written into a file together."""

    def __init__(self) -> None:
        self.chains: list[Chain] = []
        self._changed: list[Chain] = []
        self._end = 0

    def takes(self, chain: Chain) -> bool:
        """Return False for a changed chain whose document was changed through another chain before."""
        if chain.is_changed and not chain.is_moved:
            if not self._has_room_for(chain):
                return False
            self._changed.append(chain)
            self._end = max(self._end, chain.loaded.envelope.region.end)
        self.chains.append(chain)
        return True

    def _has_room_for(self, chain: Chain) -> bool:
        region = chain.loaded.envelope.region
        if region.start >= self._end:
            return True
        others = [each.loaded.envelope.region for each in self._changed]
        beside = [other for other in others if other.start < region.end and region.start < other.end]
        return not beside or (is_only_rewritten(chain) and all(other == region for other in beside))


def _read_again(changed: Sequence[Chain], later: dict[int, Chain]) -> dict[int, Chain]:
    """Read the waiting chains again from the changed file."""
    file = changed[0].file.with_content(b"".join(document_of(changed)))
    found = {chain.loaded.pointer: chain for chain in chains_of(file)}
    for chain in later.values():
        if chain.loaded.pointer not in found:
            raise Refused(f"{chain.title} shares its document with a changed chain; change one of them: --chain N.")
    return {number: found[chain.loaded.pointer] for number, chain in later.items()}
