"""Names each request with an id and logs it at its end: route, status and duration, never the path or its query.

A path may hold the token of a shared link or an invitation, a query what somebody searched for.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from uuid import uuid4

from django.http import HttpRequest, HttpResponseBase

log = logging.getLogger("chainviz.requests")
request_id: ContextVar[str] = ContextVar("request_id", default="")
HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[\w.-]{1,64}", re.ASCII)


class RequestLogMiddleware:
    """Stands behind TrustedProxyMiddleware, so that the id of a trusted proxy is kept, and behind static files."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get(HEADER, "")
        request_id.set(given if ACCEPTED.fullmatch(given) else uuid4().hex)  # until the next request: Django logs after us
        start = time.perf_counter()
        response = self.get_response(request)
        response[HEADER] = request_id.get()
        log.info("request", extra={"facts": _facts(request, response, time.perf_counter() - start)})
        return response


class PathFilter(logging.Filter):
    """Writes the route where Django's own records hold the path."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            match = request.resolver_match
            route = f"/{match.route}" if match else "an unknown address"
            record.args = tuple(route if each == request.path else each for each in record.args)
        return True


def _facts(request: HttpRequest, response: HttpResponseBase, seconds: float) -> dict[str, object]:
    match = request.resolver_match
    numbers = {name: value for name, value in (match.kwargs if match else {}).items() if isinstance(value, int)}
    return {
        "method": request.method,
        "route": match.route if match else None,
        **numbers,
        "status": response.status_code,
        "seconds": round(seconds, 4),
        "client": request.META.get("REMOTE_ADDR"),
    }
