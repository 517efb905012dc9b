"""After a form was sent: the browser is to fetch another page (Django's own redirect says 302, which leaves the method open)."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url


def see_other(to: Any, *args: Any) -> HttpResponse:
    """`to` is an address or the name of a page."""
    return HttpResponseRedirect(resolve_url(to, *args), status=303)
