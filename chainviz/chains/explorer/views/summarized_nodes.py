"""The nodes that a summary replaced."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.summarized_nodes import replaced_page
from chainviz.core.chain.paths import parse_path
from chainviz.store.lineage import replacement_of
from chainviz.web.http import wants_fragment


@requires("read")
@require_safe
def replaced(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where).node
    found = replacement_of(subject.stored, path)
    if found is None:
        raise Http404("This node replaced nothing.")
    start = request.GET.get("from", "")
    address = f"{subject.base_url}replaced/{path}"
    page = replaced_page(subject.chain, found, address, parse_path(start).node if start else None)
    template = "chains/explorer/_replaced.html" if wants_fragment(request) else "chains/explorer/replaced.html"
    response = render(request, template, {"subject": subject, "path": path, "page": page})
    response["Vary"] = "HX-Request"
    return response
