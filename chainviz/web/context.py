"""Template variables for base.html on every page, and the tour. Never queries the database, because error pages use them too.

The tour is a card on each page that says what to do next, from opening a chain to a page worth sharing. A cookie keeps it: the number of
the chain of the tour, 0 for a file of one's own. The page decides which step is shown.
"""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from chainviz.web.http import small_number, url_or_nothing

PALETTES = {"drafts:explore_chain_palette": ("chain_id", "draft_id"), "chains:chain_palette": ("chain_id", "number")}
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


COOKIE = "tour"
SECONDS = 24 * 60 * 60


class TourStep(NamedTuple):
    number: int
    """The number of the step, from 1; 0 on a page that is not a step."""
    text: str
    url: str = ""
    label: str = ""


STEPS = 5
OPEN = "Drop a transcript of an agent on this page, or choose a file. Then open it."
SEE = "Sections and pairs, with their sizes. The badge beside the title says what the API would answer. Next: the blue button."
CHOOSE = "Each problem is named as its API names it, with the smallest fix. Next: the blue button."
CHECK = "What would change, before and after. Nothing is saved yet. Next: the blue button."
SAVED = "Saved. Version 1 is still there, byte for byte."
SHARE = "“Download page” makes one file of this page that you can post in an issue. That was the tour."
EXPORT = "“Web page” is one file that opens anywhere without chainviz. That was the tour."
ELSEWHERE = "This page is not part of the tour."
TEXTS = {
    "chains:library": (1, OPEN),
    "chains:welcome": (1, OPEN),
    "chains:chain": (2, SEE),
    "chains:version": (2, SEE),
    "drafts:repair": (3, CHOOSE),
    "drafts:operation": (3, CHOOSE),
    "drafts:draft": (4, CHECK),
    "chains:diff": (5, SHARE),
    "chains:export": (5, EXPORT),
}


def tour_step(request: HttpRequest) -> TourStep | None:
    """Return the step of the tour that the page is, or None without a tour."""
    if COOKIE not in request.COOKIES:
        return None
    match = request.resolver_match
    known = match.kwargs if match is not None else {}
    name = match.view_name if match is not None else ""
    newest = known.get("number", 1)
    if name == "chains:version" and newest > 1:
        return TourStep(5, SAVED, url_or_nothing("chains:diff", known["chain_id"], 1, newest), "See what changed")
    if name in TEXTS:
        return TourStep(*TEXTS[name])
    chain = known.get("chain_id") or small_number(request.COOKIES[COOKIE])
    url = url_or_nothing("chains:chain", chain) if chain else url_or_nothing("chains:library")
    return TourStep(0, ELSEWHERE, url, "Go on with the tour")


def start_tour(response: HttpResponse, chain: int = 0) -> HttpResponse:
    """Start the tour with the response. `chain`: its number; 0 for a file that is still to come."""
    response.set_cookie(COOKIE, str(chain), max_age=SECONDS, httponly=True, samesite="Lax")
    return response


def leave_tour(response: HttpResponse) -> HttpResponse:
    response.delete_cookie(COOKIE, samesite="Lax")
    return response
