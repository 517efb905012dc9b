"""The branches of a session whose entries form a tree, as those of pi and Qwen Code do: the agent sends the path from the
root to the last entry, and a person who goes back to an earlier entry begins another path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chainviz.core.dialects.frameworks.session_threads import HEAD, Thread, lines_of
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.links import Links
from chainviz.core.documents.source import Source


@dataclass(frozen=True, slots=True)
class _Entry:
    start: int
    number: int
    id: str
    parent: str
    is_sent: bool
    """Whether it tells the model something."""


def branches_of(source: Source, sent: Container[str], links: Links) -> list[Thread]:
    """The path to the last entry first, then the others in the order in which they were begun; [] where there is only one.

    `sent`: the types of entries that tell the model something.
    """
    if f'"{links.parent}"'.encode() not in source.read(0, HEAD) or not _may_branch(source, links):
        return []
    entries = list(_read(source, sent, links))
    by_id = {entry.id: entry for entry in entries}
    paths = [_path(end, by_id) for end in _ends(entries)]
    seen = set[str]()
    found: list[Thread] = []
    for path in paths:
        left = next((entry for entry in path if entry.id not in seen), None)
        if left is not None:
            seen.update(entry.id for entry in path)
            key, title = (("branch", left.id), f"branch left at line {left.number}") if found else (("", ""), "")
            found.append(Thread(key, title, frozenset(entry.start for entry in path)))
    return found if len(found) > 1 else []


def _may_branch(source: Source, links: Links) -> bool:
    """A look at the bytes: whether two entries follow the same one."""
    parent = re.compile(rb'"%s"\s*:\s*("[^"]*"|null)' % links.parent.encode())
    parents: set[bytes] = set()
    for _, line in lines_of(source):
        found = parent.search(line)
        if found and found[1] in parents:
            return True
        parents.update(found.groups() if found else ())
    return False


def _read(source: Source, sent: Container[str], links: Links) -> Iterator[_Entry]:
    for number, (start, line) in enumerate(lines_of(source), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and links.parent in value and (id := string_of(value, links.own)):
            is_sent = string_of(value, "type") in sent
            yield _Entry(start + len(line) - len(line.lstrip()), number, id, string_of(value, links.parent), is_sent)


def _ends(entries: Sequence[_Entry]) -> list[_Entry]:
    """The last entry of the file, then every other one that is sent and that nothing sent follows."""
    followed = set[str]()
    ends: list[_Entry] = []
    for entry in reversed(entries):
        if entry.is_sent and entry.id not in followed:
            ends.append(entry)
        if entry.is_sent or entry.id in followed:
            followed.add(entry.parent)
    return [*entries[-1:], *reversed(ends)]


def _path(end: _Entry, by_id: Mapping[str, _Entry]) -> list[_Entry]:
    """From the root to an entry."""
    found = {end.id: end}
    while (parent := by_id.get(end.parent)) and parent.id not in found:
        end = found[parent.id] = parent
    return [*reversed(found.values())]
