"""Signing in and out, with a password or with the OpenID Connect provider that is configured, if one is.

The provider is for members and people who are invited. Limits of attempts for each account and each client address slow down the
guessing of passwords.
"""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chainviz.accounts import members
from chainviz.accounts.audit.record import REFUSED, note, record
from chainviz.accounts.forms import FIELD, JoinForm, PasswordForm, SignInForm, form_from_sign_in
from chainviz.accounts.members import accept_all
from chainviz.accounts.middleware import CURRENT_TEAM, current_membership
from chainviz.accounts.models import Invitation, Membership, SignInAttempt, User, person_of
from chainviz.accounts.permissions import requires
from chainviz.web.http import own_page, see_other, small_number

WRONG = "E-mail or password is wrong."


@requires("public", team_mode=True)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return redirect(_next_page(request)) if request.user.is_authenticated else sign_in_page(request, SignInForm())
    form = SignInForm(request.POST)
    if not form.is_valid():
        return sign_in_page(request, form, 422)
    email, client = form.cleaned_data["email"], request.META.get("REMOTE_ADDR", "")
    wait = begin_attempt(email, client)
    if wait:
        return too_many(request, form, wait)
    user = authenticate(request, username=email, password=form.cleaned_data["password"])
    if user is None:
        _record_failure(email)
        form.add_error("password", WRONG)
        return sign_in_page(request, form, 422)
    end_attempt(email, client)
    login(request, user)
    request.member = current_membership(request)  # type: ignore[attr-defined]
    kept = form_from_sign_in(request)
    return render(request, "accounts/send_again.html", {"kept": kept}) if kept else see_other(_next_page(request))


def _record_failure(email: str) -> None:
    """Record a failure in the log of each team of the account; an address that nobody has belongs to no team."""
    for member in Membership.objects.active().filter(user__username=email).select_related("team"):
        record(member.team, None, "accounts:sign_in", REFUSED, account=email)


@requires("account", team_mode=True)
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return see_other("accounts:sign_in")


def too_many(request: HttpRequest, form: SignInForm, wait: int) -> HttpResponse:
    page = sign_in_page(request, form, 429, wait=wait, minutes=-(-wait // 60))
    page["Retry-After"] = str(wait)
    return page


def sign_in_page(request: HttpRequest, form: SignInForm, status: int = 200, **more: object) -> HttpResponse:
    context = {"form": form, "next": request.GET.get("next", ""), "kept": request.POST.get(FIELD, ""), **more}
    return render(request, "accounts/sign_in.html", context, status=status)


def _next_page(request: HttpRequest) -> str:
    return own_page(request, request.GET.get("next", ""), reverse("chains:library"))


# A person's own account: the password, and which of their teams they look at.


@requires("account", team_mode=True)
@sensitive_post_parameters("current_password", "new_password")
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    form = PasswordForm(request.POST or None, user=person)
    if request.method == "POST" and form.is_valid():
        person.set_password(form.cleaned_data["new_password"])
        person.save(update_fields=["password"])
        # the digest of the password is part of every session: all others end here
        update_session_auth_hash(request, person)
        messages.success(request, "Your password is changed. You are signed out everywhere else.")
        return see_other("accounts:account")
    memberships = Membership.objects.active().filter(user=person).select_related("team").order_by("pk")
    context = {"form": form, "memberships": memberships}
    return render(request, "accounts/account.html", context, status=422 if form.errors else 200)


@requires("account", team_mode=True)
@require_POST
def choose_team(request: HttpRequest) -> HttpResponse:
    team = small_number(request.POST.get("team", ""))
    if not Membership.objects.active().filter(user=person_of(request), team=team).exists():
        raise Http404
    request.session[CURRENT_TEAM] = team
    return see_other("chains:library")


# The page of an invitation: a new person makes an account, one who has an account signs in first.


@requires("public", team_mode=True)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    invitation = members.find_invitation(token)
    if invitation is None:
        return render(request, "accounts/invitation_expired.html", status=404)
    known = User.objects.filter(username=invitation.email).first()
    form = JoinForm(request.POST or None, email=invitation.email)
    if request.method != "POST":
        return _page(request, invitation, known, form)
    if known is not None and request.user != known:
        return _page(request, invitation, known, form, 422)
    if known is None and not form.is_valid():
        return _page(request, invitation, known, form, 422)
    try:
        return _welcome(request, _accepted(invitation, known, form))
    except ValidationError:
        return render(request, "accounts/invitation_expired.html", status=404)


def _accepted(invitation: Invitation, known: User | None, form: JoinForm) -> Membership:
    if known is not None:
        return members.accept(invitation, known)
    return members.join(invitation, form.cleaned_data["name"], form.cleaned_data["password"])


def _welcome(request: HttpRequest, member: Membership) -> HttpResponse:
    if request.user != member.user:
        login(request, member.user)
    request.session[CURRENT_TEAM] = member.team_id
    request.member = member  # type: ignore[attr-defined]
    note(request, role=member.role)
    messages.success(request, f"You are now a member of {member.team.name}.")
    return see_other("chains:library")


def _page(request: HttpRequest, invitation: Invitation, known: User | None, form: JoinForm, status: int = 200) -> HttpResponse:
    context = {"invitation": invitation, "known": known, "form": form, "is_known": known == request.user}
    return render(request, "accounts/join.html", context, status=status)


log = logging.getLogger(__name__)
BACKEND = "django.contrib.auth.backends.ModelBackend"
ACT = "accounts:oidc_callback"


@requires("public", team_mode=True)
@require_GET
def oidc(request: HttpRequest) -> HttpResponse:
    """Send the person to the provider. Each time counts as an attempt until it ends well."""
    _check_configured()
    from chainviz.accounts.oidc import NotSignedIn, begin

    wait = begin_attempt("", request.META.get("REMOTE_ADDR", ""))
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
    end_attempt("", request.META.get("REMOTE_ADDR", ""))
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


WINDOW = timedelta(minutes=15)
LIMITS = {"account": 10, "client": 50}
"""The most attempts in the time window."""


def begin_attempt(account: str, client: str) -> int:
    """Record an attempt before the password is checked, so that simultaneous attempts count too. Without an account, when another
    server checks the password, it counts only for the client.

    Returns the seconds to wait; 0 if the attempt may continue.
    """
    now = timezone.now()
    SignInAttempt.objects.filter(at__lt=now - WINDOW).delete()
    keys = {kind: f"{kind}:{value}" for kind, value in (("account", account), ("client", client)) if value}
    waits = [_wait(key, LIMITS[kind]) for kind, key in keys.items()]
    if not any(waits):
        SignInAttempt.objects.bulk_create(SignInAttempt(key=key, at=now) for key in keys.values())
    return max(waits)


def _wait(key: str, limit: int) -> int:
    times = list(SignInAttempt.objects.filter(key=key).order_by("-at").values_list("at", flat=True)[:limit])
    if len(times) < limit:
        return 0
    return max(1, int((times[-1] + WINDOW - timezone.now()).total_seconds()))


def end_attempt(account: str, client: str) -> None:
    """Delete the attempts of the account, and this attempt of the client, after a correct password."""
    SignInAttempt.objects.filter(key=f"account:{account}").delete()
    newest = SignInAttempt.objects.filter(key=f"client:{client}").order_by("-pk").first()
    if newest is not None:
        newest.delete()
