"""The edition of the rules: a number that changes with the code that judges chains, so that stored chains are judged again."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

JUDGES = ("chainviz.core.chain", "chainviz.core.providers", "chainviz.core.usage", "chainviz.store.outline")
"""The packages that decide what an outline says, the registry of providers among them."""


def edition_of(sources: dict[str, bytes]) -> int:
    """Returns 31 bits of a digest over the named files, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(f"{name}\0{len(sources[name])}\0".encode() + sources[name])
    return int.from_bytes(digest.digest()[:4], "big") >> 1


def rule_sources() -> dict[str, bytes]:
    """The source files of the judging packages, by package and path."""
    return {f"{package}/{name}": source for package in JUDGES for name, source in _python_files(files(package))}


def _python_files(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _python_files(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found


RULES = edition_of(rule_sources())
"""The edition of the running code."""
