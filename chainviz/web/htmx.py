"""One view, two sizes: the whole page, or the fragment that htmx asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


def wants_fragment(request: HttpRequest) -> bool:
    """Not for a boosted link or for Back: both replace the whole page."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def page_or_fragment(
    request: HttpRequest, template: str, partial: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Renders `template`, or only its `{% partialdef partial %}` when a fragment is wanted."""
    name = f"{template}#{partial}" if wants_fragment(request) else template
    response = render(request, name, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
