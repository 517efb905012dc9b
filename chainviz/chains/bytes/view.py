"""Where the bytes of a chain go, as a page or as the fragment that the explorer shows."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.bytes import page
from chainviz.chains.bytes.level import read_address
from chainviz.chains.explorer.subject import Subject
from chainviz.web.htmx import wants_fragment


@requires("read")
@require_safe
def bytes_page(request: HttpRequest, subject: Subject) -> HttpResponse:
    template = "chains/bytes/_bytes.html" if wants_fragment(request) else "chains/bytes/bytes.html"
    shown = page.bytes_page(subject, read_address(f"{subject.base_url}bytes", request.GET))
    response = render(request, template, {"subject": subject, "bytes": shown})
    response["Vary"] = "HX-Request"
    return response
