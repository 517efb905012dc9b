"""An address that only takes forms answers a look with a page too: a browser shows an error of its own for an empty one."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from chainviz.web.errors import wrong_method


class MethodPageMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or response.streaming or response.content:
            return response
        page = wrong_method(request)
        page["Allow"] = response["Allow"]
        return page
