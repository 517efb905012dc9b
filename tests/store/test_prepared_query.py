"""A prepared query gives what its queryset gives, with each of its parameters, in each thread."""

from __future__ import annotations

from threading import Thread

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import Membership, local_member
from chainviz.accounts.permissions import Role
from chainviz.store.prepared_query import PreparedQuery

pytestmark = pytest.mark.database


def members(team: int, user: int) -> object:
    chosen = Membership.objects.filter(role=Role.OWNER, user=user, team=team)
    return chosen.select_related("team").annotate(again=F("user_id")).order_by("pk")


@pytest.mark.django_db
def test_it_gives_what_the_queryset_gives() -> None:
    me = local_member()
    prepared = PreparedQuery[Membership](members)  # type: ignore[arg-type]
    for team, user in ((me.team_id, me.user_id), (me.team_id, me.user_id + 1), (me.team_id + 1, me.user_id)) * 2:
        assert prepared(team, user) == list(members(team, user))  # type: ignore[call-overload]
    with CaptureQueriesContext(connection) as queries:
        found = prepared(me.team_id, me.user_id)[0]
        assert (found.team.name, found.again) == (me.team.name, me.user_id)  # type: ignore[attr-defined]
    assert len(queries) == 1


@pytest.mark.django_db
def test_no_row_has_a_number_that_the_database_does_not_know() -> None:
    assert PreparedQuery[Membership](members)(1, 10**30) == []  # type: ignore[arg-type]


@pytest.mark.django_db(transaction=True)
def test_each_thread_uses_its_own_connection() -> None:
    me = local_member()
    prepared = PreparedQuery[Membership](members)  # type: ignore[arg-type]
    found = [prepared(me.team_id, me.user_id)]

    def ask() -> None:
        found.append(prepared(me.team_id, me.user_id))
        connection.close()

    threads = [Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[me]] * 4
