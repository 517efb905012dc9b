"""Identify the person who sends a request, and check that their role allows it.

In local mode, the person is always the owner, and no session is written, so that reading a page writes nothing. Requests to the API have a
token instead. An API request without one comes from a page and, like any form, must prove that the page is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.http import urlencode

from chainviz.accounts.forms import SignInForm, TooLarge, keep
from chainviz.accounts.models import IdempotencyKey, Membership, local_member
from chainviz.accounts.permissions import Access, Permission, access_of, lowest_role, may, scope_of
from chainviz.accounts.tokens import find_token, note_refused
from chainviz.core.errors import Refused
from chainviz.store.prepared_query import PreparedQuery
from chainviz.web.errors import sent_texts
from chainviz.web.http import wants_fragment
from chainviz.web.middleware import Middleware, json_error

CURRENT_TEAM = "team"
"""The session key of the team whose pages a person is viewing."""


class MemberMiddleware(Middleware):
    def process_view(self, request: HttpRequest, view: Callable[..., Any], args: Any, kwargs: Any) -> HttpResponse | None:
        is_local = settings.CHAINVIZ.mode == "local"
        access = access_of(view, request.method)
        if access is None or (is_local and getattr(view, "team_mode", False)):
            raise Http404
        if access == "public":
            return None
        if getattr(view, "takes_tokens", False):
            scheme, _, token = request.headers.get("Authorization", "").partition(" ")
            if scheme.lower() == "bearer":
                return _by_token(request, token.strip(), access)
            if not is_local and not request.user.is_authenticated:
                return json_error(401)
            refused = _forged(request)
            if refused is not None:
                return refused
        if is_local:
            member = local_member()
            request.member, request.user = member, member.user  # type: ignore[attr-defined]
            return None
        if not request.user.is_authenticated:
            return _to_sign_in(request, access)
        request.member = current_membership(request)  # type: ignore[attr-defined]
        return None if access == "account" else _checked(request, access)


def _by_token(request: HttpRequest, text: str, access: Access) -> HttpResponse | None:
    token = find_token(text)
    if token is None:
        match = request.resolver_match
        note_refused(text, match.view_name if match else "")
        return json_error(401, "This token is unknown, expired or revoked.")
    member = token.membership
    member.token = token
    request.member, request.user = member, member.user  # type: ignore[attr-defined]
    if access == "account" or access == "public" or member.may(access):
        return None
    if may(member.role, access):
        return json_error(403, f"The token does not have the scope “{scope_of(access)}”.", code="missing-scope")
    return json_error(403, f"Your role is {member.role}; this needs {lowest_role(access)}.", code="missing-role")


def _forged(request: HttpRequest) -> HttpResponse | None:
    """Return an error response if the request may come from another site's page; otherwise None."""
    check = CsrfViewMiddleware(_answer)
    check.process_request(request)
    return check.process_view(request, _answer, (), {})


def _answer(request: HttpRequest) -> HttpResponse:
    """A view that is not exempt from the check, unlike those of the API."""
    return HttpResponse()


_memberships = PreparedQuery(lambda person: Membership.objects.active().filter(user=person).select_related("team", "user").order_by("pk"))


def current_membership(request: HttpRequest) -> Membership | None:
    """Return the person's membership in the team of the session, or in their first team."""
    mine = _memberships(request.user.pk or 0)
    chosen = request.session.get(CURRENT_TEAM)
    return next((each for each in mine if each.team_id == chosen), mine[0] if mine else None)


def _former_membership(request: HttpRequest) -> Membership | None:
    """Return the person's former membership in the team of the session, or the one that ended last."""
    former = Membership.objects.filter(user=request.user.pk, removed_at__isnull=False).select_related("team", "user")
    chosen = request.session.get(CURRENT_TEAM)
    return former.filter(team=chosen).first() or former.order_by("-removed_at").first()


def _checked(request: HttpRequest, permission: Permission) -> HttpResponse | None:
    member: Membership | None = request.member  # type: ignore[attr-defined]
    if member is None:
        request.former_member = _former_membership(request)  # type: ignore[attr-defined]
        return render(request, "errors/404.html", {"has_no_team": True, "typed": sent_texts(request)}, status=404)
    return None if member.may(permission) else forbidden(request, member, permission)


def forbidden(request: HttpRequest, member: Membership, permission: Permission) -> HttpResponse:
    """Answer 403 and name the role that is needed. Views whose form decides what is needed call it too."""
    context = {"member": member, "needed": lowest_role(permission).label.lower(), "typed": sent_texts(request)}
    return render(request, "errors/403.html", context, status=403)


def _to_sign_in(request: HttpRequest, access: Access) -> HttpResponse:
    """Redirect to sign-in. A submitted form is kept in that page, except forms of the person's own account, which contain passwords."""
    address = reverse("accounts:sign_in")
    if wants_fragment(request):
        # the browser keeps the typed text of a form in a page, and signing in leads back to that page
        here = request.htmx.current_url_abs_path  # type: ignore[attr-defined]
        return HttpResponse(status=401, headers={"HX-Redirect": f"{address}?{urlencode({'next': here})}" if here else address})
    page = {"form": SignInForm()}
    try:
        kept = keep(request) if request.method == "POST" and access != "account" else ""
    except TooLarge:
        return render(request, "accounts/sign_in.html", {**page, "is_lost": True}, status=401)
    if kept:
        return render(request, "accounts/sign_in.html", {**page, "kept": kept}, status=401)
    asked = f"?{urlencode({'next': request.get_full_path()})}" if request.method == "GET" else ""
    return HttpResponse(status=302, headers={"Location": address + asked})


# Idempotency keys of requests that a program may repeat. A key is claimed before the work begins and finished in the transaction of
# the work, so a request that died has made nothing, and after `LONGEST` another request may claim its key. A unique column decides
# between several web processes.


KEPT_FOR = timedelta(hours=24)
LONGEST = timedelta(minutes=15)
"""The longest time for a request."""


class Lost(Refused):
    """Raised if another request has claimed the key, because this one took too long."""


def keyed_digest(*words: object) -> str:
    """Return a digest that depends on the secret key, so that nobody can confirm a guess of the content."""
    return salted_hmac("chainviz.idempotency", "\n".join(map(str, words)), algorithm="sha256").hexdigest()


def digest_of(member: Membership, key: str) -> str:
    """Return the digest of an idempotency key. Different tokens may use the same key."""
    return keyed_digest(member.pk, member.token.pk if member.token else 0, key)


def claim(digest: str, request_digest: str) -> tuple[IdempotencyKey, bool]:
    """Return the row of a key, and whether the request must be carried out now."""
    now = timezone.now()
    IdempotencyKey.objects.filter(digest=digest, at__lt=now - KEPT_FOR).delete()
    row, is_new = IdempotencyKey.objects.get_or_create(digest=digest, defaults={"request_digest": request_digest, "at": now})
    if is_new or row.request_digest != request_digest:
        return row, is_new
    died = IdempotencyKey.objects.filter(pk=row.pk, made__isnull=True, at__lt=now - LONGEST)
    is_taken_over = died.update(at=now) == 1
    row.at = now if is_taken_over else row.at
    return row, is_taken_over


def finish(row: IdempotencyKey, made: dict[str, Any]) -> None:
    """Store the result of a request, in the transaction of its work. Raises Lost, which rolls the transaction back."""
    if not IdempotencyKey.objects.filter(pk=row.pk, at=row.at, made__isnull=True).update(made=made):
        if transaction.get_connection().in_atomic_block:
            transaction.set_rollback(True)
        raise Lost("The request took too long, and another one with the same key started. Nothing was changed.")


def release(row: IdempotencyKey) -> None:
    """Release the key of a refused request, which made nothing and may be repeated."""
    IdempotencyKey.objects.filter(pk=row.pk, at=row.at, made__isnull=True).delete()


def forget_old() -> None:
    """Delete old keys. The worker calls this regularly."""
    IdempotencyKey.objects.filter(at__lt=timezone.now() - KEPT_FOR).delete()
