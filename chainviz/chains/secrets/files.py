"""Count the findings in the bytes of an uploaded file, which may contain other chains and run metadata beside its
chains.

A file is read as text, with JSON's escapes undone, a range at a time; no value is stored, only their number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.accounts.models import User
from chainviz.chains.library import saved_filters
from chainviz.chains.models import Chain
from chainviz.core.secrets import Finding, get_rule, scan_text
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import Upload, Version
from chainviz.store.transfer import exports

FILE = "scan-file"
STRETCH = 1 << 20
LONGEST = 1 << 12
"""The longest secret that is found as a whole, in characters; so many are kept for the next block."""
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
    for found in each_finding(pieces):
        counts[found.rule.name] += 1
        values.add(hash(found.value))
    return FileFindings(dict(counts), len(values))


def each_finding(pieces: Iterable[bytes]) -> Iterator[Finding]:
    """Yield what the rules find in the bytes of a file, in order."""
    text = ""
    for more, is_last in _stretches(pieces):
        # arguments are JSON inside of JSON
        text += _unescaped(_unescaped(more))
        settled = len(text) if is_last else max(0, len(text) - LONGEST)
        for found in scan_text(text):
            if found.start < settled:
                yield found
                settled = max(settled, found.end)
        text = text[settled:]


def _stretches(pieces: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield pieces of text, each with whether it is the last."""
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
    """Scan a file. `edition` distinguishes jobs before and after a purge."""
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


# Secrets beside the content of a chain: in its names and notes, and in what people wrote about it. Masking does not
# reach them; a purge does.


def names_of(chain: Chain) -> Iterator[str]:
    yield from names_by_people(chain)
    yield from Version.objects.filter(history=chain.history).exclude(note="").values_list("note", flat=True)


def names_by_people(chain: Chain) -> set[str]:
    """Return the names that the exports to read get from people; a title that comes from the content is masked with it."""
    title = {chain.title} if chain.titled_by == Chain.TitledBy.PERSON else set()
    return {*title, chain.file_name}


def written_about(chain: Chain) -> Iterable[str]:
    texts_of: Callable[[Chain], Iterable[str]] = import_string(settings.WRITTEN_TEXTS)
    return texts_of(chain)


def team_texts(team: int) -> Iterator[str]:
    """Yield the texts that a team keeps for all its chains, such as word lists and saved filters."""
    texts_of: Callable[[int], Iterable[str]] = import_string(settings.TEAM_TEXTS)
    yield from texts_of(team)
    yield from saved_filters.texts_of(team)


def findings_in_texts(texts: Iterable[str]) -> FileFindings:
    found = [finding for text in texts for finding in scan_text(text)]
    return FileFindings(dict(Counter(each.rule.name for each in found)), len({each.value for each in found}))
