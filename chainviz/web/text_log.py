"""Log records as text, for `CHAINVIZ_LOG=text`. Nothing that was sent can make a line of its own, or reach a terminal."""

from __future__ import annotations

import logging
from typing import Any

from chainviz.core.terminal import visible


class TextFormatter(logging.Formatter):
    """A record is one line; the lines of its traceback follow indented. Control characters are written as escapes."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return visible(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return _indented(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return _indented(super().formatStack(stack_info))


def _indented(text: str) -> str:
    return "\n".join(f"  {visible(line)}" for line in text.split("\n"))
