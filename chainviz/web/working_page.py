"""A page of something that a job works out first: how far it is. The browser asks for the same address again until it is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.web.htmx import wants_fragment

SECONDS = "1"


def working_page(request: HttpRequest, title: str, job: Any, crumbs: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    """A fragment of a page that is open already makes the browser load that page again. `crumbs`: name and address of what
    the page belongs to."""
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    response = render(request, "web/working.html", {"title": title, "job": job, "crumbs": crumbs}, status=202)
    response["Refresh"] = SECONDS
    return response
