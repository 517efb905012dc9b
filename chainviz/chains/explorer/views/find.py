"""Find text in a chain. The server searches the whole chain, because the browser's own search covers only the rows on the page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.pasted_error import error_url, looks_like_error
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.visible_text import marks
from chainviz.store.query.find import Hit, Place
from chainviz.store.query.find import find as find_in
from chainviz.web.http import small_number, wants_fragment

LONGEST = 1_000
LEAD, PAGE_LEAD = 16, 60
"""The number of characters shown before a match, in the list beside the chain and on the search page."""


@dataclass(frozen=True, slots=True)
class HitRow:
    path: str
    dom_id: str
    number: str
    at: float
    """The position in the chain, from 0 to 1."""
    before: str
    match: str
    after: str


@requires("read")
@require_safe
def find(request: HttpRequest, subject: Subject) -> HttpResponse:
    text = request.GET.get("q", "")[:LONGEST]
    case = bool(request.GET.get("case"))
    found = find_in(subject.stored, text, case_sensitive=case, after=_place(request.GET.get("after", "")))
    more = {"q": text, **({"case": "1"} if case else {}), "after": ".".join(map(str, found.next or ()))}
    lead = LEAD if wants_fragment(request) else PAGE_LEAD
    context = {
        "subject": subject,
        "text": text,
        "case": case,
        "error_url": error_url(subject, text) if looks_like_error(text) else "",
        "hits": [_row(hit, len(subject.stored), lead) for hit in found.hits],
        "more_url": f"{subject.base_url}find?{urlencode(more)}" if found.next is not None else "",
    }
    response = render(request, "chains/explorer/_find.html" if wants_fragment(request) else "chains/explorer/find.html", context)
    response["Vary"] = "HX-Request"
    return response


def _place(text: str) -> Place | None:
    message, part = (small_number(number) for number in text.partition(".")[::2])
    return Place(message, part) if message is not None and part is not None else None


def _row(hit: Hit, messages: int, lead: int) -> HitRow:
    path = hit.path
    before, match, after = (marks(" ".join(words.split())) for words in (hit.before[-lead:], hit.match, hit.after))
    # the template adds no white space between the three texts
    before += " " * hit.before[-1:].isspace()
    after = " " * hit.after[:1].isspace() + after
    return HitRow(str(path), path.dom_id, path.number, hit.message / max(1, messages), before, match, after)
