"""The product's addresses, and one under which an answer to a form is shown in the browser."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from chainviz.accounts.permissions import requires
from chainviz.urls import handler400, handler403, handler404, handler500, urlpatterns  # noqa: F401

ANSWERS: list[bytes] = []
"""HTML as it was sent."""


@requires("public")
def shown(request: HttpRequest, number: int) -> HttpResponse:
    return HttpResponse(ANSWERS[number])


urlpatterns = [*urlpatterns, path("shown/<int:number>", shown)]
