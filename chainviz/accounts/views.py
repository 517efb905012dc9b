"""Pages of team mode: signing in and out, accepting an invitation, the own account, and the members of the team."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from chainviz.accounts import members, tokens
from chainviz.accounts import members as invitations
from chainviz.accounts.audit import REFUSED, note, record, recorded_together
from chainviz.accounts.forms import FIELD, InviteForm, JoinForm, PasswordForm, SignInForm, TokenForm, form_from_sign_in
from chainviz.accounts.members import accept_all
from chainviz.accounts.middleware import CURRENT_TEAM, current_membership
from chainviz.accounts.models import Invitation, Membership, SignInAttempt, User, member_of, person_of
from chainviz.accounts.permissions import PERMISSIONS, Role, requires
from chainviz.web.http import own_page, see_other, small_number

WHAT_ROLES_MAY_DO = (
    ("Read, compare and export chains", "read"),
    ("Comment, label and give verdicts", "comment"),
    ("Upload, edit, run operations, save versions, use the bin", "save"),
    ("Manage members, purge, delete permanently, read the audit log", "members"),
)


@requires("read", team_mode=True)
@require_safe
def team(request: HttpRequest) -> HttpResponse:
    return _team_page(request, InviteForm())


@requires("members", team_mode=True)
@require_POST
@recorded_together
def invite(request: HttpRequest) -> HttpResponse:
    """Create an invitation and show its link, once, since only a digest is stored."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _team_page(request, form, 422)
    email = form.cleaned_data["email"]
    try:
        token = invitations.invite(member_of(request), email, Role(form.cleaned_data["role"]))
    except ValidationError as error:
        form.add_error("email", error)
        return _team_page(request, form, 422)
    note(request, email=email, role=form.cleaned_data["role"])
    link = request.build_absolute_uri(reverse("accounts:join", args=[token]))
    return _team_page(request, InviteForm(), link=link, invited=email)


@requires("members", team_mode=True)
@require_POST
@recorded_together
def revoke(request: HttpRequest, invitation_id: int) -> HttpResponse:
    found = get_object_or_404(invitations.open_invitations(member_of(request)), pk=invitation_id)
    found.revoked_at = timezone.now()
    found.save(update_fields=["revoked_at"])
    note(request, email=found.email)
    messages.success(request, f"The invitation for {found.email} is revoked.")
    return see_other("accounts:team")


@requires("members", team_mode=True)
@require_POST
@recorded_together
def change_member(request: HttpRequest, member_id: int) -> HttpResponse:
    """Remove the member with `act=remove`; otherwise set the role to `role`."""
    member = get_object_or_404(members.members_of(member_of(request).team), pk=member_id)
    role = request.POST.get("role", "")
    note(request, member=member.user.display_name, role="removed" if request.POST.get("act") == "remove" else role)
    try:
        if request.POST.get("act") == "remove":
            members.remove(member)
            name = member.user.display_name
            text = f"{name} is no longer a member. Their chains and versions stay; open drafts wait until {name} is invited again."
        elif role in Role.values:
            members.change_role(member, Role(role))
            text = f"{member.user.display_name} is now {'an' if role[0] in 'aeiou' else 'a'} {role}."
        else:
            return _team_page(request, InviteForm(), 422, error="Choose a role.")
    except ValidationError as error:
        return _team_page(request, InviteForm(), 422, error=error.messages[0])
    messages.success(request, text)
    return see_other("accounts:team")


def _team_page(request: HttpRequest, form: InviteForm, status: int = 200, **more: object) -> HttpResponse:
    member = member_of(request)
    found = list(members.members_of(member.team))
    context = {
        "team": member.team,
        "members": found,
        "is_only_owner": sum(each.role == Role.OWNER for each in found) == 1,
        "may_change": member.may("members"),
        "invitations": invitations.open_invitations(member).select_related("invited_by").order_by("email"),
        "form": form,
        "roles": Role.choices,
        "role_table": [(text, [permission in PERMISSIONS[role] for role in Role]) for text, permission in WHAT_ROLES_MAY_DO],
        **more,
    }
    return render(request, "accounts/team.html", context, status=status)


# A person's API tokens in the current team: create, list and revoke them. The page exists in local mode too.


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def own_tokens(request: HttpRequest) -> HttpResponse:
    return _create(request) if request.method == "POST" else _token_page(request, TokenForm())


@recorded_together
def _create(request: HttpRequest) -> HttpResponse:
    """Create a token and show it, once, since only a digest is stored."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _token_page(request, form, 422)
    name, scopes, days = (form.cleaned_data[field] for field in ("name", "scopes", "days"))
    row, token = tokens.create_token(member_of(request), name, scopes, int(days))
    note(request, token=row.pk, scopes=" ".join(scopes), days=int(days))
    return _token_page(request, TokenForm(), token=token, created=name)


@requires("read")
@require_POST
@recorded_together
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    found = get_object_or_404(tokens.tokens_of(member_of(request)), pk=token_id)
    tokens.revoke(found)
    messages.success(request, f"The token “{found.name}” is revoked.")
    return see_other("accounts:tokens")


def _token_page(request: HttpRequest, form: TokenForm, status: int = 200, **more: object) -> HttpResponse:
    context = {"form": form, "tokens": tokens.tokens_of(member_of(request)), **more}
    return render(request, "accounts/tokens.html", context, status=status)


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
        return _invitation_page(request, invitation, known, form)
    if known is not None and request.user != known:
        return _invitation_page(request, invitation, known, form, 422)
    if known is None and not form.is_valid():
        return _invitation_page(request, invitation, known, form, 422)
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


def _invitation_page(request: HttpRequest, invitation: Invitation, known: User | None, form: JoinForm, status: int = 200) -> HttpResponse:
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
