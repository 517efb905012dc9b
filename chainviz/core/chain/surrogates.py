"""Find and replace halves of characters: JSON can spell one as an escape, UTF-8 cannot encode it, and APIs refuse the
request.

Bytes that are not UTF-8 are read as surrogates too (U+DC80 to U+DCFF); those do not come from the text of a program.
Arguments are JSON in which a half may be an escape itself.
"""

from __future__ import annotations

import re
from dataclasses import replace

from chainviz.core.chain.messages import FREE_FORM, Part, Text, Thinking, ToolCall, ToolResult

_HALF = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_ESCAPED = re.compile(
    r"(?<!\\)((?:\\\\)*)"
    r"(?:(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
"""Backslashes that are pairs, then a whole character in two escapes or half of one in one escape."""
REPLACEMENT = "\ufffd"


def has_lone_surrogate(part: Part) -> bool:
    text = _text_of(part)
    return not text.isascii() and _HALF.search(text) is not None


def has_escaped_surrogate(part: Part) -> bool:
    """Whether half of a character is an escape in the JSON of a call's arguments: APIs that take them as text do not see it."""
    return isinstance(part, ToolCall) and _without_escaped(part) != part.arguments


def without_surrogates(part: Part) -> Part:
    """The part with U+FFFD in the place of each half, as most programs write it."""
    text = _HALF.sub(REPLACEMENT, _text_of(part))
    match part:
        case Text():
            return replace(part, text=text)
        case ToolCall():
            whole = replace(part, arguments=text)
            return replace(whole, arguments=_without_escaped(whole))
        case ToolResult() | Thinking():
            return replace(part, content=text) if text != part.content else part
    return part


def _without_escaped(call: ToolCall) -> str:
    text = call.arguments
    if call.type == FREE_FORM or "\\u" not in text:
        return text
    return _ESCAPED.sub(lambda found: found[1] + (found[2] or "\\ufffd"), text)


def _text_of(part: Part) -> str:
    """Return the text in which to look for halves. Signed reasoning is skipped, since nobody may change it."""
    match part:
        case Text(text=text):
            return text
        case ToolCall(arguments=text) | ToolResult(content=text) | Thinking(content=text, signature=""):
            return text
    return ""
