"""Chats kept as text, each message behind the name of its role: Markdown headings (`## User`), bold names (`**User:**`) or
plain prefixes (`user: `). The last resort for a text: both a person and a model must speak in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from chainviz.core.chain.messages import AI, HUMAN, Fragment, Message, Role
from chainviz.core.formats.read_only import ROLES, ReadOnly, said, spoken

_ROLE = f"({'|'.join(ROLES)})"
_HEADING = rf"#{{1,6}}[ \t]+[^\w\n]{{0,6}}{_ROLE}\b[^\w\n]*$"
_BOLD = rf"\*\*[^\w\n]{{0,6}}{_ROLE}[ \t]*(?::\*\*|\*\*:)"
_MARKER = re.compile(rf"^(?:{_HEADING}|{_BOLD})", re.MULTILINE | re.IGNORECASE)
_PREFIX = re.compile(rf"^{_ROLE}:(?= |$)", re.MULTILINE | re.IGNORECASE)
_FENCE = re.compile(r"^(```+|~~~+)[^\n]*$.*?(?:^\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"\s*(?:^-{3,}\s*)?\Z", re.MULTILINE)
"""Between two messages: white space and a ruled line."""


class RoleText(ReadOnly):
    name = "role_text"
    label = "Chat as Markdown or text"
    tested_with = "any"

    def rate(self, head: str) -> float:
        roles = {ROLES[_word(marker)] for marker in _markers(head)}
        return 0.6 if {HUMAN, AI} <= roles else 0.0

    def stretches(self, text: str) -> Iterator[tuple[int, int]]:
        starts = [marker.start() for marker in _markers(text)]
        for start, end in pairwise([*starts, len(text)]):
            message = text[start:end]
            gap = _END.search(message)
            yield start, start + (gap.start() if gap else len(message))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        marker = _MARKER.match(text) or _PREFIX.match(text)
        word = _word(marker) if marker else ""
        content = text[marker.end() if marker else 0 :].strip()
        return said(word, spoken(word, content), source)


def _word(marker: re.Match[str]) -> str:
    return next(group for group in marker.groups() if group).lower()


def _markers(text: str) -> list[re.Match[str]]:
    """Where messages begin. Markers in code blocks are none; plain prefixes count where the text begins with one."""
    if text.lstrip()[:1] in ("{", "["):
        return []
    start = len(text) - len(text.lstrip())
    pattern = _PREFIX if _PREFIX.match(text, start) else _MARKER
    found = list(pattern.finditer(text))
    fences = [fence.span() for fence in _FENCE.finditer(text)] if (found and "```" in text) or "~~~" in text else []
    return [marker for marker in found if not any(first < marker.start() < last for first, last in fences)]
