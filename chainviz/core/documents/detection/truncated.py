"""A document that is cut off or broken: how much of its message list can be kept."""

from __future__ import annotations

import re
from dataclasses import replace

from chainviz.core.documents.detection.diagnostics import CHECKED, refuse_broken
from chainviz.core.documents.detection.recognition import SNIFF, Recognition
from chainviz.core.documents.detection.sample import take_sample
from chainviz.core.documents.json.scan import NESTED, TOO_DEEP, byte_length, fault
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Pointer, Span
from chainviz.core.errors import DocumentError

_LIST_OF_OBJECTS = re.compile(r"\[\s*(?=\{)")


def open_list(
    source: Source, begin: int, error: DocumentError, recognition: Recognition, *, salvage: bool
) -> FoundList:
    """The message list that `error` breaks off, to be salvaged; DocumentError where it cannot be, or is not to be."""
    if error.fault.what in ("", TOO_DEEP):
        raise error
    found = _first_list(source, begin, recognition)
    if found is None:
        refuse_broken(source, begin)
        raise error
    if salvage:
        return replace(found, warnings=(str(error),))
    whole = sum(1 for _ in UnitReader(source, found, salvage=True))
    try:
        for _ in UnitReader(source, found, shell=False):
            pass
    except DocumentError as exact:
        error = exact
    if error.salvage != whole:
        fault(source, error.fault.offset, error.fault.what, whole)
    raise error


def _first_list(source: Source, begin: int, recognition: Recognition) -> FoundList | None:
    """The first list whose first object looks like a message."""
    head = source.text(begin, begin + CHECKED)
    for opening in _LIST_OF_OBJECTS.finditer(head):
        at, inner = opening.span()
        whole = NESTED.match(head, inner)
        end = min(whole.end() if whole else len(head), inner + SNIFF)
        if recognition.has_hint(head, inner, end) and recognition.looks_like_message(head[:end], inner):
            start = begin + byte_length(head[: at + 1])
            key = head[:at].rstrip().removesuffix(":").rstrip().rpartition('"')[0].rpartition('"')[2]
            pointer: Pointer = (key,) if at and key else ()
            found = FoundList(pointer, "", Span(0, source.size), start, source.size, pointer)
            return replace(found, sample=take_sample(source, found))
    return None
