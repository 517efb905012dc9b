"""People of team mode for tests: accounts, memberships and signed-in clients."""

from __future__ import annotations

from django.test import Client

from chainviz.accounts.models import Membership, Team, User
from chainviz.accounts.permissions import Role

PASSWORD = "a drill for every wall"


def make_user(name: str) -> User:
    address = f"{name.lower()}@example.org"
    return User.objects.create_user(username=address, email=address, password=PASSWORD, first_name=name)


def make_member(team: Team, name: str, role: Role) -> Membership:
    return Membership.objects.create(team=team, user=make_user(name), role=role)


def make_team(name: str) -> Team:
    return Team.objects.create(name=name, store_name=f"team:{name}")


def client_of(member: Membership) -> Client:
    client = Client()
    client.force_login(member.user)
    return client
