"""A person's API tokens in the team they look at: made, listed, revoked. Local mode has the page too."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_POST

from chainviz.accounts import tokens
from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.forms import TokenForm
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.web.responses import see_other


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def own_tokens(request: HttpRequest) -> HttpResponse:
    return _create(request) if request.method == "POST" else _page(request, TokenForm())


@recorded_together
def _create(request: HttpRequest) -> HttpResponse:
    """Answers with the page that shows the token: only its digest is stored, so this is the one time."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, form, 422)
    name, scopes, days = (form.cleaned_data[field] for field in ("name", "scopes", "days"))
    row, token = tokens.create_token(member_of(request), name, scopes, int(days))
    note(request, token=row.pk, scopes=" ".join(scopes), days=int(days))
    return _page(request, TokenForm(), token=token, created=name)


@requires("read")
@require_POST
@recorded_together
def revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    found = get_object_or_404(tokens.tokens_of(member_of(request)), pk=token_id)
    tokens.revoke(found)
    messages.success(request, f"The token “{found.name}” is revoked.")
    return see_other("accounts:tokens")


def _page(request: HttpRequest, form: TokenForm, status: int = 200, **more: object) -> HttpResponse:
    context = {"form": form, "tokens": tokens.tokens_of(member_of(request)), **more}
    return render(request, "accounts/tokens.html", context, status=status)
