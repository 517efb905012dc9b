"""`chainviz parse`: a model's answer as sections, and the tool calls in one of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chainviz.api.state import parse
from chainviz.commands.io import complain, tell
from chainviz.core.errors import ChainError, DocumentError, excerpt
from chainviz.core.text_formats import TEXT_FORMATS
from chainviz.core.text_formats.contract import FoundSection
from chainviz.core.toolchain import ParsedAnswer, ParseOptions, ReadCalls

SHOWN = 70
USUAL = ParseOptions()


def add_parse_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the answer, or a file that contains it; - reads standard input")
    formats = [each.name for each in TEXT_FORMATS]
    parser.add_argument("--format", default="", choices=formats, help="default: the one that finds more sections")
    usual = ",".join(section.name for section in USUAL.sections)
    parser.add_argument("--sections", default=usual, metavar="A,B", help=f"the sections to find (default {usual}); empty: all")
    parser.add_argument("--strict", action="store_true", help="refuse a section that contains another section's tag")
    parser.add_argument("--calls-in", default=USUAL.calls_in, metavar="SECTION", help=f"the section with calls (default {USUAL.calls_in})")
    parser.add_argument("--syntax", choices=["json", "yaml"], default="json", help="how calls are written (default json)")
    parser.add_argument("--json", action="store_true", help="print one object")


def run_parse(arguments: argparse.Namespace) -> int:
    names = [name.strip() for name in arguments.sections.split(",") if name.strip()]
    text = _text(arguments.text)
    options = {name: getattr(arguments, name) for name in ("format", "strict", "calls_in", "syntax")}
    answer = parse(text, names, **options)
    error = _error(answer, text)
    tell([json.dumps(_object(answer, text, error))] if arguments.json else _lines(answer, text))
    if error:
        complain(error)
    return 1 if error or any(calls.error for _, calls in answer.actions) else 0


def _text(given: str) -> str:
    try:
        if given == "-":
            return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        path = Path(given)
        return path.read_bytes().decode("utf-8", "surrogateescape") if len(given) < 4096 and path.is_file() else given
    except OSError as failed:
        raise DocumentError(f"{given} cannot be read: {failed.strerror or failed}.") from None


def _error(answer: ParsedAnswer, text: str) -> str:
    """Return the reason why a program that parses the answer gets no sections; "" if it gets them."""
    try:
        answer.format.parse(text)
    except ChainError as refused:
        return str(refused)
    return ""


def _lines(answer: ParsedAnswer, text: str) -> Iterator[str]:
    sections = answer.text.sections
    yield f"{answer.format.label}, {len(sections):,} section{'' if len(sections) == 1 else 's'}"
    calls = {section.start: read for section, read in answer.actions}
    for section in sections:
        place = f"characters {section.start:,} to {section.end:,}"
        yield f"  {section.name}, {place}: {excerpt(section.content, SHOWN)}"
        yield from _call_lines(calls[section.start]) if section.start in calls else ()
    for ignored in answer.text.ignored:
        place = f"characters {ignored.start:,} to {ignored.end:,}"
        yield f"  ignored, {place}: {excerpt(text[ignored.start : ignored.end], SHOWN)}"
    if answer.missing:
        yield f"  missing: {', '.join(answer.missing)}"


def _call_lines(read: ReadCalls) -> Iterator[str]:
    for entry in read.entries:
        if entry.call is not None:
            yield f"    call {entry.call.name}: {excerpt(entry.call.text, SHOWN)}"
        else:
            yield f"    not a call: {entry.error}"
    if read.error:
        yield f"    no call runs: {read.error}"


def _object(answer: ParsedAnswer, text: str, error: str) -> dict[str, Any]:
    return {
        "format": answer.format.name,
        "sections": [_section(section) for section in answer.text.sections],
        "ignored": [{"start": each.start, "end": each.end} for each in answer.text.ignored],
        "missing": list(answer.missing),
        "actions": [{"section": section.start, **_calls(read)} for section, read in answer.actions],
        "error": error or None,
    }


def _section(section: FoundSection) -> dict[str, Any]:
    return {"name": section.name, "start": section.start, "end": section.end, "content": section.content}


def _calls(read: ReadCalls) -> dict[str, Any]:
    entries = [
        {"name": each.name, "arguments": each.call.text if each.call else None, "error": str(each.error) if each.error else None}
        for each in read.entries
    ]
    return {"calls": entries, "error": str(read.error) if read.error else None}
