"""Local mode: whoever opens the page is the owner. No session is written, so reading a page writes nothing."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from chainviz.accounts.models import local_owner


class LocalOwnerMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.user = SimpleLazyObject(local_owner)  # type: ignore[assignment]
        return self.get_response(request)
