"""Log records as one line of JSON each, for `CHAINVIZ_LOG=json`."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from chainviz.web.middleware.request_log import request_id


class JsonFormatter(logging.Formatter):
    """Members: time (UTC), level, logger, message; request_id, the facts of a request and the traceback where there are any."""

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
