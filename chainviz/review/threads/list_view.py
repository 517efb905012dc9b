"""The page of all threads of a chain."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.review.models import Thread


@requires("read")
@require_safe
def threads(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = Thread.objects.filter(chain=chain).visible_to(person_of(request)).order_by("number")
    return render(request, "review/threads.html", {"chain": chain, "threads": found})
