"""Why a file holds no chain: each case in one sentence that says what can be done."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from chainviz.core.documents.detection.json_lines import has_lines, is_json
from chainviz.core.documents.detection.recognition import peek
from chainviz.core.documents.json.scan import ENDS_INSIDE, byte_length, fault, in_words
from chainviz.core.documents.source import Source
from chainviz.core.errors import DocumentError, FaultPlace

CHECKED = 1 << 23
"""A document without message lists is parsed up to this size to say what is wrong in it."""
_EMPTY = re.compile(rb'\s*(?:\[\s*\]|\{.*"(?:messages|contents|conversations|traj|input|history)"\s*:\s*\[\s*\].*\})\s*', re.DOTALL)


def refuse_strangers(source: Source, begin: int) -> None:
    head = source.read(begin, begin + 512)
    if not head:
        raise DocumentError("The file is empty.")
    line, column = source.place(begin)
    place, where = FaultPlace(line, column, begin), f"Line {line}, column {column}"
    if head[:1] in b"{[":
        return
    if head[:1] == b"<":
        raise DocumentError(
            f"{where}: this is HTML or XML, not JSON; export the transcript as JSON, or keep it as raw text.",
            place,
            raw=True,
        )
    if b"\0" in head:
        raise DocumentError(f"{where}: this is binary, not text; upload the transcript as JSON.", place)
    if has_lines(source, begin):
        return
    if source.size < CHECKED and is_json(source.read(begin, source.size)):
        raise DocumentError(
            f"{where}: the file is JSON, but only a single value; a list of messages is needed.",
            place,
            raw=True,
        )
    raise DocumentError(
        f"{where}: this is not JSON: it begins with “{head[:20].decode('utf-8', 'replace').split(chr(10))[0]}” where "
        "a “{” or “[” is expected; upload JSON or JSON Lines, or keep it as raw text.",
        place,
        raw=True,
    )


def refuse_broken(source: Source, begin: int) -> None:
    """Say exactly what is wrong in a document of ordinary size."""
    text = source.text(begin, begin + CHECKED)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if begin + CHECKED >= source.size or error.pos < len(text) - 64:
            what = in_words(error.msg) if text[error.pos :].strip() else ENDS_INSIDE
            fault(source, begin + byte_length(text[: error.pos]), what)
    except (ValueError, RecursionError):
        pass


def refuse_without_messages(source: Source, begin: int) -> NoReturn:
    refuse_broken(source, begin)
    if source.size < CHECKED and _EMPTY.fullmatch(source.read(begin, source.size)):
        raise DocumentError("The list of messages is empty.", raw=True)
    head = peek(source.text(begin, begin + (1 << 16)))
    keys = ", ".join(f"“{key[:30]}”" for key in list(head)[:6]) if isinstance(head, dict) else ""
    raise DocumentError(
        "The file is JSON, but contains no list of messages"
        + (f" (its keys are {keys})" if keys else "")
        + "; upload a transcript, choose its format, or keep it as raw text.",
        raw=True,
    )
