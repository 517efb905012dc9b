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
    request: HttpRequest, page: str, fragment: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Renders the template of the page, or that of the fragment it includes when only this is wanted."""
    response = render(request, fragment if wants_fragment(request) else page, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response
