"""The checksum of a run: of the places of its messages, and of their bodies. Other columns of a message row are derived."""

from __future__ import annotations

from hashlib import blake2b

from chainviz.store.checksums import LENGTH
from chainviz.store.models import Body, Message, RunChecksum

READ = 500
"""The number of rows that are read in one query."""


class RunHash:
    """The checksum of a run whose messages are added in order."""

    def __init__(self) -> None:
        self._sources, self._bodies = blake2b(digest_size=LENGTH), blake2b(digest_size=LENGTH)

    def add_source(self, position: int, source: bytes) -> None:
        self._sources.update(b"%d:%d:" % (position, len(source)) + source)

    def add_body(self, position: int, content: bytes) -> None:
        """Add a body in its stored form."""
        self._bodies.update(b"%d:%d:" % (position, len(content)) + content)

    def digest(self) -> bytes:
        return self._sources.digest() + self._bodies.digest()


def stored_hash(run: int) -> bytes:
    """Return the digest of a run as its rows are now."""
    found = RunHash()
    sources = Message.objects.filter(run=run).order_by("position").values_list("position", "source")
    for position, source in sources.iterator(chunk_size=READ):
        found.add_source(position, bytes(source))
    bodies = Body.objects.filter(run=run).order_by("position").values_list("position", "content")
    for position, content in bodies.iterator(chunk_size=READ):
        found.add_body(position, bytes(content))
    return found.digest()


def renew_run_checksum(run: int) -> None:
    """Compute the checksum again after a purge, which changes bodies."""
    RunChecksum.objects.filter(run=run).update(digest=stored_hash(run))
