"""The fragment that an open page of a chain asks for: it says who else is there, and records that this person is."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.review.models import Presence
from chainviz.web.query_params import small_number

STAYS = timedelta(seconds=60)
"""How long a person counts as present after a page last asked."""
MOST = 6
"""People who are shown."""


@requires("read", team_mode=True)
@require_safe
def presence(request: HttpRequest, chain_id: int) -> HttpResponse:
    """`?v=3` is the version that the page shows, `&known=5` the newest one of which it tells the reader already."""
    chain, person, now = chain_for(request, chain_id), person_of(request), timezone.now()
    version = small_number(request.GET.get("v", "")) or chain.version
    known = max(version, small_number(request.GET.get("known", "")) or 0)
    Presence.objects.update_or_create(chain=chain, person=person, defaults={"version": version, "seen_at": now})
    others = Presence.objects.filter(chain=chain, seen_at__gt=now - STAYS).exclude(person=person)
    context = {
        "chain": chain,
        "version": version,
        "others": others.select_related("person").order_by("person__first_name")[:MOST],
        "is_behind": 0 < known < chain.version,
    }
    return render(request, "review/_presence.html", context)
