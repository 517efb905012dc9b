"""Where the browser goes after a form was sent."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def see_other(to: Any, *args: Any) -> HttpResponse:
    """`to` is an address or the name of a page. Django's own redirect says 302, which leaves the method open."""
    return HttpResponseRedirect(resolve_url(to, *args), status=303)


def own_page(request: HttpRequest, page: str, otherwise: str) -> str:
    """Returns `page`, as a form named it, where it is the path of one of ours: Django takes other texts for names."""
    own = page.startswith("/") and url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return page if own else otherwise
