"""Leaves threads for readers: of the large requests that come in at the same time, those beyond a limit are turned away.

An upload that stalls holds its thread for as long as its sender likes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from chainviz.web.errors import too_busy

LARGE = 1_000_000
"""Bytes of a request that counts as an upload."""
AT_ONCE = 36
"""Of the 48 threads of `chainviz serve`."""


class UploadsAtOnceMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.free = threading.BoundedSemaphore(AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if not announced.isdigit() or int(announced) < LARGE:
            return self.get_response(request)
        if not self.free.acquire(blocking=False):
            return too_busy(request)
        try:
            return self.get_response(request)
        finally:
            self.free.release()
