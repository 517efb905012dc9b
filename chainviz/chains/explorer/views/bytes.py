"""Where the bytes of a chain go."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer import charts
from chainviz.chains.explorer.subject import Subject
from chainviz.web.htmx import wants_fragment


@requires("read")
@require_safe
def bytes_page(request: HttpRequest, subject: Subject) -> HttpResponse:
    template = "chains/explorer/_bytes.html" if wants_fragment(request) else "chains/explorer/bytes.html"
    response = render(request, template, {"subject": subject, "bytes": charts.bytes_page(subject)})
    response["Vary"] = "HX-Request"
    return response
