"""Find and replace lone surrogates. JSON can spell one as an escape, but UTF-8 cannot encode it, so APIs refuse the request.

Bytes that are not UTF-8 are also read as surrogates (U+DC80 to U+DCFF); these are left alone. A call's arguments are JSON, so a
surrogate in them may itself be an escape.
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
"""An even number of backslashes, then a character in two escapes or a lone surrogate in one."""
REPLACEMENT = "\ufffd"


def has_lone_surrogate(part: Part) -> bool:
    text = _text_of(part)
    return not text.isascii() and _HALF.search(text) is not None


def has_escaped_surrogate(part: Part) -> bool:
    """Return True if a call's arguments contain the escape of a lone surrogate. APIs that take arguments as text do not notice it."""
    return isinstance(part, ToolCall) and _without_escaped(part) != part.arguments


def without_surrogates(part: Part) -> Part:
    """Return the part with U+FFFD in place of each lone surrogate."""
    text = _HALF.sub(REPLACEMENT, _text_of(part))
    match part:
        case Text():
            return replace(part, text=text)
        case ToolCall():
            return replace(part, arguments=_without_escaped(replace(part, arguments=text)))
        case ToolResult() | Thinking():
            return replace(part, content=text) if text != part.content else part
    return part


def _without_escaped(call: ToolCall) -> str:
    text = call.arguments
    if call.type == FREE_FORM or "\\u" not in text:
        return text
    return _ESCAPED.sub(lambda match: match[1] + (match[2] or "\\ufffd"), text)


def _text_of(part: Part) -> str:
    """Return the text to search for lone surrogates; "" for signed reasoning, which must not change."""
    match part:
        case Text(text=text):
            return text
        case ToolCall(arguments=text) | ToolResult(content=text) | Thinking(content=text, signature=""):
            return text
    return ""
