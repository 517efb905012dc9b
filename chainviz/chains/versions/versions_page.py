"""The history of a chain: compare, restore, branch, export, rename."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import User, member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains import audit as audit
from chainviz.chains import services
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.chains.versions.heads import store_name
from chainviz.chains.versions.history import report_of, version_rows
from chainviz.core.errors import Refused
from chainviz.core.formats import FORMATS
from chainviz.core.operations.mask import MASK
from chainviz.store.errors import Conflict
from chainviz.store.history.drafts import head_of, steps_of
from chainviz.store.lineage import ancestors
from chainviz.store.models import History, Upload, Version
from chainviz.web.http import see_other


@requires("read")
@require_safe
def versions(request: HttpRequest, chain_id: int) -> HttpResponse:
    return _page(request, chain_for(request, chain_id))


@requires("read")
@require_safe
def report(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """Show the reports of a version's steps."""
    chain = chain_for(request, chain_id)
    version = _version(chain, number)
    steps = [step for step in steps_of(version) if step.operation]
    context = {"chain": chain, "version": version, "reports": [report_of(step) for step in steps]}
    context["masked"] = any(step.operation == MASK.name for step in steps)
    return render(request, "chains/versions/report.html", context)


@requires("compare")
@require_safe
def compare(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Redirect from two ticked boxes to the page that compares them."""
    chain = chain_for(request, chain_id)
    picked = sorted({int(each) for each in request.GET.getlist("pick") if each.isdecimal() and len(each) < 9})
    if len(picked) != 2:
        return _page(request, chain, compare_error="Tick exactly two versions to compare them.", picked=picked)
    return see_other(reverse("chains:diff", args=[chain.pk, picked[0], picked[1]]))


@requires("save")
@require_POST
@recorded_together
def restore(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    try:
        services.restore(chain, _version(chain, number), by=person_of(request))
        messages.success(request, f"Version {number} is back, as version {chain.version}.")
    except Conflict:
        messages.error(request, "A new version was saved at the same moment. Check it, then restore again.")
    return see_other("chains:versions", chain.pk)


@requires("save")
@require_POST
def branch(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    try:
        made = services.branch(chain, _version(chain, number), by=person_of(request))
    except Refused as refused:
        messages.error(request, str(refused))
        return see_other("chains:versions", chain.pk)
    note(request, branch=made.pk)
    messages.success(request, f"“{made.title}” starts with version {number} of “{chain.title}”.")
    return see_other("chains:versions", made.pk)


@requires("save")
@require_POST
@recorded_together
def rename(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    title = request.POST.get("title", "")
    try:
        services.rename(chain, title)
    except ValidationError as error:
        return _page(request, chain, typed=title, title_error=error.messages[0])
    messages.success(request, f"The chain is now called “{chain.title}”.")
    return see_other("chains:versions", chain.pk)


def _version(chain: Chain, number: int) -> Version:
    return get_object_or_404(Version.objects.select_related("snapshot"), history=chain.history, number=number)


def _page(request: HttpRequest, chain: Chain, **more: object) -> HttpResponse:
    asked = request.GET.get("before", "")
    before = int(asked) if asked.isdecimal() and len(asked) < 9 else None
    rows = version_rows(chain, _names(request), before)
    upload = Upload.objects.filter(owner=chain.team.store_name, sha256=chain.sha256).first()
    context = {
        "chain": chain,
        "rows": rows,
        "older": rows[-1].number if rows and rows[-1].number > 1 else None,
        "newest": before is None,
        "upload": upload,
        "is_purged": audit.has_purge(chain),
        "formats": [(each.name, each.label) for each in FORMATS],
        "masked": MASK.name in ancestors(head_of(History.objects.get(pk=chain.history)).snapshot).values(),
        "shares_file": Chain.objects.visible_to(member_of(request)).filter(sha256=chain.sha256).count() > 1,
        **more,
    }
    failed = "title_error" in more or "compare_error" in more
    return render(request, "chains/versions/versions.html", context, status=422 if failed else 200)


def _names(request: HttpRequest) -> dict[str, str]:
    """Return the names of people by the word that the store keeps for each."""
    return {
        store_name(user): "You" if user == request.user else user.display_name
        for user in User.objects.filter(memberships__team=member_of(request).team_id)
    }
