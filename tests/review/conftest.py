from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member
from tests.chains.making import STORY, make_chain


@dataclass(frozen=True)
class Room:
    """A team with a chain that its editor Ivo uploaded, and four members."""

    team: Team
    chain: Chain
    lin: Membership
    ivo: Membership
    mei: Membership
    sam: Membership

    def client(self, member: Membership) -> Client:
        return client_of(member)

    @property
    def page(self) -> str:
        return f"/c/{self.chain.pk}/review/"


@pytest.fixture
def room(team_mode: Team) -> Any:  # noqa: F811
    chain = make_chain(STORY)
    names = {"Lin": Role.OWNER, "Ivo": Role.EDITOR, "Mei": Role.COMMENTER, "Sam": Role.VIEWER}
    members = {name.lower(): make_member(team_mode, name, role) for name, role in names.items()}
    return Room(team_mode, chain, **members)
