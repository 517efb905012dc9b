"""The pages of share links: an owner makes, lists and revokes them; anybody with a link reads the version."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.exports.html_page import POLICY, html_page
from chainviz.chains.exports.lock import locked_reason, require_unlocked
from chainviz.chains.exports.walk import Told
from chainviz.chains.models import Chain
from chainviz.chains.shares import links
from chainviz.chains.shares.form import ShareForm
from chainviz.chains.titles import title_in
from chainviz.core.formats import format_label
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("share", team_mode=True)
@require_safe
def shares(request: HttpRequest) -> HttpResponse:
    """All links of the team."""
    return render(request, "chains/shares/shares.html", {"links": links.links_of(member_of(request))})


@requires("share", team_mode=True)
@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest, chain_id: int) -> HttpResponse:
    """The links of a chain, and a form that makes one of version `?v=`."""
    chain = chain_for(request, chain_id)
    if request.method == "POST":
        return _make(request, chain_id)
    return _page(request, chain, ShareForm(chain, version=small_number(request.GET.get("v", ""))))


@recorded_together
def _make(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Answers with the page that shows the link: only its digest is stored, so this is the one time."""
    chain = chain_for(request, chain_id)
    form = ShareForm(chain, request.POST)
    if not form.is_valid():
        return _page(request, chain, form, 422)
    version, days = form.cleaned_data["version"], int(form.cleaned_data["days"])
    require_unlocked(chain, version)
    link, token = links.make_link(chain, version, member_of(request), days)
    note(request, link=link.pk, version=version, days=days)
    address = request.build_absolute_uri(reverse("chains:shared", args=[token]))
    return _page(request, chain, ShareForm(chain), address=address, shared=version)


@requires("share", team_mode=True)
@require_POST
@recorded_together
def revoke(request: HttpRequest, chain_id: int, link_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = get_object_or_404(links.links_of(member_of(request)).filter(chain=chain, revoked_at=None), pk=link_id)
    links.revoke(found)
    messages.success(request, f"The link to version {found.version} is revoked.")
    return see_other("chains:share", chain.pk)


def _page(request: HttpRequest, chain: Chain, form: ShareForm, status: int = 200, **more: object) -> HttpResponse:
    context = {"chain": chain, "form": form, "links": links.links_of(member_of(request)).filter(chain=chain), **more}
    return render(request, "chains/shares/shares.html", context, status=status)


@requires("public", team_mode=True)
@require_safe
def shared(request: HttpRequest, token: str) -> HttpResponseBase:
    """The version as one document, without an address of ours and without a form. Links that ended look like unknown ones."""
    link = links.find_link(token)
    if link is None or locked_reason(link.chain, link.version):
        return render(request, "chains/shares/ended.html", status=404)
    if request.method != "HEAD":
        links.note_opening(link)
    version = Version.objects.select_related("snapshot").get(history=link.chain.history, number=link.version)
    until = f"Shared by {link.chain.team.name} until {link.expires_at:%d %b %Y}"
    source = f"Version {link.version}, {format_label(version.snapshot.format)}. {until}"
    told = Told(title_in(link.chain, version.snapshot), source, StoredChain(version.snapshot))
    response = StreamingHttpResponse(piece.encode("utf-8", "replace") for piece in html_page(told))
    response.headers["Content-Security-Policy"] = f"sandbox; frame-ancestors 'none'; {POLICY}"
    response.headers["X-Robots-Tag"] = "noindex"
    return response
