"""The text that replaces redacted content. By default nothing in it comes from what it replaces.

A store of chains marks what was redacted beside them (`decide`). In a bare file, where no provider's message has a
field for such a mark, a content that is nothing but a placeholder, of this template or the default one, tells it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chainviz.core.chain.messages import byte_size

DEFAULT = "[redacted]"
FIELDS = ("tool", "bytes", "lines")
NO_ARGUMENTS = "{}"
"""Replaces a call's arguments, which have to be a JSON object."""

_FIELD = re.compile(r"\{([^{}]*)\}")


def unknown_fields(template: str) -> list[str]:
    return [name for name in _FIELD.findall(template) if name not in FIELDS]


def render(template: str, content: str, tool: str, size: int | None = None) -> str:
    values = {"tool": tool, "bytes": str(byte_size(content) if size is None else size), "lines": str(_lines(content))}
    return _FIELD.sub(lambda found: values[found[1]], template)


def is_placeholder(text: str, template: str, tools: Sequence[str]) -> bool:
    return text == DEFAULT or bool(_shape(template, tools).fullmatch(text))


def _shape(template: str, tools: Sequence[str]) -> re.Pattern[str]:
    names = "|".join(re.escape(tool) for tool in tools)
    fields = {"tool": f"(?:{names})", "bytes": "[0-9]+", "lines": "[0-9]+"}
    # every second piece is a field's name
    pieces = _FIELD.split(template)
    return re.compile("".join(fields[piece] if place % 2 else re.escape(piece) for place, piece in enumerate(pieces)))


def _lines(content: str) -> int:
    return content.count("\n") + (not content.endswith("\n")) if content else 0
