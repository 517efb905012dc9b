"""The inspector of one node."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.inspector import node_page
from chainviz.chains.explorer.page import edit_url_of
from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import parse_path
from chainviz.web.http import wants_fragment


@requires("read")
@require_safe
def inspect(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where)
    template = "chains/explorer/_inspector.html" if wants_fragment(request) else "chains/explorer/node.html"
    edit_url = edit_url_of(subject, path.node)
    context = {"subject": subject, "path": path, "node": node_page(subject, path), "edit_url": edit_url}
    response = render(request, template, context)
    response["Vary"] = "HX-Request"
    return response
