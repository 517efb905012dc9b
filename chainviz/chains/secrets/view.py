"""Which chains of the library hold secrets: one job looks through the newest version of each."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.models import Chain
from chainviz.chains.secrets.scans import KEPT, NAMES, WRITTEN, latest_library_scan, start_library_scan
from chainviz.core.secrets import get_rule
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import url_or_nothing
from chainviz.web.responses import see_other

MOST_RULES = 6
PLACES = {
    NAMES: "title, file name and notes",
    WRITTEN: "comments, labels and reviews",
    KEPT: "shared by all chains",
    None: "comments, labels and reviews",
}
"""None: in scans of before."""


@requires("read", to_post="draft")
@require_http_methods(["GET", "HEAD", "POST"])
def library_secrets(request: HttpRequest) -> HttpResponse:
    member = member_of(request)
    job = latest_library_scan(member)
    if request.method == "POST":
        if request.POST.get("act") == "stop" and job is not None:
            lease.cancel(job)
        elif job is None or job.is_finished:
            start_library_scan(member)
        return see_other("chains:secrets")
    if wants_fragment(request) and (job is None or job.is_finished):
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("chains:secrets")})
    context = {"job": job, "rows": _rows(request, job), "running": job is not None and not job.is_finished}
    name = "chains/secrets/_secrets_job.html" if wants_fragment(request) else "chains/secrets/secrets.html"
    return render(request, name, context)


def _rows(request: HttpRequest, job: Job | None) -> list[dict[str, object]]:
    """The chains that are still there; one that was changed since says so."""
    if job is None or job.state != Job.State.DONE:
        return []
    member = member_of(request)
    own = Chain.objects.visible_to(member).in_library().in_bulk([row[0] for row in job.result or []])
    rows = []
    for key, version, counts in job.result or []:
        chain = own.get(key)
        if chain is None and version != KEPT:
            continue
        known = [(rule.label, count) for name, count in counts.items() if (rule := get_rule(name))]
        known.sort(key=lambda each: -each[1])
        rows.append(
            {
                "title": chain.title if chain else "Word lists and recipes",
                "address": _address(chain, version, member),
                "version": version if version not in PLACES else None,
                "place": PLACES.get(version, ""),
                "is_older": chain is not None and version not in (*PLACES, chain.version),
                "counts": known[:MOST_RULES],
                "more": max(0, len(known) - MOST_RULES),
                "total": sum(counts.values()),
                "href": _review(chain, version, member),
            }
        )
    return sorted(rows, key=lambda row: -int(str(row["total"])))


def _address(chain: Chain | None, version: int | str | None, member: Membership) -> str:
    is_version = chain is not None and version not in PLACES
    return reverse("chains:version", args=[chain.pk, version]) if is_version and chain else _review(chain, version, member)


def _review(chain: Chain | None, version: int | str | None, member: Membership) -> str:
    """Where the person can do something about it; comments are listed for everybody."""
    if chain is None:
        return url_or_nothing("recipes:home")
    if version == NAMES:
        return url_or_nothing("chains:versions", chain.pk)
    if version in PLACES:
        return f"{url_or_nothing('review:threads', chain.pk)}?show=all"
    return url_or_nothing("drafts:operation", chain.pk, "mask") if member.may("draft") else ""
