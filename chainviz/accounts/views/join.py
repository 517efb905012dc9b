"""The page of an invitation: a new person makes an account, one who has an account signs in first."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from chainviz.accounts import invitations
from chainviz.accounts.audit.record import note
from chainviz.accounts.forms import JoinForm
from chainviz.accounts.middleware import CURRENT_TEAM
from chainviz.accounts.models import Invitation, Membership, User
from chainviz.accounts.permissions import requires
from chainviz.web.responses import see_other


@requires("public", team_mode=True)
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    invitation = invitations.find_invitation(token)
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
        return invitations.accept(invitation, known)
    return invitations.join(invitation, form.cleaned_data["name"], form.cleaned_data["password"])


def _welcome(request: HttpRequest, member: Membership) -> HttpResponse:
    if request.user != member.user:
        login(request, member.user)
    request.session[CURRENT_TEAM] = member.team_id
    request.member = member  # type: ignore[attr-defined]
    note(request, role=member.role)
    messages.success(request, f"You are now a member of {member.team.name}.")
    return see_other("chains:library")


def _page(
    request: HttpRequest, invitation: Invitation, known: User | None, form: JoinForm, status: int = 200
) -> HttpResponse:
    context = {"invitation": invitation, "known": known, "form": form, "is_known": known == request.user}
    return render(request, "accounts/join.html", context, status=status)
