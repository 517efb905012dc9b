"""Method Not Allowed as a page: a browser shows an error of its own for an empty answer. Pages take GET, HEAD and POST only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

from chainviz.web.errors import wrong_method
from chainviz.web.middleware.base import Middleware

PAGE_METHODS = ("GET", "HEAD", "POST")


class MethodPageMiddleware(Middleware):
    """Answer 405 for other methods of pages, which would be taken for GET; the API states its own (`takes_tokens`)."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.streaming or response.content:
            return response
        page = wrong_method(request)
        page["Allow"] = response["Allow"]
        return page

    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> HttpResponse | None:
        if request.method in (*PAGE_METHODS, "OPTIONS") or getattr(view, "takes_tokens", False):
            return None
        return HttpResponseNotAllowed(PAGE_METHODS)
