"""The threads of sessions: the main branch, branches that a person left by going back, and sub-agents.

Lines of Claude Code form a tree by `parentUuid`. A person rewinds where two prompts follow the same line, or follow none in a
session that links its answers: the session goes on behind one of them. Tool results that follow one line each are no branches,
nor is a compaction, which begins a new root. Sub-agents' lines have `isSidechain` and, in newer versions, an `agentId`; in
streams they have `parent_tool_use_id`.

The entries of pi and Qwen Code form a tree too (`branches_of`): the agent sends the path from the root to the last entry, and a
person who goes back to an earlier entry begins another path.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chainviz.core.dialects.values import string_of
from chainviz.core.documents.detection.recognition import take_sample
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.documents.written_lists import Links

_ASIDE = re.compile(rb'"isSidechain"\s*:\s*true|"parent_tool_use_id"\s*:\s*"')
_PARENT = re.compile(rb'"parentUuid"\s*:\s*("[^"]+"|null)')
_COMPACTION = re.compile(rb'"compact_boundary"|"isCompactSummary"\s*:\s*true')
_PROMPT = re.compile(rb'"type"\s*:\s*"user"')
HEAD = 1 << 20
"""The number of bytes that are searched to recognise a session, since many lines may precede the first message."""


@dataclass(frozen=True, slots=True)
class Thread:
    key: tuple[str, str]
    """Its kind, `branch` or `sidechain`, and its id; ("", "") for the main branch."""
    title: str
    starts: frozenset[int]
    """The offsets of its lines in bytes."""


@dataclass(slots=True)
class _Line:
    start: int
    number: int
    id: str
    parent: str
    aside: str
    """The sub-agent that it belongs to; "" for the session itself."""
    is_turn: bool
    is_prompt: bool
    is_compaction: bool
    session: str
    """The id of the session of a prompt or an answer whose parent is null; "" for any other line."""
    children: list[_Line] = field(default_factory=list)


def threads_of(source: Source) -> list[Thread]:
    """Return the main branch, then branches and sub-agents in the order of the file; [] if there is only one thread."""
    if b'"parentUuid"' not in source.read(0, HEAD) and b'"parent_tool_use_id"' not in source.read(0, HEAD):
        return []
    if not _may_have_threads(source):
        return []
    lines = [line for line in _read_lines(source) if line is not None]
    main = [line for line in lines if not line.aside]
    sides: dict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        if line.aside:
            sides[line.aside].append(line)
    found = [*_branches(main), *_sub_agents(sides)]
    return found if len(found) > 1 else []


def _may_have_threads(source: Source) -> bool:
    """Check the bytes, without decoding them, since most sessions have only one thread."""
    prompts: set[bytes] = set()
    for _, line in lines_of(source):
        if _ASIDE.search(line):
            return True
        if _COMPACTION.search(line):
            prompts.discard(b"null")
        elif _PROMPT.search(line) and b'"tool_result"' not in line and (parent := _PARENT.search(line)):
            if parent[1] in prompts:
                return True
            prompts.add(parent[1])
    return False


def _read_lines(source: Source) -> Iterator[_Line | None]:
    agents: dict[str, str] = {}
    for number, (start, line) in enumerate(lines_of(source), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield _line(value, start + len(line) - len(line.lstrip()), number, agents)


def _line(value: dict[str, Any], start: int, number: int, agents: dict[str, str]) -> _Line:
    id, parent, kind = string_of(value, "uuid"), string_of(value, "parentUuid"), value.get("type")
    aside = string_of(value, "parent_tool_use_id")
    if not aside and value.get("isSidechain") is True:
        # older versions name no agent: its lines follow one another from a root of their own
        aside = string_of(value, "agentId") or agents.get(parent) or id or f"line {number}"
        agents[id] = aside
    message = value.get("message")
    is_turn = kind in ("user", "assistant") and isinstance(message, dict)
    is_prompt = is_turn and kind == "user" and not value.get("isMeta") and not _holds_result(message)
    is_compaction = value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True
    is_root = (is_prompt or kind == "assistant") and "parentUuid" in value and value["parentUuid"] is None
    session = string_of(value, "sessionId") if is_root else ""
    return _Line(start, number, id, parent, aside, is_turn, is_prompt, is_compaction, session)


def _holds_result(message: Any) -> bool:
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and any(isinstance(item, dict) and item.get("type") == "tool_result" for item in content)


def _branches(lines: Sequence[_Line]) -> Iterator[Thread]:
    """Yield branches; the main one is that with the last turn."""
    by_id = {line.id: line for line in lines if line.id}
    for line in lines:
        if line.parent in by_id and by_id[line.parent] is not line:
            by_id[line.parent].children.append(line)
    forks = [prompts for line in lines if len(prompts := [each for each in line.children if each.is_prompt]) > 1]
    forks += _first_prompts(lines)
    last = next((line for line in reversed(lines) if line.is_turn), None)
    if last is None:
        return
    inside = {id(prompt): _below(prompt) for prompts in forks for prompt in prompts}
    left = [prompt for prompts in forks for prompt in prompts if prompt is not _prompt_before(prompts, last, inside)]
    yield Thread(("", ""), "", _starts(lines, last, forks, inside))
    for prompt in left:
        end = max((line for line in lines if id(line) in inside[id(prompt)]), key=lambda line: line.start)
        yield Thread(("branch", prompt.id), f"branch left at line {prompt.number}", _starts(lines, end, forks, inside))


def _first_prompts(lines: Sequence[_Line]) -> list[list[_Line]]:
    """Return the prompts that begin the same session, up to each compaction. Empty if answers have no parent, since no
    line has one then."""
    found: list[dict[str, list[_Line]]] = [{}]
    for line in lines:
        if line.is_compaction:
            found.append({})
        elif line.session and line.is_prompt:
            found[-1].setdefault(line.session, []).append(line)
        elif line.session:
            return []
    return [prompts for stretch in found for prompts in stretch.values() if len(prompts) > 1]


def _below(line: _Line) -> set[int]:
    """Return the line and all that follow it in the tree."""
    found: set[int] = set()
    waiting = [line]
    while waiting:
        each = waiting.pop()
        if id(each) not in found:
            found.add(id(each))
            waiting += each.children
    return found


def _prompt_before(prompts: Sequence[_Line], end: _Line, inside: dict[int, set[int]]) -> _Line:
    """Return the prompt behind which the branch that ends with a line continues."""
    return next((prompt for prompt in prompts if id(end) in inside[id(prompt)]), prompts[-1])


def _starts(lines: Sequence[_Line], end: _Line, forks: Sequence[Sequence[_Line]], inside: dict[int, set[int]]) -> frozenset[int]:
    gone = set[int]()
    for prompts in forks:
        taken = _prompt_before(prompts, end, inside)
        gone.update(*(inside[id(prompt)] for prompt in prompts if prompt is not taken))
    return frozenset(line.start for line in lines if id(line) not in gone)


def _sub_agents(sides: dict[str, list[_Line]]) -> Iterator[Thread]:
    for name, lines in sides.items():
        if any(line.is_turn for line in lines):
            title = f"sub-agent {name[:12]}, line {lines[0].number}"
            yield Thread(("sidechain", name), title, frozenset(line.start for line in lines))


def lists_of(source: Source, threads: Sequence[Thread], is_message: Callable[[object], bool]) -> tuple[FoundList, ...]:
    """Return a list for each thread; all of them are lines of the same document, of which they share a sample."""
    whole = FoundList((), "", Span(0, source.size), 3 if source.bom else 0, source.size, lines=True)
    if threads:
        whole = replace(whole, sample=take_sample(source, whole, is_message=is_message))
    found = []
    for thread in threads:
        pointer = tuple(step for step in thread.key if step)
        found.append(replace(whole, pointer=pointer, title=thread.title, only=thread.starts))
    return tuple(found)


def lines_of(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their line breaks, each with its offset."""
    offset = 3 if source.bom else 0
    rest = b""
    for start in range(offset, source.size, CHUNK):
        lines = (rest + source.read(start, min(start + CHUNK, source.size))).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield offset, line
            offset += len(line) + 1
    if rest:
        yield offset, rest


@dataclass(frozen=True, slots=True)
class _Entry:
    start: int
    number: int
    id: str
    parent: str
    is_sent: bool
    """True if the model reads it."""


def branches_of(source: Source, sent: Container[str], links: Links) -> list[Thread]:
    """Return the path to the last entry, then the others in the order of their beginnings; [] if there is only one.
    `sent`: the types of entries that the model reads.
    """
    if f'"{links.parent}"'.encode() not in source.read(0, HEAD) or not _may_branch(source, links):
        return []
    entries = list(_read_entries(source, sent, links))
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
    """Check the bytes for two entries that follow the same one."""
    parent = re.compile(rb'"%s"\s*:\s*("[^"]*"|null)' % links.parent.encode())
    parents: set[bytes] = set()
    for _, line in lines_of(source):
        found = parent.search(line)
        if found and found[1] in parents:
            return True
        parents.update(found.groups() if found else ())
    return False


def _read_entries(source: Source, sent: Container[str], links: Links) -> Iterator[_Entry]:
    for number, (start, line) in enumerate(lines_of(source), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and links.parent in value and (id := string_of(value, links.own)):
            is_sent = string_of(value, "type") in sent
            yield _Entry(start + len(line) - len(line.lstrip()), number, id, string_of(value, links.parent), is_sent)


def _ends(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return the last entry of the file, then every other sent entry that no sent entry follows."""
    followed = set[str]()
    ends: list[_Entry] = []
    for entry in reversed(entries):
        if entry.is_sent and entry.id not in followed:
            ends.append(entry)
        if entry.is_sent or entry.id in followed:
            followed.add(entry.parent)
    return [*entries[-1:], *reversed(ends)]


def _path(end: _Entry, by_id: Mapping[str, _Entry]) -> list[_Entry]:
    """Return the path from the root to an entry."""
    found = {end.id: end}
    while (parent := by_id.get(end.parent)) and parent.id not in found:
        end = found[parent.id] = parent
    return [*reversed(found.values())]
