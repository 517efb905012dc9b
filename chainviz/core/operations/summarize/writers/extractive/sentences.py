"""Sentences of running text; code, tables, headings, JSON and lines of a log are no sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chainviz.core.operations.summarize.log_lines import is_log_line

SHORTEST, LONGEST = 20, 300
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[A-Z0-9*`])|(?<=[。！？])")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_MARKS = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_NO_PROSE = re.compile(
    r"^\s*(?:[{}\[\]|#<]|[\"'][^\"']{0,80}[\"']\s*:|//|import |from \S+ import |def |class |return |[-=_*]{3,})"
)


def sentences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _is_prose(line):
            for sentence in _END.split(_MARKS.sub("", line)):
                words = " ".join(sentence.split())
                if len(words) >= SHORTEST:
                    yield words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def _is_prose(line: str) -> bool:
    head = line[:400]
    if _NO_PROSE.match(head) or head.count("|") > 2 or is_log_line(head):
        return False
    letters = sum(map(str.isalpha, head)) + head.count(" ")
    return letters * 4 >= len(head.strip()) * 3 and any(map(str.isalpha, head))
