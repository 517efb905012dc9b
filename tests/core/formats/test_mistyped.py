"""A file whose members are of other types than its format says is read, judged, changed and written without an error (issue 8)."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.core.errors import ChainError
from chainviz.core.formats.vendors import PROVIDERS
from tests.core.formats.chains import sample_files
from tests.examples import IS_LONG

FILES = [path for path in (*sample_files(), *sample_files(writes=False)) if path.stat().st_size < 60_000]
VALUES = [None, True, 0, 1.5, "", "x", "\ud800", [], {}, [[]], [None], {"type": "text"}, {"type": "image"}, {"role": "tool"}, 10**30]
COPIES = 12 if IS_LONG else 3
"""The number of copies of each file; each has other members replaced."""


@pytest.mark.parametrize("file", FILES, ids=[f"{path.parent.name}/{path.name}" for path in FILES])
def test_no_mistyped_member_is_an_error(file: Path) -> None:
    chance = random.Random(file.name)
    for _ in range(COPIES):
        document = mistyped(file, chance)
        chains = []
        with suppress(ChainError):  # one clear sentence
            chains = chainviz.load(document)
        if len(chains) == 1:
            assert chains[0].to_bytes() == document
        for chain in chains[:2]:
            assert str(chain)
            for provider in PROVIDERS:
                chain.problems(provider.name)
            for operation in ("repair", "mask", "redact", "summarize"):
                with suppress(ChainError):
                    chain.apply(operation).chain.to_bytes()


def mistyped(file: Path, chance: random.Random) -> bytes:
    """The file with a few members of each document replaced or left out."""
    text = file.read_text("utf-8-sig")
    try:
        return json.dumps(_mistyped(json.loads(text), chance)).encode()
    except ValueError:
        return "\n".join(_line(line, chance) for line in text.splitlines()).encode()


def _line(line: str, chance: random.Random) -> str:
    try:
        return json.dumps(_mistyped(json.loads(line), chance))
    except ValueError:
        return line


def _mistyped(value: Any, chance: random.Random) -> Any:
    places = list(_places(value))
    for holder, key in chance.sample(places, min(len(places), chance.randint(1, 4))):
        with suppress(KeyError, IndexError):  # left out before
            if chance.random() < 0.8:
                holder[key] = chance.choice(VALUES)
            else:
                del holder[key]
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each member with what holds it."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])
