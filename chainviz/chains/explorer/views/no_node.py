"""The page for a path that the chain does not have. It links to the chain and, if it exists, to the section."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.web.http import url_or_nothing


def no_node(request: HttpRequest, subject: Subject, sentence: str, where: str) -> HttpResponse:
    """Return the page. `where` is the path in the address."""
    page = {
        "chain": subject.chain,
        "title": subject.title,
        "sentence": sentence,
        "chain_url": subject.base_url,
        "section": _section(subject, where),
        "versions_url": url_or_nothing("chains:versions", subject.chain.pk),
    }
    return render(request, "chains/explorer/no_node.html", {"page": page}, status=404)


def _section(subject: Subject, where: str) -> Path | None:
    try:
        section = Path(parse_path(where).section)
        subject.stored.span(section)
    except PathError:
        return None
    return section
