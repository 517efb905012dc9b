"""A person's own account: the password, and which of their teams they look at."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from chainviz.accounts.forms import PasswordForm
from chainviz.accounts.middleware import CURRENT_TEAM
from chainviz.accounts.models import Membership, person_of
from chainviz.accounts.permissions import requires
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


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
