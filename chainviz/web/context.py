"""Template variables for base.html on every page. Never queries the database, because error pages use them too."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from chainviz.web.http import url_or_nothing
from chainviz.web.tour import tour_step

PALETTES = {
    "drafts:explore_chain_palette": ("chain_id", "draft_id"),
    "chains:chain_palette": ("chain_id", "number"),
}
"""The palettes of each kind of content, with the names in their address."""


def site(request: HttpRequest) -> dict[str, object]:
    member = getattr(request, "member", None)
    return {
        "max_upload_bytes": settings.CHAINVIZ.max_upload_mb * 1_000_000,
        "signed_in": member if settings.CHAINVIZ.mode == "team" else None,
        "has_folders": settings.CHAINVIZ.mode == "local" or bool(settings.CHAINVIZ.folders),
        "oidc_name": settings.CHAINVIZ.oidc_name if settings.CHAINVIZ.has_oidc else "",
        "may": member.permissions if member is not None else frozenset(),
        "palette_url": palette_url(request),
        "tour": tour_step(request) if member is not None else None,
    }


def palette_url(request: HttpRequest) -> str:
    """Return the address of the command palette: that of the chain, and of its version or draft, that the page shows."""
    match = request.resolver_match
    known = match.kwargs if match is not None else {}
    for name, wanted in PALETTES.items():
        if all(key in known for key in wanted):
            return url_or_nothing(name, *(known[key] for key in wanted))
    url = url_or_nothing("chains:palette")
    return f"{url}?chain={known['chain_id']}" if "chain_id" in known else url
