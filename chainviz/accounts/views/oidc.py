"""Signing in with the OpenID Connect provider that is configured, if one is: for members and people who are invited."""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_GET

from chainviz.accounts import throttle
from chainviz.accounts.audit.record import REFUSED, record
from chainviz.accounts.forms import SignInForm
from chainviz.accounts.members import accept_all
from chainviz.accounts.middleware import current_membership
from chainviz.accounts.models import Membership, User
from chainviz.accounts.permissions import requires
from chainviz.accounts.views.sign_in import sign_in_page, too_many
from chainviz.web.http import own_page

log = logging.getLogger(__name__)
BACKEND = "django.contrib.auth.backends.ModelBackend"
ACT = "accounts:oidc_callback"


@requires("public", team_mode=True)
@require_GET
def oidc(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider. Each time counts as an attempt until it ends well."""
    _check_configured()
    from chainviz.accounts.oidc import NotSignedIn, begin

    wait = throttle.begin_attempt("", request.META.get("REMOTE_ADDR", ""))
    if wait:
        return too_many(request, SignInForm(), wait)
    try:
        return begin(request, own_page(request, request.GET.get("next", ""), reverse("chains:library")))
    except NotSignedIn as reason:
        return _refused(request, str(reason), 503, reason.__cause__)


@requires("public", team_mode=True)
@require_GET
def oidc_callback(request: HttpRequest) -> HttpResponse:
    _check_configured()
    from chainviz.accounts.oidc import NotSignedIn, finish

    try:
        identity = finish(request)
    except NotSignedIn as reason:
        _record_refused(reason.email)
        return _refused(request, str(reason), 403, reason.__cause__)
    user = _member(identity.email) or accept_all(identity.email, identity.name)
    if user is None:
        _record_refused(identity.email)
        sentence = f"{identity.email} is not a member of a team here. Ask an owner of your team for an invitation."
        return _refused(request, sentence, 403)
    throttle.end_attempt("", request.META.get("REMOTE_ADDR", ""))
    login(request, user, backend=BACKEND)
    member = current_membership(request)
    assert member is not None
    record(member.team, user, ACT)
    return redirect(own_page(request, identity.next_page, reverse("chains:library")))


def _check_configured() -> None:
    if not settings.CHAINVIZ.has_oidc:
        raise Http404


def _member(email: str) -> User | None:
    found = Membership.objects.active().filter(user__username=email).select_related("user").first()
    return found.user if found else None


def _record_refused(email: str) -> None:
    """Record a refusal in the log of each team that the account is or was in; an address that nobody has belongs to no team."""
    for member in Membership.objects.filter(user__username=email).select_related("team") if email else ():
        record(member.team, None, ACT, REFUSED, account=email)


def _refused(request: HttpRequest, sentence: str, status: int, cause: BaseException | None = None) -> HttpResponse:
    if cause is not None:
        log.warning("Sign-in with the OpenID Connect provider failed: %s: %s", type(cause).__name__, cause)
    return sign_in_page(request, SignInForm(), status, refused=sentence)
