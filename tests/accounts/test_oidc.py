"""Sign-in with an OpenID Connect provider: who comes in, and every lie that must not open an account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("allauth")
import jwt
from django.conf import settings as django_settings
from django.contrib.sessions.models import Session
from django.test import Client

from chainviz.accounts import views
from chainviz.accounts.members import invite
from chainviz.accounts.models import AuditRow, Invitation, Membership, SignInAttempt, Team, User
from chainviz.accounts.permissions import Role
from chainviz.settings import OIDC_APPS, OIDC_MIDDLEWARE
from tests.accounts.oidc_provider import CLIENT, OTHER_KEY, SECRET, Claims, Provider, running
from tests.accounts.people import PASSWORD, make_member, make_team
from tests.accounts.test_settings_of_team_mode import SITE, run

pytestmark = [pytest.mark.django_db]
LIN = {"email": "Lin@example.org", "email_verified": True, "name": "Lin Castro"}


@pytest.fixture
def provider(team_mode: Team, settings: Any) -> Iterator[Provider]:
    with running() as found:
        settings.CHAINVIZ = settings.CHAINVIZ.model_copy(
            update={"oidc_issuer": found.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET, "oidc_name": "Northfell ID"}
        )
        settings.MIDDLEWARE = [*settings.MIDDLEWARE, *OIDC_MIDDLEWARE]
        settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, *OIDC_APPS]
        found.person = dict(LIN)
        yield found


@pytest.fixture
def lin(team_mode: Team) -> Membership:
    return make_member(team_mode, "Lin", Role.EDITOR)


def come_back(client: Client, provider: Provider, next_page: str = "") -> Any:
    """Presses the button, signs in there, and returns what the way back answers."""
    start = client.get("/sign-in/oidc/", {"next": next_page} if next_page else {})
    assert start.status_code == 302, start.content
    back = urlsplit(provider.visit(start["Location"]))
    assert f"{back.scheme}://{back.netloc}" == "https://chainviz.example.org"
    return client.get(f"{back.path}?{back.query}")


def is_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_a_member_comes_in_and_out(provider: Provider, lin: Membership, client: Client) -> None:
    page = client.get("/sign-in/?next=/bin/").content.decode()
    assert 'href="/sign-in/oidc/?next=%2Fbin%2F"' in page and "Sign in with Northfell ID" in page

    answer = come_back(client, provider, "/bin/")
    assert (answer.status_code, answer["Location"]) == (302, "/bin/")
    assert client.get("/").wsgi_request.user == lin.user
    assert not SignInAttempt.objects.exists()
    row = AuditRow.objects.latest("number")
    assert (row.act, row.outcome, row.who) == ("accounts:oidc_callback", "done", lin.user)

    asked = provider.asked
    assert (asked["response_type"], asked["code_challenge_method"], asked["client_id"]) == ("code", "S256", CLIENT)
    assert set(asked["scope"].split()) == {"openid", "email", "profile"}
    assert len(asked["state"]) >= 16 and len(asked["nonce"]) >= 32
    assert client.post("/sign-out/").status_code == 303 and not is_in(client)


def test_a_password_and_a_removal_end_this_session_too(provider: Provider, lin: Membership, client: Client) -> None:
    come_back(client, provider)
    other = Client()
    other.post("/sign-in/", {"email": "lin@example.org", "password": PASSWORD})
    other.post("/account/", {"current_password": PASSWORD, "new_password": "another long password"})
    assert (is_in(client), is_in(other)) == (False, True)
    come_back(client, provider)
    Membership.objects.filter(pk=lin.pk).update(removed_at=lin.joined_at)
    assert client.get("/").status_code == 404


def lies(**changed: Any) -> Callable[[Claims], Claims]:
    return lambda claims: {name: value for name, value in {**claims, **changed}.items() if value is not None}


@pytest.mark.parametrize(
    "lie",
    [
        lies(aud="another application"),
        lies(aud=[CLIENT, "another application"], azp="another application"),
        lies(iss="https://evil.example"),
        lies(nonce="of another sign-in"),
        lies(nonce=None),
        lies(exp=1),
        lies(exp=None),
        lies(sub=None),
        lies(email_verified=False),
        lies(email_verified=None),
        lies(email_verified="false"),
        lies(email_verified="true"),
        lies(email="lin@example.org\0"),
        lies(email=None),
        lies(email=["lin@example.org"]),
    ],
)
def test_a_token_that_is_not_right_opens_nothing(
    provider: Provider, lin: Membership, client: Client, lie: Callable[[Claims], Claims]
) -> None:
    provider.lie = lie
    answer = come_back(client, provider)
    assert answer.status_code == 403 and not is_in(client)
    assert 'role="alert"' in answer.content.decode()


@pytest.mark.parametrize(
    "sign",
    [
        lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "one"}),
        lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "two"}),
        lambda claims: jwt.encode(claims, OTHER_KEY, "RS256"),
        lambda claims: jwt.encode(claims, None, "none", {"kid": "one"}),
        lambda claims: jwt.encode(claims, SECRET * 4, "HS256", {"kid": "one"}),
        lambda claims: "nonsense",
    ],
)
def test_a_signature_of_somebody_else_opens_nothing(
    provider: Provider, lin: Membership, client: Client, sign: Callable[[Claims], str]
) -> None:
    provider.sign = sign
    assert come_back(client, provider).status_code == 403 and not is_in(client)


def test_an_unverified_address_is_told_to_the_owners(provider: Provider, lin: Membership, client: Client) -> None:
    provider.person["email_verified"] = False
    page = come_back(client, provider).content.decode()
    assert "Northfell ID has not verified your e-mail address." in page
    row = AuditRow.objects.latest("number")
    assert (row.act, row.outcome, row.who, "lin@example.org" in row.details) == ("accounts:oidc_callback", "refused", None, True)


def test_strangers_and_removed_members_stay_outside(provider: Provider, lin: Membership, client: Client) -> None:
    provider.person["email"] = "sam@example.org"
    page = come_back(client, provider)
    assert (page.status_code, "sam@example.org is not a member" in page.content.decode()) == (403, True)
    assert not User.objects.filter(username="sam@example.org").exists() and not AuditRow.objects.exists()

    provider.person["email"] = "lin@example.org"
    Membership.objects.filter(pk=lin.pk).update(removed_at=lin.joined_at)
    assert come_back(client, provider).status_code == 403
    assert AuditRow.objects.get().outcome == "refused"
    User.objects.filter(pk=lin.user_id).update(is_active=False)
    invite(make_member(lin.team, "Ada", Role.OWNER), "lin@example.org", Role.VIEWER)
    assert come_back(client, provider).status_code == 403, "an account that is switched off stays so"


def test_who_is_invited_becomes_a_member(provider: Provider, team_mode: Team, client: Client) -> None:
    owner = make_member(team_mode, "Ada", Role.OWNER)
    invite(owner, "lin@example.org", Role.COMMENTER)
    elsewhere = make_member(make_team("Elsewhere"), "Sam", Role.OWNER)
    invite(elsewhere, "lin@example.org", Role.VIEWER)
    Invitation.objects.filter(team=elsewhere.team).update(expires_at=owner.joined_at)
    provider.person["name"] = "Lin\r\n Castro"

    assert come_back(client, provider).status_code == 302
    lin = Membership.objects.get(user__username="lin@example.org")
    assert (lin.team, lin.role, lin.user.display_name) == (team_mode, Role.COMMENTER, "Lin Castro")
    assert not lin.user.has_usable_password()
    assert Invitation.objects.get(team=team_mode).accepted_at is not None
    assert "Change password" not in client.get("/account/").content.decode()
    assert Client().post("/sign-in/", {"email": "lin@example.org", "password": ""}).status_code == 422


def test_the_address_may_be_in_the_user_info_of_the_same_person(provider: Provider, lin: Membership, client: Client) -> None:
    provider.lie = lies(email=None, email_verified=None)
    provider.userinfo = {**LIN, "sub": "8"}
    assert come_back(client, provider).status_code == 403
    provider.userinfo["sub"] = "7"
    assert come_back(client, provider).status_code == 302 and is_in(client)


@pytest.mark.parametrize("page", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
def test_it_never_leads_to_another_site(provider: Provider, lin: Membership, client: Client, page: str) -> None:
    assert come_back(client, provider, page)["Location"] == "/"


def test_the_way_back_works_once_and_in_one_browser(provider: Provider, lin: Membership, client: Client) -> None:
    back = urlsplit(provider.visit(client.get("/sign-in/oidc/")["Location"]))
    way = f"{back.path}?{back.query}"
    assert Client().get(way).status_code == 403, "another browser does not know the state"
    assert client.get(f"{back.path}?code=a-code").status_code == 403
    assert client.get(way).status_code == 302
    assert client.get(way).status_code == 403
    state = parse_qs(urlsplit(client.get("/sign-in/oidc/")["Location"]).query)["state"][0]
    refused = client.get(back.path, {"state": state, "error": "access_denied"})
    assert (refused.status_code, "did not sign you in" in refused.content.decode()) == (403, True)


def test_beginning_is_throttled(provider: Provider, lin: Membership, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "LIMITS", {"account": 10, "client": 2})
    assert [client.get("/sign-in/oidc/").status_code for _ in range(3)] == [302, 302, 429]


def test_a_provider_that_is_away_or_calls_itself_otherwise_is_one_sentence(provider: Provider, lin: Membership, client: Client) -> None:
    provider.config_lies = {"issuer": "https://evil.example"}
    assert client.get("/sign-in/oidc/").status_code == 503
    provider.config_lies, provider.is_down = {}, True
    answer = client.get("/sign-in/oidc/")
    assert (answer.status_code, "does not answer as expected" in answer.content.decode()) == (503, True)


def test_without_a_provider_there_is_no_such_page(team_mode: Team, client: Client) -> None:
    assert [client.get(f"/sign-in/oidc/{page}").status_code for page in ("", "callback/")] == [404, 404]
    assert "/sign-in/oidc/" not in client.get("/sign-in/").content.decode()
    assert not set(OIDC_APPS) & set(django_settings.INSTALLED_APPS) and not Session.objects.exists()


OIDC = {"CHAINVIZ_OIDC_ISSUER": "https://id.example.org", "CHAINVIZ_OIDC_CLIENT_ID": "chainviz"}


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (OIDC, 0, "no issues"),
        ({**OIDC, "CHAINVIZ_OIDC_CLIENT_ID": ""}, 2, "name the client"),
        ({**OIDC, "CHAINVIZ_OIDC_ISSUER": "http://id.example.org"}, 2, "begins with https://"),
        ({**OIDC, "CHAINVIZ_OIDC_CLIENT_SECRET_FILE": "/nowhere"}, 2, "cannot be read"),
    ],
)
def test_its_settings_are_checked(tmp_path: Any, given: dict[str, str], code: int, said: str) -> None:
    ended = run(tmp_path, "check", "--deploy", "--fail-level", "DEBUG", **SITE, **given)
    assert (ended.returncode, said in ended.stdout + ended.stderr) == (code, True), ended.stderr
