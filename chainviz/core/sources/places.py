"""Describe places by patterns with words for the folders of a home, and by variables that name another folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chainviz.core.sources.machine import Home, Machine

_WORD = re.compile(r"\{(\w+)\}/?")


@dataclass(frozen=True, slots=True)
class Place:
    usual: str
    """A pattern that begins with the name of a folder, `{data}/opencode/opencode.db`; "" if only the variable names a
    folder."""
    variable: str = ""
    """An environment variable whose folder replaces the usual one …"""
    below: str = ""
    """… and the pattern below that folder. Several folders are separated by commas."""


def paths_of(places: Iterable[Place], machine: Machine) -> list[Path]:
    """Return the paths that are there, each once."""
    found = [path for home in machine.homes for place in places for path in _paths(place, home)]
    return list(dict.fromkeys(found))


def _paths(place: Place, home: Home) -> Iterator[Path]:
    value = home.environment.get(place.variable, "") if place.variable else ""
    if value:
        for folder in filter(None, map(str.strip, value.split(","))):
            yield from matching(Path(folder).expanduser(), place.below)
        return
    word = _WORD.match(place.usual)
    if word:
        yield from matching(home.folder(word[1]), place.usual[word.end() :])


def matching(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the paths below a folder that match a pattern, in order. A folder that cannot be read counts as empty."""
    try:
        if not pattern or not any(mark in pattern for mark in "*?["):
            path = folder / pattern
            yield from [path] if path.exists() else []
            return
        yield from sorted(folder.glob(pattern))
    except (OSError, ValueError):
        return
