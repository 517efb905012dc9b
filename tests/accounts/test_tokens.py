"""API tokens: how they are made, stored and revoked, and that they never exceed their person."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone

from chainviz.accounts.members import make_token
from chainviz.accounts.models import ApiToken, AuditRow, Membership, Team
from chainviz.accounts.permissions import PERMISSIONS, SCOPES, Role
from chainviz.accounts.tokens import create_token, find_token
from tests.accounts.people import client_of, make_member

pytestmark = [pytest.mark.django_db, pytest.mark.database]
FORM = {"name": "Nightly upload", "scopes": ["write", "export"], "days": "30"}


def token_in(answer: Any) -> str:
    found = re.search(r"<code>(cvz_[\w-]+)</code>", answer.content.decode())
    assert found is not None
    return found[1]


def test_a_token_is_shown_once_and_stored_as_a_digest(team_mode: Team) -> None:
    client = client_of(make_member(team_mode, "Ivo", Role.EDITOR))
    token = token_in(client.post("/account/tokens/", FORM))

    stored = ApiToken.objects.get()
    assert len(token) >= len("cvz_") + 128 / 6, "128 bits in an alphabet of 64"
    assert token not in str(list(ApiToken.objects.values())) + str(list(AuditRow.objects.values()))
    assert (stored.name, stored.scopes, token.startswith(stored.beginning)) == ("Nightly upload", "write export", True)
    assert timedelta(days=29) < stored.expires_at - timezone.now() <= timedelta(days=30)
    page = client.get("/account/tokens/").content.decode()
    assert token not in page
    assert "Nightly upload" in page
    row = AuditRow.objects.get()
    assert (row.act, row.facts) == ("accounts:tokens", {"token": stored.pk, "scopes": "write export", "days": 30})


@pytest.mark.parametrize("wrong", [{"name": ""}, {"scopes": []}, {"scopes": ["everything"]}, {"days": "9999"}])
def test_a_form_that_says_too_little_makes_no_token(team_mode: Team, wrong: dict[str, Any]) -> None:
    answer = client_of(make_member(team_mode, "Ivo", Role.EDITOR)).post("/account/tokens/", {**FORM, **wrong})
    assert answer.status_code == 422
    assert "field-error" in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_token_ends_when_it_is_revoked_or_expires_or_its_person_leaves(team_mode: Team) -> None:
    member = make_member(team_mode, "Ivo", Role.EDITOR)
    client = client_of(member)

    def ends_by(end: Any) -> bool:
        _, token = create_token(member, "one", ["read"], 30)
        found = find_token(token)
        assert found is not None
        end(found)
        return find_token(token) is None

    assert ends_by(lambda found: client.post(f"/account/tokens/{found.pk}/revoke/"))
    assert ends_by(lambda found: ApiToken.objects.filter(pk=found.pk).update(expires_at=timezone.now()))
    assert ends_by(lambda found: Membership.objects.filter(pk=member.pk).update(removed_at=timezone.now()))
    Membership.objects.filter(pk=member.pk).update(removed_at=None)
    assert ends_by(lambda found: type(member.user).objects.filter(pk=member.user_id).update(is_active=False))
    assert find_token("cvz_unknown") is None


def test_the_use_of_a_token_that_ended_is_recorded_once_a_minute(team_mode: Team) -> None:
    row, token = create_token(make_member(team_mode, "Ivo", Role.EDITOR), "one", ["read"], 30)
    ApiToken.objects.update(revoked_at=timezone.now())
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert [program.get("/api/v1/chains").status_code for _ in range(3)] == [401] * 3
    Client(headers={"Authorization": "Bearer cvz_unknown"}).get("/api/v1/chains")
    recorded = AuditRow.objects.get()
    assert (recorded.act, recorded.outcome, recorded.who, recorded.facts) == (
        "api:chains", "refused", row.membership.user, {"token": row.pk},
    )  # fmt: skip
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    program.get("/api/v1/chains")
    assert AuditRow.objects.count() == 2


def test_a_token_is_revoked_by_its_person_only(team_mode: Team) -> None:
    create_token(make_member(team_mode, "Ivo", Role.EDITOR), "one", ["read"], 30)
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    assert owner.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404
    assert "one" not in owner.get("/account/tokens/").content.decode().partition("<main")[2].partition("New token")[2]


@pytest.mark.parametrize("role", Role)
def test_a_token_never_exceeds_the_role_of_its_person(team_mode: Team, role: Role) -> None:
    member = make_member(team_mode, "Ivo", role)
    found = find_token(create_token(member, "all", list(SCOPES), 30)[1])
    assert found is not None
    member.token = found
    assert member.permissions == PERMISSIONS[role] & frozenset().union(*SCOPES.values())
    assert "purge" not in member.permissions


def test_the_use_of_a_token_is_noted_once_a_minute(team_mode: Team) -> None:
    _, token = create_token(make_member(team_mode, "Ivo", Role.EDITOR), "one", ["read"], 30)
    find_token(token)
    first = ApiToken.objects.get().last_used_at
    find_token(token)
    assert first is not None
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    find_token(token)
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    assert noted >= first


def test_local_mode_has_tokens_too(client: Client) -> None:
    token = token_in(client.post("/account/tokens/", FORM))
    found = find_token(token)
    assert found is not None
    assert found.membership.role == Role.OWNER
    assert "API tokens" in client.get("/account/tokens/").content.decode()


def test_the_server_makes_a_token_for_a_member(team_mode: Team) -> None:
    make_member(team_mode, "Ivo", Role.EDITOR)
    found = find_token(make_token("CI", ["write"], 30, "IVO@example.org"))
    assert found is not None
    assert (found.membership.user.first_name, AuditRow.objects.get().act) == ("Ivo", "token")
    with pytest.raises(ValidationError, match="There is no member"):
        make_token("CI", ["write"], 30, "nobody@example.org")
