"""Read values from an address, and answer with a page, a fragment or a redirect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render, resolve_url
from django.urls import NoReverseMatch, reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails


def small_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def small_numbers(texts: Iterable[str]) -> list[int]:
    """Return those of the texts that are small numbers, in order."""
    return [number for text in texts if (number := small_number(text)) is not None]


def typed_words(text: str, most: int) -> str:
    """Return the text of a search field, cut to so many characters, in one line and without NUL."""
    return " ".join(text.replace("\0", "").split())[:most]


def url_or_nothing(name: str, *args: object) -> str:
    """Return the page's address, or "" if there is no such page, so that it is not offered."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def wants_fragment(request: HttpRequest) -> bool:
    """Return True if the request is for a fragment. Boosted links and Back replace the whole page."""
    htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
    return bool(htmx) and not htmx.boosted and not htmx.history_restore_request


def page_or_fragment(request: HttpRequest, page: str, fragment: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """Render the template of a page, or that of the fragment in it if only the fragment is requested."""
    response = render(request, fragment if wants_fragment(request) else page, dict(context), status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def see_other(to: Any, *args: Any) -> HttpResponse:
    """Redirect to an address or to the page with a name. Unlike Django's own redirect with 302, the method is always GET."""
    return HttpResponseRedirect(resolve_url(to, *args), status=303)


def own_page(request: HttpRequest, page: str, otherwise: str) -> str:
    """Return the `page` of a form if it is the path of one of our pages, since Django treats other texts as names."""
    own = page.startswith("/") and url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if own else otherwise


SECONDS = "1"


def working_page(request: HttpRequest, title: str, job: Any, crumbs: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    """Show the progress of a job; the browser asks for the same address again until the job is done.

    A fragment of a page that is open already makes the browser load that page again. `crumbs`: name and address of what
    the page belongs to."""
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    response = render(request, "web/working.html", {"title": title, "job": job, "crumbs": crumbs}, status=202)
    response["Refresh"] = SECONDS
    return response
