"""Limits of uploads: the size of each, and how many may come in at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from chainviz.web.errors import too_busy, too_large
from chainviz.web.middleware.base import Middleware


class UploadLimitMiddleware(Middleware):
    """Refuse a request that announces more than CHAINVIZ_MAX_UPLOAD_MB before a byte of its body is read."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if announced.isdigit() and int(announced) > settings.CHAINVIZ.max_upload_mb * 1_000_000:
            return too_large(request)
        return self.get_response(request)


LARGE = 1_000_000
"""The size in bytes from which a request counts as an upload."""
AT_ONCE = 36
"""The most in all processes of a server, each of which has 48 threads."""


class UploadsAtOnceMiddleware(Middleware):
    """Refuse large requests beyond a limit, so that threads are left for readers: a stalled upload occupies its thread."""

    at_once: ClassVar[int] = AT_ONCE
    """The most in this process. `chainviz serve` divides the number among its processes before it starts them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        self.free = threading.BoundedSemaphore(self.at_once)

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
