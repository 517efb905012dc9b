"""The stored results of one AI message written as one text, as an agent would pass them to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from django.http import Http404, QueryDict

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.text_marks import Stretch, stretch
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import AI, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair
from chainviz.core.text_formats import TEXT_FORMATS, get_text_format
from chainviz.core.toolchain import Result, ResultOptions, format_results, stored_outputs, tool_schemas
from chainviz.core.toolchain.results import serialised
from chainviz.core.usage.document_usage import members_beside
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
