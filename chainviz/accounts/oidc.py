"""Sign in with an OpenID Connect provider, and trust only its signed ID token.

django-allauth (the extra `chainviz[oidc]`) does discovery, state, PKCE and the code exchange, and reads the keys. None of its pages and
tables are used: an account belongs to the person with its e-mail address, after the provider has verified the address. This module is
imported only if a provider is configured.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import jwt
import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal import jwtkit, statekit
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from chainviz.core.errors import Refused

PROVIDER = "oidc"
ALGORITHMS = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
"""Accepted signature algorithms. All use a public key, because a signature with a shared key could be forged from public data."""
NEEDED = ("iss", "aud", "exp", "iat", "sub", "nonce")
FAULTS = (OAuth2Error, jwt.PyJWTError, requests.RequestException, KeyError, TypeError, ValueError, AttributeError)
"""The exceptions of allauth if a provider is unreachable or sends an invalid response."""


class NotSignedIn(Refused):
    """Raised if a person could not be signed in. Its text is shown to the person."""

    def __init__(self, text: str, email: str = "") -> None:
        super().__init__(text)
        self.email = email
        """The e-mail address from the provider, verified or not."""


@dataclass(frozen=True, slots=True)
class Identity:
    email: str
    name: str
    next_page: str


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    def get_provider(self) -> Provider:
        return Provider(self.request, app=_app())

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return settings.CHAINVIZ.base_url + reverse("accounts:oidc_callback")

    @property
    def openid_config(self) -> dict[str, Any]:
        found: dict[str, Any] = super().openid_config
        if str(found["issuer"]).rstrip("/") != settings.CHAINVIZ.oidc_issuer.rstrip("/"):
            raise OAuth2Error("The provider's name is not that of CHAINVIZ_OIDC_ISSUER.")
        return found


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    def get_oauth2_adapter(self, request: HttpRequest) -> Adapter:
        return Adapter(request, PROVIDER)


def _app() -> SocialApp:
    given = settings.CHAINVIZ
    return SocialApp(
        provider=OpenIDConnectProvider.id,
        provider_id=PROVIDER,
        name=given.oidc_name,
        client_id=given.oidc_client_id,
        secret=given.oidc_secret,
        settings={"server_url": given.oidc_issuer.rstrip("/"), "oauth_pkce_enabled": True},
    )


def begin(request: HttpRequest, next_page: str) -> HttpResponse:
    """Return a redirect to the provider. Raises NotSignedIn if it cannot be reached."""
    nonce = secrets.token_urlsafe(32)
    provider = Adapter(request, PROVIDER).get_provider()
    try:
        answer: HttpResponse = provider.redirect(
            request,
            process="login",
            next_url=next_page,
            data={"nonce": nonce},
            auth_params={"nonce": nonce},
            scope=["openid", "email", "profile"],
        )
    except FAULTS as fault:
        raise _away() from fault
    return answer


def finish(request: HttpRequest) -> Identity:
    """Return the person who came back from the provider. Raises NotSignedIn."""
    state = statekit.unstash_state(request, provider_id=PROVIDER, state_id=request.GET.get("state", ""))
    if state is None:
        raise NotSignedIn("This sign-in has expired or was started in another browser. Try again.")
    if "error" in request.GET or "code" not in request.GET:
        raise NotSignedIn(f"{settings.CHAINVIZ.oidc_name} did not sign you in.")
    try:
        claims = _claims(request, state)
    except FAULTS as fault:
        raise _away() from fault
    email = _address(claims)
    if not email or claims.get("email_verified") is not True:
        raise NotSignedIn(f"{settings.CHAINVIZ.oidc_name} has not verified your e-mail address.", email)
    return Identity(email, str(claims.get("name", "")), state.get("next", ""))


def _address(claims: dict[str, Any]) -> str:
    """Return the e-mail address from the provider; "" if there is none, or it is invalid."""
    address = str(claims.get("email", "")).strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address


def _claims(request: HttpRequest, state: dict[str, Any]) -> dict[str, Any]:
    adapter = Adapter(request, PROVIDER)
    client = adapter.get_client(request, _app())
    tokens = adapter.get_access_token_data(request, _app(), client, pkce_code_verifier=state["pkce_code_verifier"])
    claims = _verified(adapter, tokens["id_token"], state["data"]["nonce"])
    if "email" in claims or "userinfo_endpoint" not in adapter.openid_config:
        return claims
    asked = _userinfo(adapter, tokens["access_token"])
    if asked["sub"] != claims["sub"]:
        raise OAuth2Error("The user info is about somebody else.")
    return {**asked, **claims}


def _verified(adapter: Adapter, token: str, nonce: str) -> dict[str, Any]:
    if jwt.get_unverified_header(token).get("alg") not in ALGORITHMS:
        raise OAuth2Error("The ID token is not signed with a public key.")
    config, client_id = adapter.openid_config, settings.CHAINVIZ.oidc_client_id
    claims: dict[str, Any] = jwtkit.verify_and_decode(
        credential=token, keys_url=config["jwks_uri"], issuer=config["issuer"], audience=client_id, lookup_kid=jwtkit.lookup_kid_jwk
    )
    is_for_us = claims["aud"] in (client_id, [client_id]) or claims.get("azp") == client_id
    if any(name not in claims for name in NEEDED) or not is_for_us:
        raise OAuth2Error("The ID token is incomplete, or for another application.")
    if not constant_time_compare(str(claims["nonce"]), nonce):
        raise OAuth2Error("The ID token belongs to another sign-in.")
    return claims


def _userinfo(adapter: Adapter, access_token: str) -> dict[str, Any]:
    with get_adapter().get_requests_session() as session:
        answer = session.get(adapter.profile_url, headers={"Authorization": f"Bearer {access_token}"})
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
    return found


def _away() -> NotSignedIn:
    return NotSignedIn(f"{settings.CHAINVIZ.oidc_name} does not answer as expected. Try again later.")
