"""Counts what the rules find in the bytes of an uploaded file: beside its chains it may hold other chains and run metadata.

A file is read as text, with JSON's escapes undone, a stretch at a time; no value is kept, only how many there are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from chainviz.accounts.models import User
from chainviz.core.secrets import get_rule, scan_text
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import Upload
from chainviz.store.transfer import exports

FILE = "scan-file"
STRETCH = 1 << 20
LONGEST = 1 << 12
"""Characters that wait for the next stretch: a secret up to this long is found whole."""
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})')
_PLAIN = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True, slots=True)
class FileFindings:
    by_rule: dict[str, int]
    values: int

    @property
    def total(self) -> int:
        return sum(self.by_rule.values())


def findings_in(pieces: Iterable[bytes]) -> FileFindings:
    counts: Counter[str] = Counter()
    values: set[int] = set()
    text = ""
    for more, is_last in _stretches(pieces):
        # arguments are JSON inside of JSON
        text += _unescaped(_unescaped(more))
        settled = len(text) if is_last else max(0, len(text) - LONGEST)
        for found in scan_text(text):
            if found.start < settled:
                counts[found.rule.name] += 1
                values.add(hash(found.value))
                settled = max(settled, found.end)
        text = text[settled:]
    return FileFindings(dict(counts), len(values))


def _stretches(pieces: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Text, and whether it is the last."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= STRETCH:
            yield waiting.decode("utf-8", "replace"), False
            waiting.clear()
    yield waiting.decode("utf-8", "replace"), True


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _PLAIN.get(found[1]) or (found[1] if len(found[1]) == 1 else _letter(found[1])), text)


def _letter(escape: str) -> str:
    return chr(int(escape[1:], 16))


def scan_file(context: JobContext, upload: int, edition: int) -> list[Any]:
    """`edition`: after a purge there is something else to be found."""
    whole = Upload.objects.get(pk=upload)
    found = findings_in(_reported(context, exports.original(whole), whole.size))
    return [found.by_rule, found.values]


def _reported(context: JobContext, pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    done = 0
    for piece in pieces:
        yield piece
        done += len(piece)
        context.report(done / max(1, size), f"{done:,} bytes of the file read")


def start_file_scan(args: dict[str, int], owner: User) -> Job:
    return start_job(FILE, owner=owner, **args)


def file_findings_of(job: Job) -> FileFindings:
    by_rule, values = job.result
    return FileFindings({name: count for name, count in by_rule.items() if get_rule(name)}, values)
