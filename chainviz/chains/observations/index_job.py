"""Find the results of a content, at once or by a job, and write the results of one AI message as one text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.http import Http404, QueryDict

from chainviz.accounts.models import User
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.text_marks import Stretch, stretch
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair
from chainviz.core.observations.index import GroupRow, MediumRow, NumberTable, ObservationIndex, ResultRow, Suspect, index_observations
from chainviz.core.observations.reader import Recognition, called_tools
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.toolchain import Result, ResultOptions, format_results, stored_outputs, tool_schemas
from chainviz.core.toolchain.results import serialised
from chainviz.core.usage.document_usage import members_beside
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot
from chainviz.store.outline.rows import Row
from chainviz.store.transfer.document_context import context_of

MOST_MESSAGES, MOST_BYTES = 1_000, 10_000_000
"""The most messages and bytes of a pair whose results are written while the person waits."""
MOST_ROWS = 100
TEASER = 160
WRAPPERS = {"auto": "Automatic", "none": "None", "section": "Always"}


@dataclass(frozen=True, slots=True)
class TextOptions:
    format: str = "xml"
    syntax: str = "json"
    wrapper: str = "auto"
    empty_when_all_failed: bool = False
    go_compatible: bool = False

    @property
    def result_options(self) -> ResultOptions:
        return ResultOptions(
            syntax="yaml" if self.syntax == "yaml" else "json",
            wrapper="none" if self.wrapper == "none" else "section" if self.wrapper == "section" else "auto",
            empty_when_all_failed=self.empty_when_all_failed,
            go_compatible=self.go_compatible,
        )


@dataclass(frozen=True, slots=True)
class RawRow:
    number: int
    tool: str
    content: str
    is_error: bool


@dataclass(frozen=True)
class TextPage:
    number: str
    path: str
    options: TextOptions
    formats: tuple[tuple[str, str], ...]
    wrappers: Mapping[str, str]
    result: Result
    shown: Stretch
    rows: tuple[RawRow, ...]
    rows_left: int

    @property
    def size(self) -> int:
        return byte_size(self.result.text)

    @property
    def errors(self) -> int:
        return sum(error is not None for error in self.result.raw.errors)


def text_options_in(query: QueryDict) -> TextOptions:
    format, wrapper = query.get("format", ""), query.get("wrapper", "")
    return TextOptions(
        format=format if any(each.name == format for each in TEXT_FORMATS) else "xml",
        syntax="yaml" if query.get("syntax") == "yaml" else "json",
        wrapper=wrapper if wrapper in WRAPPERS else "auto",
        empty_when_all_failed="empty" in query,
        go_compatible="go" in query,
    )


def is_too_large(subject: Subject, path: Path) -> bool:
    row = _pair_row(subject, path)
    return row.messages > MOST_MESSAGES or row.size > MOST_BYTES


def text_page(subject: Subject, path: Path, options: TextOptions) -> TextPage:
    """Raises Http404 if the node is not an AI message with calls."""
    messages = subject.stored.at(path.node)
    pair = BodyPair(messages[0], tuple(messages[1:])) if messages[0].role == AI else BodyPair(None, tuple(messages))
    if pair.ai is None or not pair.ai.calls:
        raise Http404("No tool is called here.")
    schemas = tool_schemas(members_beside(context_of(subject.snapshot)))
    result = format_results(*stored_outputs(pair, schemas), get_text_format(options.format), options.result_options)
    rows = tuple(_rows(result, options.result_options))
    return TextPage(
        number=path.number,
        path=str(path.node),
        options=options,
        formats=tuple((each.name, each.label) for each in TEXT_FORMATS),
        wrappers=WRAPPERS,
        result=result,
        shown=stretch(result.text),
        rows=rows,
        rows_left=len(result.raw.calls) - len(rows),
    )


def _pair_row(subject: Subject, path: Path) -> Row:
    """Raises Http404 if the path is not a pair."""
    if not path.pair:
        raise Http404("Only a pair has calls.")
    place = subject.stored.outline.section(path.section)
    return subject.stored.outline.row(place.row_of(path.node)).row


def _rows(result: Result, options: ResultOptions) -> list[RawRow]:
    raw = result.raw
    found = []
    for number, (call, output, error) in islice(enumerate(zip(raw.calls, raw.results, raw.errors, strict=True), 1), MOST_ROWS):
        content = error if error is not None else serialised(output.output, options) if output else ""
        found.append(RawRow(number, marks(one_line(call.name, 60)), marks(one_line(content, TEASER)), error is not None))
    return found


READING = "read-observations"
EDITION = 1
"""Increase this if the recognition or the form of the index changes, so that older indexes are not used any more."""
MESSAGES_AT_ONCE, BYTES_AT_ONCE = 1_000, 2_000_000
"""The most messages and bytes that are read while the person waits, which takes about 0.2 seconds of CPU time."""


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.stored > BYTES_AT_ONCE


def read_index(chain: Chain, names: Sequence[str], progress: Progress = ignore_progress) -> ObservationIndex:
    """Read the index. `names` are tools that the chain does not call but has results of."""
    progress(0, "Reading calls")
    tools = called_tools(chain).union(names)
    return index_observations(chain, Recognition(tools), progress)


def read_by_job(context: JobContext, **args: Any) -> dict[str, Any]:
    """Read the results by a job with the arguments of `_args`."""
    snapshot = Snapshot.objects.get(pk=args["snapshot"])
    return _packed(read_index(StoredChain(snapshot), args["names"], context.report))


def reading_job(subject: Subject, names: Sequence[str], user: User) -> Job:
    """Return the person's last reading of this content, or begin one. It stores only facts of the chain."""
    jobs = Job.objects.visible_to(user).filter(function=READING, args=_args(subject, names))
    return jobs.order_by("-pk").first() or start_reading(subject, names, user)


def start_reading(subject: Subject, names: Sequence[str], user: User) -> Job:
    return start_job(READING, owner=user, **_args(subject, names))


def _args(subject: Subject, names: Sequence[str]) -> dict[str, Any]:
    snapshot = subject.snapshot
    return {
        "chain": subject.chain.pk,
        "snapshot": snapshot.pk,
        # a purge changes the edition of the history: what was read before is not used any more
        "history": snapshot.history.edition,
        "edition": EDITION,
        "names": sorted(names),
    }


def _packed(index: ObservationIndex) -> dict[str, Any]:
    return {
        "tools": index.tools,
        "conventions": index.conventions,
        "suspects": index.suspects,
        "results": b64encode(index.results.pack()).decode("ascii"),
        "groups": b64encode(index.groups.pack()).decode("ascii"),
        "media": b64encode(index.media.pack()).decode("ascii"),
    }


def index_of(job: Job) -> ObservationIndex:
    """Return the results that a finished job found."""
    found = job.result
    return ObservationIndex(
        found["tools"],
        found["conventions"],
        [Suspect(message, tuple(names)) for message, names in found["suspects"]],
        NumberTable.unpack(ResultRow, b64decode(found["results"])),
        NumberTable.unpack(GroupRow, b64decode(found["groups"])),
        NumberTable.unpack(MediumRow, b64decode(found["media"])),
    )
