"""Formats of log records: text, or one line of JSON with `CHAINVIZ_LOG=json`. Received text can neither add a line nor send control
characters to a terminal."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

from chainviz.core.errors import visible
from chainviz.web.middleware import request_id


class JsonFormatter(logging.Formatter):
    """Write a record as JSON: time (UTC), level, logger and message, with request_id, the facts of a request and the traceback if it has
    them."""

    def format(self, record: logging.LogRecord) -> str:
        facts = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get() or None,
            **getattr(record, "facts", {}),
            "traceback": self.formatException(record.exc_info) if record.exc_info else None,
        }
        return json.dumps({name: value for name, value in facts.items() if value is not None}, default=str)


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
