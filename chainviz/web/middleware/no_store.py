"""Keep pages out of every cache: they contain transcripts, and purged values must not come back from a disk."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from chainviz.web.middleware.base import Middleware


class NoStoreMiddleware(Middleware):
    """Stands behind WhiteNoise: static files may be cached."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Cache-Control"] = "no-store"
        return response
