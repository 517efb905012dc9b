"""What base.html needs on every page. Never touches the database: error pages use it too."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    member = getattr(request, "member", None)
    return {
        "max_upload_bytes": settings.CHAINVIZ.max_upload_mb * 1_000_000,
        "signed_in": member if settings.CHAINVIZ.mode == "team" else None,
        "has_folders": settings.CHAINVIZ.mode == "local" or bool(settings.CHAINVIZ.folders),
        "oidc_name": settings.CHAINVIZ.oidc_name if settings.CHAINVIZ.has_oidc else "",
        "may": member.permissions if member is not None else frozenset(),
    }
