"""Believes X-Forwarded-For, X-Forwarded-Proto and X-Request-ID only from the proxies that CHAINVIZ_TRUSTED_PROXIES names."""

from __future__ import annotations

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from chainviz.web.middleware.base import Middleware


class TrustedProxyMiddleware(Middleware):
    """The first of all: what comes behind it reads REMOTE_ADDR and the scheme."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
        if not is_trusted(request.META.get("REMOTE_ADDR", "")):
            for name in ("HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_REQUEST_ID"):
                request.META.pop(name, None)
        elif forwarded:
            request.META["REMOTE_ADDR"] = client_of(forwarded)
        return self.get_response(request)


def client_of(forwarded: str) -> str:
    """Return the last address that no trusted proxy has: any client may have written what precedes it."""
    addresses = [each.strip() for each in forwarded.split(",")]
    return next((each for each in reversed(addresses) if not is_trusted(each)), addresses[0])


def is_trusted(address: str) -> bool:
    try:
        client = ip_address(address)
    except ValueError:
        return False
    return any(client in network for network in settings.CHAINVIZ.proxy_networks)
