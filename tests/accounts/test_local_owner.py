from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import Membership, Team, User, local_owner
from chainviz.accounts.permissions import Role


@pytest.mark.database
@pytest.mark.django_db
def test_whoever_opens_a_page_is_the_owner_of_the_one_team(client: Client) -> None:
    for _ in range(2):
        assert client.get("/").wsgi_request.user == local_owner()
    assert User.objects.count() == Team.objects.count() == 1
    assert Membership.objects.get().role == Role.OWNER
    assert not local_owner().has_usable_password()


@pytest.mark.django_db
def test_a_page_that_needs_no_person_asks_the_database_nothing(client: Any, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        client.get("/nothing")
