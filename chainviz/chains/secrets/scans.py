"""Scans that take a while, as jobs: of one content of a chain, and of a person's whole library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import Membership, User, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import findings_in_texts, names_of, team_texts, written_about
from chainviz.chains.secrets.findings import MOST, Spot, mark_of, scan, scan_own, unpacked
from chainviz.core.errors import Refused
from chainviz.core.secrets import Rule, get_rule
from chainviz.core.secrets.word_lists import rules_of
from chainviz.core.secrets.word_lists import unpacked as unpacked_lists
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import History, Snapshot
from chainviz.web.http import see_other, url_or_nothing, wants_fragment

SCAN = "scan-chain"
OWN = "scan-own-patterns"
LIBRARY = "scan-library"
LOOKS = 4
"""Increase this if scans find more places, so that everything is scanned again."""
NEWEST = 20
NAMES, WRITTEN, KEPT = "names", "written", "kept"
"""In the place of a version: the chain's names and notes, what people wrote about it, and, of no chain, what the team keeps."""


def scan_content(context: JobContext, snapshot: int, edition: int, looks: int) -> list[Any]:
    """Scan a content. `edition` distinguishes jobs before and after a purge, and `looks` those of older and newer code."""
    chain = StoredChain(Snapshot.objects.get(pk=snapshot))
    return [spot.packed() for spot in islice(scan(chain, context.report), MOST)]


def scan_for_own(context: JobContext, snapshot: int, mark: str, patterns: str, **key: int) -> list[Any]:
    """Scan with a person's own rules in a job. `patterns`: word lists, packed; `key`: other values that identify the job."""
    try:
        if mark_of(patterns) != mark:
            raise Refused("The search for your own patterns was interrupted; search again.")
        chain = StoredChain(Snapshot.objects.get(pk=snapshot))
        return [spot.packed() for spot in scan_own(chain, rules_of(unpacked_lists(patterns)), context.report)]
    finally:
        # a pattern may spell out the very value
        Job.objects.filter(pk=context.job.pk).update(args={**context.job.args, "patterns": ""})


def start_own_scan(snapshot: Snapshot, patterns: str, owner: User) -> Job:
    return start_job(OWN, owner=owner, **scan_args(snapshot), mark=mark_of(patterns), patterns=patterns)


def forget_patterns() -> None:
    """Delete the patterns of searches that did not run to their end: cancelled while they waited, or interrupted too often."""
    ended = (Job.State.CANCELLED, Job.State.INTERRUPTED)
    for job in Job.objects.filter(function=OWN, state__in=ended).exclude(args__contains='"patterns": ""'):
        Job.objects.filter(pk=job.pk).update(args={**job.args, "patterns": ""})


def own_scan_of(snapshot: Snapshot, patterns: str, user: User) -> Job | None:
    """Return the person's newest look for these patterns in this content."""
    wanted = {**scan_args(snapshot), "mark": mark_of(patterns)}
    jobs = Job.objects.visible_to(user).filter(function=OWN).order_by("-pk")[:NEWEST]
    return next((job for job in jobs if job.args == {**wanted, "patterns": job.args["patterns"]}), None)


def start_scan(snapshot: Snapshot, owner: User) -> Job:
    return start_job(SCAN, owner=owner, **scan_args(snapshot))


def scan_args(snapshot: Snapshot) -> dict[str, int]:
    return {"snapshot": snapshot.pk, "edition": snapshot.history.edition, "looks": LOOKS}


def scan_of(job_id: int | None, snapshot: Snapshot, user: User) -> Job | None:
    """Return the person's scan of exactly this content."""
    job = Job.objects.visible_to(user).filter(pk=job_id, function=SCAN).first() if job_id else None
    return job if job is not None and job.args == scan_args(snapshot) else None


def latest_scan(snapshot: Snapshot, user: User) -> Job | None:
    done = Job.objects.visible_to(user).filter(function=SCAN, state=Job.State.DONE, args=scan_args(snapshot))
    return done.order_by("-pk").first()


def scan_under_way(snapshot: Snapshot, user: User) -> Job | None:
    unfinished = Job.objects.visible_to(user).filter(function=SCAN, state__in=[Job.State.QUEUED, Job.State.RUNNING])
    return unfinished.filter(args=scan_args(snapshot)).order_by("-pk").first()


def spots_of(job: Job, own: Sequence[Rule] = ()) -> list[Spot]:
    return unpacked(job.result or [], own)


def stop_own_scan(snapshot: Snapshot, patterns: str, user: User) -> None:
    job = own_scan_of(snapshot, patterns, user)
    if job is not None and not job.is_finished:
        lease.cancel(job)
        forget_patterns()


def scan_library(context: JobContext, team: int) -> list[Any]:
    """Return a row for each chain of the team's library with findings: chain, version (or NAMES or WRITTEN), findings
    by rule."""
    chains = list(Chain.objects.filter(team=team).in_library().order_by("-changed_at"))
    rows: list[Any] = []
    for i, chain in enumerate(chains):
        head = History.objects.select_related("head__snapshot").get(pk=chain.history).head
        if head is None:
            continue

        def report(done: float, text: str, i: int = i) -> None:
            # not its title, which may be purged at this moment
            context.report((i + done) / len(chains), f"Chain {i + 1:,} of {len(chains):,}: {text}")

        counts = Counter(spot.rule for spot in scan(StoredChain(head.snapshot), report))
        names, written = (findings_in_texts(texts(chain)).by_rule for texts in (names_of, written_about))
        found = ((head.number, dict(counts)), (NAMES, names), (WRITTEN, written))
        rows += [[chain.pk, *each] for each in found if each[1]]
    kept = findings_in_texts(team_texts(team)).by_rule
    return [*rows, [None, KEPT, kept]] if kept else rows


def start_library_scan(member: Membership) -> Job:
    return start_job(LIBRARY, owner=member.user, team=member.team_id)


def latest_library_scan(member: Membership) -> Job | None:
    """Return the newest one that anybody of the member's team started."""
    return Job.objects.filter(function=LIBRARY, args={"team": member.team_id}).order_by("-pk").first()


# Which chains of the library hold secrets: one job looks through the newest version of each.


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
    """Return rows for the chains that still exist; one that was changed since is marked."""
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
    """Return the address at which the person can act on a finding; comments are listed for everybody."""
    if chain is None:
        return url_or_nothing("recipes:home")
    if version == NAMES:
        return url_or_nothing("chains:versions", chain.pk)
    if version in PLACES:
        return f"{url_or_nothing('review:threads', chain.pk)}?show=all"
    return url_or_nothing("drafts:operation", chain.pk, "mask") if member.may("draft") else ""
