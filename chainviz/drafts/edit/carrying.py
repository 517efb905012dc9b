"""Finds a node of a version again in a draft of it."""

from __future__ import annotations

from chainviz.chains.diff.compare import compare
from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of


def carried(old: StoredChain, new: StoredChain, path: Path) -> Path | None:
    """The same node's path in `new`, by its first message; None where that was changed or is gone."""
    if not len(old):
        return None
    span = old.span(Path(path.section, path.pair, path.message))
    first = next(iter(old.rows(span.start, span.start + 1)))
    place = 0
    for run, start, length in pieces_of(new.snapshot):
        if run == first.run and start <= first.position < start + length:
            found = new.outline.path_at(place + first.position - start)
            if path.message is None and found.pair:
                return Path(found.section, found.pair)
            return Path(found.section, found.pair, found.message, path.part)
        place += length
    return _changed(old, new, path, span.start)


def _changed(old: StoredChain, new: StoredChain, path: Path, place: int) -> Path | None:
    """A node that was changed is the one that stands for it in the comparison."""
    group = next((each for each in compare(old, new).changes if each.old.start <= place < each.old.stop), None)
    if group is None or group.new.first is None:
        return None
    there = Path(group.new.first.section, group.new.first.pair, path.message if path.pair else group.new.first.message)
    try:
        return there if new.span(there) else None
    except PathError:
        return None
