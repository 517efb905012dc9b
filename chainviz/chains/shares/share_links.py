"""The pages of share links: an owner creates, lists and revokes them; anybody with a link can read the version."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.module_loading import import_string
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit import note, record, recorded_together
from chainviz.accounts.models import Membership, member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.accounts.tokens import token_digest
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.documents import POLICY, DocumentContent, html_page
from chainviz.chains.exports.downloads import locked_reason, require_unlocked
from chainviz.chains.library.models import ShareLink
from chainviz.chains.models import Chain
from chainviz.chains.secrets.export_scan import ExportScan, scan_before_export
from chainviz.chains.titles import title_in
from chainviz.core.formats import format_label
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from chainviz.web.http import see_other, small_number

# What an owner chooses for a share link: the version it shows, the days until it expires, and whether secrets may be read.


class ShareForm(forms.Form):
    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    days = forms.ChoiceField(
        label="Expires",
        choices=[("1", "in 1 day"), ("7", "in 7 days"), ("30", "in 30 days"), ("90", "in 90 days")],
        initial="7",
        widget=forms.Select(attrs={"class": "select"}),
    )
    confirmed = forms.BooleanField(
        label="These are not secrets: share them", help_text="The audit log records that you confirmed it.", required=False
    )

    def __init__(self, chain: Chain, data: object = None, version: int | None = None) -> None:
        super().__init__(data, initial={"version": version})  # type: ignore[arg-type]
        self.chain = chain

    def clean_version(self) -> int:
        number = int(self.cleaned_data["version"])
        if not Version.objects.filter(history=self.chain.history, number=number).exists():
            raise forms.ValidationError(f"There is no version {number}; the newest is {self.chain.version}.")
        return number


@requires("share", team_mode=True)
@require_safe
def shares(request: HttpRequest) -> HttpResponse:
    """List all links of the team."""
    return render(request, "chains/shares/shares.html", {"links": links_of(member_of(request))})


@requires("share", team_mode=True)
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the links of a chain, and a form that creates one for version `?v=`, which is scanned for secrets first."""
    if request.method == "POST":
        return _make(request, chain_id)
    subject = version_subject(request, chain_id, small_number(request.GET.get("v", "")))
    return _page(request, subject, ShareForm(subject.chain, version=subject.version))


@recorded_together
def _make(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Create a link and show it, once, since only a digest is stored."""
    chain = chain_for(request, chain_id)
    form = ShareForm(chain, request.POST)
    is_valid = form.is_valid()
    subject = version_subject(request, chain_id, form.cleaned_data.get("version"))
    if not is_valid:
        return _page(request, subject, form, 422)
    version, days = form.cleaned_data["version"], int(form.cleaned_data["days"])
    require_unlocked(chain, version)
    scan = scan_before_export(subject, None, person_of(request))
    refusal = _refusal(scan, chain, form.cleaned_data["confirmed"])
    if refusal:
        form.add_error("confirmed", refusal)
        return _page(request, subject, form, 422)
    link, token = make_link(chain, version, member_of(request), days)
    note(request, link=link.pk, version=version, days=days, **({"confirmed": True} if scan.has_secrets else {}))
    address = request.build_absolute_uri(reverse("chains:shared", args=[token]))
    return _page(request, subject, ShareForm(chain, version=version), address=address)


def _refusal(scan: ExportScan, chain: Chain, is_confirmed: bool) -> str:
    """Return the reason why the version may not be shared as it is; "" if it may."""
    if scan.waits:
        return "This version is long: scan it on the export page first."
    if not scan.has_secrets:
        return ""
    if forbids_secrets(chain):
        return "A rule of the team forbids links to versions with secrets. Mask them first."
    return "" if is_confirmed else "Mask the values, or tick that they are not secrets."


def forbids_secrets(chain: Chain) -> bool:
    return bool(import_string(settings.SHARED_SECRETS_FORBIDDEN)(chain.team_id))


@requires("share", team_mode=True)
@require_POST
@recorded_together
def revoke(request: HttpRequest, chain_id: int, link_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = get_object_or_404(links_of(member_of(request)).filter(chain=chain, revoked_at=None), pk=link_id)
    revoke_link(found)
    messages.success(request, f"The link to version {found.version} is revoked.")
    return see_other("chains:share", chain.pk)


def _page(request: HttpRequest, subject: Subject, form: ShareForm, status: int = 200, address: str = "") -> HttpResponse:
    chain = subject.chain
    context = {
        "chain": chain,
        "subject": subject,
        "form": form,
        "address": address,
        "scan": scan_before_export(subject, None, person_of(request)),
        "is_forbidden": forbids_secrets(chain),
        "links": links_of(member_of(request)).filter(chain=chain),
    }
    return render(request, "chains/shares/shares.html", context, status=status)


@requires("public", team_mode=True)
@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponseBase:
    """Show the version as one document, without addresses of this server and without a form. Links that ended look like
    unknown ones."""
    link = find_link(token)
    if link is None or locked_reason(link.chain, link.version):
        return render(request, "chains/shares/ended.html", status=404)
    if request.method != "HEAD":
        note_opening(link)
    version = Version.objects.select_related("snapshot").get(history=link.chain.history, number=link.version)
    until = f"Shared by {link.chain.team.name} until {link.expires_at:%d %b %Y}"
    source = f"Version {link.version}, {format_label(version.snapshot.format)}. {until}"
    told = DocumentContent(title_in(link.chain, version.snapshot), source, StoredChain(version.snapshot))
    response = StreamingHttpResponse(piece.encode("utf-8", "replace") for piece in html_page(told))
    response.headers["Content-Security-Policy"] = f"sandbox; frame-ancestors 'none'; {POLICY}"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


# Links are made by an owner and shown once; only a digest of the token is stored.


OPENING_RECORDED_EVERY = timedelta(minutes=1)
ACT = "chains:shared"


def make_link(chain: Chain, version: int, member: Membership, days: int) -> tuple[ShareLink, str]:
    """Return the link and its token, which cannot be found out later."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    link = ShareLink.objects.create(
        chain=chain, version=version, member=member, token_digest=token_digest(token), created_at=now, expires_at=now + timedelta(days=days)
    )
    return link, token


def links_of(member: Membership) -> QuerySet[ShareLink]:
    """Return all links of the team, the newest first."""
    return ShareLink.objects.filter(chain__team=member.team_id).select_related("chain", "member__user").order_by("-pk")


def revoke_link(link: ShareLink) -> None:
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])


def find_link(token: str) -> ShareLink | None:
    """Return None for a link that is unknown or ended, or whose chain is in the bin."""
    found = ShareLink.objects.select_related("chain__team", "member__user").filter(token_digest=token_digest(token)).first()
    return found if found is not None and found.state == "active" and not found.chain.is_in_bin else None


@transaction.atomic
def note_opening(link: ShareLink) -> None:
    """Count it, and record one a minute in the audit log, so that a visitor cannot fill the log."""
    now, before = timezone.now(), link.last_opened_at
    ShareLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, last_opened_at=now)
    if before is None or now - before > OPENING_RECORDED_EVERY:
        record(link.chain.team, None, ACT, chain=link.chain_id, link=link.pk, version=link.version)
