"""The team: its members and their roles, and invitations. Every member may view it, owners may change it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts import members, tokens
from chainviz.accounts import members as invitations
from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.forms import InviteForm, TokenForm
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import PERMISSIONS, Role, requires
from chainviz.web.http import see_other

WHAT_ROLES_MAY_DO = (
    ("Read, compare and export chains", "read"),
    ("Comment, label and give verdicts", "comment"),
    ("Upload, edit, run operations, save versions, use the bin", "save"),
    ("Manage members, purge, delete permanently, read the audit log", "members"),
)


@requires("read", team_mode=True)
@require_safe
def team(request: HttpRequest) -> HttpResponse:
    return _page(request, InviteForm())


@requires("members", team_mode=True)
@require_POST
@recorded_together
def invite(request: HttpRequest) -> HttpResponse:
    """Create an invitation and show its link, once, since only a digest is stored."""
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, form, 422)
    email = form.cleaned_data["email"]
    try:
        token = invitations.invite(member_of(request), email, Role(form.cleaned_data["role"]))
    except ValidationError as error:
        form.add_error("email", error)
        return _page(request, form, 422)
    note(request, email=email, role=form.cleaned_data["role"])
    link = request.build_absolute_uri(reverse("accounts:join", args=[token]))
    return _page(request, InviteForm(), link=link, invited=email)


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
            return _page(request, InviteForm(), 422, error="Choose a role.")
    except ValidationError as error:
        return _page(request, InviteForm(), 422, error=error.messages[0])
    messages.success(request, text)
    return see_other("accounts:team")


def _page(request: HttpRequest, form: InviteForm, status: int = 200, **more: object) -> HttpResponse:
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
