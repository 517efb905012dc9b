"""What surrounds the messages of a snapshot's document, read from the store."""

from __future__ import annotations

from dataclasses import replace

from chainviz.core.documents import context
from chainviz.core.documents.context import Rewrite, Surroundings
from chainviz.store.models import Snapshot
from chainviz.store.transfer.exports import envelope_of, shell_reader


def rewritten(snapshot: Snapshot, rewrite: Rewrite) -> Surroundings | None:
    """None where `rewrite` changes nothing. Each piece is given alone: what spans two of them is two texts."""
    template = snapshot.template
    if template is None:
        return None
    old = envelope_of(snapshot)
    new = context.rewritten(old, shell_reader(snapshot), rewrite)
    if new is None or template.shell:
        return new
    return replace(new, envelope=replace(new.envelope, home=(old.region, old.content)))


def pieces_around(snapshot: Snapshot) -> list[str]:
    """What surrounds the messages, as it is."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    rewritten(snapshot, keep)
    return found


def size_around(snapshot: Snapshot) -> int:
    """Bytes of what surrounds the messages, without reading it."""
    envelope = envelope_of(snapshot)
    carried = sum(each.end - each.start for each in envelope.carried)
    return carried + (envelope.region.end - envelope.region.start) - (envelope.content.end - envelope.content.start)
