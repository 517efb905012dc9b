"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from chainviz.accounts import throttle
from chainviz.accounts.audit.record import REFUSED, record
from chainviz.accounts.forms import SignInForm
from chainviz.accounts.kept_form import FIELD, kept_form
from chainviz.accounts.middleware import current_membership
from chainviz.accounts.models import Membership
from chainviz.accounts.permissions import requires
from chainviz.web.responses import own_page, see_other

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
    wait = throttle.begin_attempt(email, client)
    if wait:
        return too_many(request, form, wait)
    user = authenticate(request, username=email, password=form.cleaned_data["password"])
    if user is None:
        _record_failure(email)
        form.add_error("password", WRONG)
        return sign_in_page(request, form, 422)
    throttle.end_attempt(email, client)
    login(request, user)
    request.member = current_membership(request)  # type: ignore[attr-defined]
    kept = kept_form(request)
    return render(request, "accounts/send_again.html", {"kept": kept}) if kept else see_other(_next_page(request))


def _record_failure(email: str) -> None:
    """In the log of each team of the account; an address that nobody has belongs to no team."""
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
