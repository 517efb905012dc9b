"""The records of a session file, one on each line, and their damage, because of which an agent would not resume the session."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any

from chainviz.core.chain.arguments import escape_control_characters
from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.json.edit import load_object, quote
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.written_lists import Links
from chainviz.core.formats import get_format

_START = re.compile(r'\{\s*"(?:type"\s*:\s*"[^"\\]*"|[^"\\]+"\s*:)')
"""The beginning of a record: its first key, and its type if that comes first."""
_BETWEEN = "\0 \t\r\n"
"""Characters that may separate two records on a line. A crash leaves zero bytes."""
FEWEST_MEMBERS = 3
"""The number of members that tells a record from an object inside another."""
MOST_JOINED = 50
"""The most lines that are joined into one record."""
_DECODE = json.JSONDecoder().raw_decode


Record = tuple[int, bytes]
"""The number of the record's line in the file, and its text with the line end."""


@dataclass(frozen=True, slots=True)
class Records:
    records: tuple[Record, ...]
    damage: tuple[str, ...]
    """A sentence for each fault in the file."""
    values: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    """Records that were decoded before, by the number of their line."""

    def changed(self, records: Sequence[Record], damage: Sequence[str]) -> Records:
        return Records(tuple(records), tuple(damage), self.values)

    @property
    def content(self) -> bytes:
        return b"".join(line for _, line in self.records)


def whole_records(content: bytes, read: Mapping[int, Fragment] = MappingProxyType({})) -> Records:
    """Return the records of a file. A file that is not JSON Lines, or mostly not, is returned unchanged. `read` contains valid records
    by their offsets; these are not decoded again."""
    lines = list(enumerate(content.splitlines(keepends=True), 1))
    values = _values_of(lines, read)
    faulty = {number for number, line in lines if number not in values and line.strip() and not _is_json(line)}
    if not faulty or len(faulty) * 2 > len(lines):
        return Records(tuple(lines), (), values)
    whole = [line for number, line in lines if number not in faulty]
    starts = {begun[0] for line in whole if (begun := _START.match(_text(line).lstrip()))}
    forms = {form for line in whole if len(form := frozenset(value_of(line))) >= FEWEST_MEMBERS}
    records, damage = list[Record](), list[str]()
    rest = deque(lines)
    while rest:
        number, line = rest.popleft()
        if number not in faulty:
            records.append((number, line))
            continue
        escaped, last = _escaped(line, [each for each in islice(rest, MOST_JOINED) if each[0] in faulty])
        if escaped:
            records.append((number, escaped))
            damage.append(_describe_escapes(number, last))
            for _ in range((last or number) - number):
                rest.popleft()
            continue
        found, is_cut = _records_in(_text(line), starts, forms)
        records += [(number, record.encode() + b"\n") for record in found]
        damage.append(f"Line {number:,} {_describe_records(len(found), is_cut=is_cut)}.")
    return Records(tuple(records), tuple(damage))


def _values_of(lines: Iterable[Record], read: Mapping[int, Fragment]) -> dict[int, dict[str, Any]]:
    """Return the values of the lines that consist of a record that was read."""
    found: dict[int, dict[str, Any]] = {}
    offset = 0
    for number, line in lines if read else ():
        record = read.get(offset)
        if record is not None and byte_length(record.text) == len(line.rstrip(b"\r\n")):
            found[number] = record.value
        offset += len(line)
    return found


def _escaped(line: bytes, behind: Sequence[Record]) -> tuple[bytes, int | None]:
    """Return the record of a line with its control characters escaped, and the number of its last line if line breaks split it; b"" if
    the line has no record."""
    last = None
    for number, more in [(None, b""), *behind]:
        line, last = line + more, number
        body = line.rstrip(b"\r\n")
        escaped = escape_control_characters(_text(body)).encode("utf-8", "surrogateescape")
        if _is_json(escaped):
            return escaped + line[len(body) :], last
    return b"", None


def _describe_escapes(number: int, last: int | None) -> str:
    if last is None:
        return f"Line {number:,} had a raw control character, which is now escaped."
    return f"Lines {number:,} to {last:,} are one record with raw line breaks, which are now escaped."


def _describe_records(records: int, *, is_cut: bool) -> str:
    if not records:
        return "is not valid JSON and is removed"
    if is_cut:
        return f"has a record that was cut off; {records} whole {'record is' if records == 1 else 'records are'} kept"
    return "has one record and remains of a crash" if records == 1 else f"has {records} records and is split"


def _records_in(line: str, starts: set[str], forms: set[frozenset[str]]) -> tuple[list[str], bool]:
    """Return the complete records of a line, and whether the line contains anything else."""
    found: list[str] = []
    place, is_cut = 0, False
    while place < len(line):
        if line[place] in _BETWEEN:
            place += 1
        elif (end := _end_of_record(line, place)) is not None:
            found.append(line[place:end])
            place = end
        else:
            is_cut = True
            place = _next_start(line, place + 1, starts, forms)
    return found, is_cut


def _next_start(line: str, place: int, starts: set[str], forms: set[frozenset[str]]) -> int:
    """Return where the next record begins: like another one of the file, or with all members of another one."""
    while (place := line.find("{", place)) >= 0:
        found = _START.match(line, place)
        if found and (found[0] in starts or _form_of(line, place) in forms):
            return place
        place += 1
    return len(line)


def _form_of(line: str, start: int) -> frozenset[str]:
    """Return the members of the object that begins here; none if it is not whole."""
    end = _end_of_record(line, start)
    return frozenset() if end is None else frozenset(json.loads(line[start:end]))


def _end_of_record(line: str, start: int) -> int | None:
    """Return the end of the record that begins here; None if it is truncated or inside another record."""
    try:
        value, end = _DECODE(line, start)
        line[start:end].encode()
    except (ValueError, RecursionError):
        return None
    is_whole = end == len(line) or line[end] in (*_BETWEEN, "{")
    return end if isinstance(value, dict) and is_whole else None


def relinked(whole: Records, links: Links) -> Records:
    """Return the records, with the previous record as the parent of each record whose parent is missing. Otherwise the agent would read
    nothing before it."""
    records, damage = list(whole.records), list(whole.damage)
    for place, before, latest in _without_parent([whole.values.get(number) or value_of(line) for number, line in records], links):
        number, line = records[place]
        records[place] = number, _with(line, links.parent, quote(latest))
        damage.append(f"Line {number:,} followed a record that is not in the file; it now follows line {records[before][0]:,}.")
    return whole.changed(records, damage)


def _without_parent(values: Sequence[dict[str, Any]], links: Links) -> Iterator[tuple[int, int, str]]:
    """Yield the index of each record with an unknown parent, and the index and id of the record before it. Side chains are not changed."""
    ids = {value[links.own] for value in values if isinstance(value.get(links.own), str)}
    before, latest = 0, ""
    for place, value in enumerate(values):
        own, parent = value.get(links.own), value.get(links.parent)
        if not isinstance(own, str) or links.parent not in value or value.get(links.aside) is True:
            continue
        if isinstance(parent, str) and parent not in ids and latest:
            yield place, before, latest
        before, latest = place, own


def without_repeats(whole: Records, member: str) -> Records:
    """Return the records without repeated ones, which an agent would send twice. `member` has a unique value in each record."""
    first: dict[bytes, int] = {}
    records, damage = list[Record](), list(whole.damage)
    for number, line in whole.records:
        earlier = first.setdefault(line.strip(), number)
        if earlier != number and member in value_of(line):
            damage.append(f"Line {number:,} is line {earlier:,} once more and is removed.")
        else:
            records.append((number, line))
    return whole.changed(records, damage)


_SEPARATORS = {separator.encode(): f"\\u{ord(separator):04x}".encode() for separator in "\u2028\u2029"}


def with_escaped_separators(whole: Records) -> Records:
    """Return the records with Unicode's line and paragraph separators escaped, at which some agents split lines."""
    records, damage = list[Record](), list(whole.damage)
    for number, line in whole.records:
        escaped = line
        for separator, escape in _SEPARATORS.items():
            escaped = escaped.replace(separator, escape)
        if escaped != line:
            damage.append(f"Line {number:,} had a line separator (U+2028 or U+2029), at which its agent splits lines; it is now escaped.")
        records.append((number, escaped))
    return whole.changed(records, damage)


def without_lines(whole: Records, starts: Container[int], why: str) -> Records:
    """Return the records without those that begin at these offsets."""
    records, damage, offset = list[Record](), list(whole.damage), 0
    for number, line in whole.records:
        if offset + len(line) - len(line.lstrip()) in starts:
            damage.append(f"Line {number:,} {why}.")
        else:
            records.append((number, line))
        offset += len(line)
    return whole.changed(records, damage)


def renumbered(content: bytes, member: str) -> tuple[bytes, int]:
    """Return the records with consecutive numbers, starting at the first that has a number, and the line of the first record whose number
    changed; 0 if none changed."""
    lines = content.splitlines(keepends=True)
    number, first = None, 0
    for place, line in enumerate(lines):
        value = value_of(line)
        if number is None:
            number = value[member] if type(value.get(member)) is int else None
        elif value:
            number += 1
            if value.get(member) != number:
                lines[place] = _with(line, member, str(number))
                first = first or place + 1
    return b"".join(lines), first


def with_kept(old: bytes, new: bytes, links: Links) -> bytes:
    """Return the records with updated references of compactions. A compaction names the first record of the kept part; if a fix
    replaced that record, it must name the replacement."""
    if not links.kept:
        return new
    lines = new.splitlines(keepends=True)
    ids = [value_of(line).get(links.own) for line in lines]
    before = [value_of(line).get(links.own) for line in old.splitlines()]
    for place, line in enumerate(lines):
        kept = value_of(line).get(links.kept)
        if isinstance(kept, str) and kept in before and kept not in ids:
            lines[place] = _with(line, links.kept, quote(_in_place_of(kept, before, ids)))
    return b"".join(lines)


def _in_place_of(gone: str, before: Sequence[Any], after: Sequence[Any]) -> str:
    """Return the first new record directly before the next unchanged record, or that unchanged record if there is no new one."""
    stands = next((id for id in before[before.index(gone) :] if id is not None and id in after), None)
    if stands is None:
        return gone
    place = after.index(stands)
    while place and after[place - 1] not in before:
        place -= 1
    return str(after[place])


def _with(line: bytes, member: str, value: str) -> bytes:
    """Return the record with a member replaced. `value` is JSON text."""
    text = line.decode()
    body = text.rstrip("\r\n")
    record = load_object(body)
    record.set(member, value)
    return (str(record) + text[len(body) :]).encode()


def value_of(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; {} if the line is not one."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


NUMBERED = {"codex_rollout": "ordinal"}
"""The member with the number of a record, by format. Codex, since 0.146, resumes a session only if no number is missing."""
UNIQUE = {"codex_rollout": "ordinal", "copilot_cli": "id", "kimi_code": "event"}
"""A member with a unique value for each record, by format. Equal records with an equal value were written twice."""
SPLITS_AT_SEPARATORS = frozenset(("copilot_cli",))
"""Formats of agents that take U+2028 for the end of a line (github.com/github/copilot-cli/issues/2012)."""
SENT_TWICE = "repeats results that the record of their calls holds, so that the agent would send them twice, and is removed"


def damage_of(content: bytes, format: str, chains: Sequence[Sequence[Message]], *, is_valid: bool = False) -> tuple[str, ...]:
    """Return a sentence for each fault in the records of a session in JSON Lines. `chains` are those that the content holds, the main
    one first. With `is_valid`, the records of its messages were read without a warning."""
    read = {each.start: each for message in chains[0] for each in message.source if type(each.value) is dict} if is_valid else {}
    whole = whole_records(content, read)
    meant = as_meant(whole, format, chains if not whole.damage else ())
    return (*meant.damage, *(numbered(meant.content, format)[1] if format in NUMBERED else ()))


def as_meant(records: Records, format: str, chains: Collection[Sequence[Message]]) -> Records:
    """Return the records with each record once, and with parents that are in the file. `chains` are those that the records hold."""
    links = get_format(format).links
    starts = {each.start for messages in chains for each in get_format(format).sent_twice(messages)}
    records = without_lines(records, starts, SENT_TWICE) if starts else records
    records = with_escaped_separators(records) if format in SPLITS_AT_SEPARATORS else records
    member = links.own if links else UNIQUE.get(format, "")
    records = without_repeats(records, member) if member else records
    return relinked(records, links) if links else records


def numbered(content: bytes, format: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a session with its records numbered for its agent, and a sentence if the numbers were wrong."""
    if format not in NUMBERED or f'"{NUMBERED[format]}"'.encode() not in content:
        return content, ()
    new, line = renumbered(content, NUMBERED[format])
    damage = (f"The number of the record in line {line:,} does not follow the one before it; from there on the records are renumbered.",)
    return new, damage if line else ()
