"""The pages of the help."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.help.pages import all_pages, pages_with
from chainviz.help.render import page_html


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the pages, or those that contain every word of `q`."""
    words = request.GET.get("q", "")[:200]
    return render(request, "help/index.html", {"pages": pages_with(words), "words": words})


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a page; 404 for an unknown name."""
    page = all_pages().get(name)
    if page is None:
        raise Http404("There is no such help page.")
    return render(request, "help/page.html", {"page": page, "html": page_html(page), "pages": all_pages().values()})
