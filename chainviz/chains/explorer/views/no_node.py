"""The page of a node that a chain does not have: it offers the chain, and the section where that is there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.chains.explorer.subject import Subject
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.web.http import url_or_nothing


def no_node(request: HttpRequest, subject: Subject, sentence: str, where: str) -> HttpResponse:
    """`where`: the path as the address names it."""
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
