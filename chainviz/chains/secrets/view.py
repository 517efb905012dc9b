"""Which chains of the library hold secrets: one job looks through the newest version of each."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.models import Chain
from chainviz.chains.secrets.scans import latest_library_scan, start_library_scan
from chainviz.core.secrets import get_rule
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import url_or_nothing
from chainviz.web.responses import see_other

MOST_RULES = 6


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
    """The chains that are still there; one that was changed since says so. Without a version: what people wrote about it."""
    if job is None or job.state != Job.State.DONE:
        return []
    member = member_of(request)
    own = Chain.objects.visible_to(member).in_library().in_bulk([row[0] for row in job.result or []])
    rows = []
    for key, version, counts in job.result or []:
        chain = own.get(key)
        if chain is None:
            continue
        known = [(rule.label, count) for name, count in counts.items() if (rule := get_rule(name))]
        known.sort(key=lambda each: -each[1])
        rows.append(
            {
                "chain": chain,
                "version": version,
                "is_older": version not in (None, chain.version),
                "counts": known[:MOST_RULES],
                "more": max(0, len(known) - MOST_RULES),
                "total": sum(counts.values()),
                "href": _review(chain, version, member),
            }
        )
    return sorted(rows, key=lambda row: -int(str(row["total"])))


def _review(chain: Chain, version: int | None, member: Membership) -> str:
    """Where the person can do something about it; comments are listed for everybody."""
    if version is None:
        return f"{url_or_nothing('review:threads', chain.pk)}?show=all"
    return url_or_nothing("drafts:operation", chain.pk, "mask") if member.may("draft") else ""
