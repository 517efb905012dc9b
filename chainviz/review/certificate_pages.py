"""The page that asks for the recipient of an export, and the certificate as a page or as JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.models import AuditRow, member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.downloads import locked_reason
from chainviz.chains.exports.export import Export
from chainviz.chains.models import Chain
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats import format_label
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.review.certificates import begin, job_of
from chainviz.review.fsck import CERTIFIED
from chainviz.review.models import SignOff
from chainviz.web.formatting import byte_text
from chainviz.web.http import see_other, small_number, wants_fragment

STOPPED = "The export was stopped; no certificate was made."


@requires("export")
@require_http_methods(["GET", "HEAD", "POST"])
def certify(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Show the page. `?to=anthropic` chooses the format; `?job=7` shows the progress of a job."""
    subject, member = version_subject(request, chain_id, number), member_of(request)
    asked = small_number(request.GET.get("job", ""))
    job = job_of(subject.chain, member, asked) if asked else None
    if asked and job is None:
        raise Http404
    if job is not None and (request.method != "POST" or request.POST.get("act") == "stop"):
        return _of_job(request, subject, job)
    if request.method != "POST":
        return _page(request, subject)
    given = {"recipient": request.POST.get("recipient", ""), "to": request.POST.get("to", "")}
    try:
        return _of_job(request, subject, begin(subject.chain, number, **given, by=member))
    except ChainError as refused:
        return _page(request, subject, str(refused))


def _of_job(request: HttpRequest, subject: Subject, job: Job) -> HttpResponse:
    address = f"{_address(subject)}?{urlencode({'job': job.pk})}"
    if request.method == "POST" and request.POST.get("act") == "stop":
        lease.cancel(job)
        return see_other(address)
    if not job.is_finished:
        if request.method == "POST":
            return see_other(address)
        page = {"operation": {"doing": "Making the certificate"}, "job": job, "job_href": address}
        name = "drafts/operations/_waiting.html" if wants_fragment(request) else "review/certify_job.html"
        return render(request, name, {"page": page, "subject": subject})
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    if job.state == Job.State.DONE:
        return see_other("review:certificate", job.result["number"])
    return _page(request, subject, STOPPED if job.state == Job.State.CANCELLED else job.message, job.args["recipient"])


def _address(subject: Subject) -> str:
    return reverse("review:certify", args=[subject.chain.pk, subject.version])


def _page(request: HttpRequest, subject: Subject, error: str = "", recipient: str = "") -> HttpResponse:
    """Return the page with the form and the existing certificates of the chain."""
    asked = request.POST.get("to", request.GET.get("to", ""))
    try:
        export = Export.to(subject, asked)
    except Refused as refused:
        export, error = Export.to(subject, ""), error or str(refused)
    before = SignOff.objects.certificates().filter(team=member_of(request).team, chain_key=subject.chain.pk)
    context = {
        "subject": subject,
        "export": export,
        "error": error,
        "recipient": request.POST.get("recipient", recipient),
        "here": _address(subject),
        "locked": locked_reason(subject.chain, subject.version),
        "before": before.order_by("-number")[:20],
    }
    return render(request, "review/certify.html", context, status=422 if error and request.method == "POST" else 200)


@requires("read")
@require_safe
def certificate(request: HttpRequest, certificate: int) -> HttpResponse:
    """Show a certificate, which outlives its chain; `?as=json` has the same facts."""
    member = member_of(request)
    row = get_object_or_404(SignOff.objects.certificates(), team=member.team, number=certificate)
    if request.GET.get("as") == "json":
        headers = {"Content-Disposition": f'attachment; filename="certificate {row.number}.json"'}
        return HttpResponse(json.dumps(row.as_json(), indent=1), content_type="application/json", headers=headers)
    chain = Chain.objects.visible_to(member).in_library().filter(pk=row.chain_key).first()
    export = _same_file(request, chain, row) if chain is not None else None
    facts = row.record
    context = {
        "row": row,
        "facts": facts,
        "chain": chain,
        "format": format_label(row.format),
        "is_valid": export is not None,
        "file_name": export.file_name(export.subject.title) if export is not None else "",
        "audit_row": _audit_row(row) if member.may("audit") else None,
        "removed": [(*row[:4], _change_text(row[4])) for row in facts["removed"]],
        "places": sum(each[3] for each in facts["removed"]),
        "change": _change_text(sum(each[4] for each in facts["removed"])),
    }
    return render(request, "review/certificate.html", context)


def _same_file(request: HttpRequest, chain: Chain, row: SignOff) -> Export | None:
    """Return the export if it still writes the file of the certificate. After a purge in the chain, the digest decides."""
    subject = version_subject(request, chain.pk, row.version)
    export = Export.to(subject, row.format)
    if subject.snapshot.history.edition == row.edition:
        return export
    digest = sha256()
    for piece in export.chain():
        digest.update(piece)
    return export if digest.hexdigest() == row.sha256 else None


def _audit_row(row: SignOff) -> AuditRow | None:
    """Return the entry of the log about this certificate, or None."""
    rows = AuditRow.objects.filter(team=row.team_id, act=CERTIFIED, chain_key=row.chain_key)
    return next((each for each in rows.iterator() if each.facts.get("certificate") == row.number), None)


def _change_text(saved: int) -> str:
    """Return a sentence on how the size changed. A placeholder can be longer than the text it replaces."""
    return f"+{byte_text(-saved)}" if saved < 0 else byte_text(-saved)
