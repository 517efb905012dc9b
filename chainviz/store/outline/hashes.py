"""A hash of a sequence of messages that can be put together from the hashes of its stretches, wherever they are cut.

The digest of a snapshot must not depend on how the outline happens to be cut into blocks, since that depends on the edits
made before; a plain Merkle digest would. The hash is a polynomial over the messages' sha256 digests modulo a Mersenne
prime. It finds rot and mistakes, as fsck needs; somebody who may write to the database could forge any unkeyed digest.
"""

from __future__ import annotations

from collections.abc import Iterable

PRIME = 2**127 - 1
BASE = 0x5BD1E995_9E3779B9_7F4A7C15_2545F491
WIDTH = 16


def sequence_hash(digests: Iterable[bytes]) -> int:
    value = 0
    for digest in digests:
        value = (value * BASE + int.from_bytes(digest, "big") + 1) % PRIME
    return value


def concatenate(parts: Iterable[tuple[int, int]]) -> int:
    """Return the hash of neighbouring stretches, each given as (hash, number of messages)."""
    value = 0
    for part, count in parts:
        value = (value * pow(BASE, count, PRIME) + part) % PRIME
    return value


def to_bytes(value: int) -> bytes:
    return value.to_bytes(WIDTH, "big")


def pack_hashes(values: Iterable[int]) -> bytes:
    return b"".join(map(to_bytes, values))


def unpack_hashes(packed: bytes | memoryview) -> list[int]:
    content = bytes(packed)
    return [int.from_bytes(content[i : i + WIDTH], "big") for i in range(0, len(content), WIDTH)]
