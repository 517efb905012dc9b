"""Go to a place in the chain by the number of a message as the API counts it, by a path, or by the id of a call."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.places import NoSuchPlace, find_place
from chainviz.chains.explorer.subject import Subject
from chainviz.web.http import see_other, typed_words, wants_fragment

LONGEST = 200


@requires("read")
@require_safe
def goto(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Redirect to the node. For a script, return its path, or the error sentence."""
    words = typed_words(request.GET.get("to", ""), LONGEST)
    if not wants_fragment(request):
        spot = find_place(subject.stored, words)
        return see_other(f"{subject.base_url}at/{spot.path}#{spot.path.dom_id}")
    try:
        context: dict[str, object] = {"spot": find_place(subject.stored, words)}
    except NoSuchPlace as refused:
        context = {"refusal": str(refused)}
    return render(request, "chains/explorer/_goto.html", context)
