"""Refuses a request that announces more than CHAINVIZ_MAX_UPLOAD_MB before a byte of its body is read."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from chainviz.web.errors import too_large


class UploadLimitMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        announced = request.META.get("CONTENT_LENGTH") or "0"
        if announced.isdigit() and int(announced) > settings.CHAINVIZ.max_upload_mb * 1_000_000:
            return too_large(request)
        return self.get_response(request)
