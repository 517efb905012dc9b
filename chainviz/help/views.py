"""The pages of the help."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from chainviz.help.pages import GROUPS, Page, all_pages
from chainviz.help.render import page_html, summary_html
from chainviz.help.search import MOST, find_in_help


def _groups() -> list[tuple[str, list[Page]]]:
    pages = all_pages()
    return [(title, [pages[name] for name in names]) for title, names in GROUPS.items()]


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """List the pages, or the sections that contain every word of `q`."""
    words = request.GET.get("q", "")[:200].strip()
    groups = [(title, [(page, summary_html(page)) for page in pages]) for title, pages in _groups()]
    return render(
        request, "help/index.html", {"groups": groups, "words": words, "hits": find_in_help(words), "most": MOST}
    )


@require_safe
def help_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show a page; 404 for an unknown name."""
    page = all_pages().get(name)
    if page is None:
        raise Http404("There is no such help page.")
    headings = [(heading, slugify(heading)) for heading in page.headings]
    context = {"page": page, "html": page_html(page), "headings": headings, "groups": _groups()}
    return render(request, "help/page.html", context)
