"""The banner of the library while sessions are read, with the progress and the buttons Stop and Continue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from chainviz.accounts.audit import not_recorded
from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.sessions_index import services
from chainviz.sessions_index.services import Progress
from chainviz.web.http import see_other, wants_fragment


def reading_of(member: Membership) -> Progress:
    """Return the banner; "" for a person who may not see the files of this machine."""
    return services.progress_of(member.team) if member.may("files") else Progress()


@requires("files")
@require_http_methods(["GET", "HEAD", "POST"])
@not_recorded
def reading(request: HttpRequest) -> HttpResponse:
    member = member_of(request)
    if request.method == "POST":
        if request.POST.get("act") == "stop":
            services.stop(member.team)
        else:
            services.go_on(member.team)
        return see_other("chains:library")
    if not wants_fragment(request):
        return see_other("chains:library")
    return render(request, "chains/library/_reading.html", {"reading": reading_of(member)})
