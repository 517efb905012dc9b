"""The page of a chain's labels, its forms, and the files of all labels and comments."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.secrets.export_scan import SecretNotice, before_written
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import PathError, Refused
from chainviz.review.csv_and_jsonl import exported, label_texts
from chainviz.review.labels import LabelChoice, labels_of, set_label, used_labels
from chainviz.review.labels import take_away as remove_label
from chainviz.review.models import Label
from chainviz.web.http import see_other, small_number


@requires("read", to_post="label")
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def labels(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the labels of a node of a version (`?v=2&path=s1.p1`), else of the whole chain. POST sets a label."""
    given = request.POST if request.method == "POST" else request.GET
    subject = version_subject(request, chain_id, small_number(given.get("v", "")))
    path = _path(subject, given.get("path", ""))
    if request.method != "POST":
        return _page(request, subject, path)
    version = subject.version or subject.chain.version
    try:
        wanted = LabelChoice(version, path, given.get("kind", ""), given.get("value", ""))
        label = set_label(subject.chain, wanted, by=person_of(request))
    except Refused as refused:
        return _page(request, subject, path, str(refused))
    note(request, label=label.pk, kind=label.kind)
    back = reverse("review:labels", args=[chain_id])
    return see_other(f"{back}?{urlencode({'v': version, 'path': path})}" if path else back)


@requires("label")
@require_POST
@recorded_together
def take_away(request: HttpRequest, chain_id: int, label_id: int) -> HttpResponse:
    label = get_object_or_404(Label, chain=chain_for(request, chain_id), pk=label_id)
    try:
        remove_label(label, by=member_of(request))
    except Refused as refused:
        return _page(request, version_subject(request, chain_id), "", str(refused))
    note(request, label=label_id, kind=label.kind)
    return see_other("review:labels", chain_id)


@requires("export")
@require_safe
def labels_export(request: HttpRequest, kind: str) -> StreamingHttpResponse:
    """Export the labels of the whole library, or of one chain: `?chain=4`."""
    return exported(request, "labels", kind)


def _path(subject: Subject, text: str) -> str:
    """Return the path of the node; 404 for one that the version does not have."""
    if not text:
        return ""
    try:
        path = parse_path(text).node
        subject.stored.span(path)
    except PathError as error:
        raise Http404(str(error)) from error
    return str(path)


def _page(request: HttpRequest, subject: Subject, path: str, error: str = "") -> HttpResponse:
    member = member_of(request)
    context = {
        "subject": subject,
        "path": path,
        "labels": labels_of(subject.chain, subject.stored),
        "tags": [text for key, text in used_labels(member.team) if key.startswith("tag:")],
        "may_take_all": member.may("save"),
        "held": _secret_notice(subject) if member.may("export") else None,
        "error": error,
        "typed": request.POST.get("value", "") if error else "",
    }
    return render(request, "review/labels.html", context, status=422 if error else 200)


def _secret_notice(subject: Subject) -> SecretNotice | None:
    """Scan the files that the page offers, and return a notice of the secrets found."""
    return before_written("labels", [subject.chain.title, *label_texts(subject.chain)], subject)
