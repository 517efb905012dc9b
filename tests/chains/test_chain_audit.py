"""The audit of a chain: later facts are rows of their own, and no row is ever changed."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import local_owner
from chainviz.chains import audit as audit
from chainviz.chains.fsck import fsck_library
from chainviz.chains.models import AuditEntry, AuditFact, Chain
from chainviz.purge.values import blank_rows
from chainviz.store.purge.blanking import Blanks
from chainviz.store.purge.values import Reach
from tests.chains.making import STORY, make_chain

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MASKED = {"rows": [], "strategy": "mask", "declined": 0}


@pytest.fixture
def chain(client: Client) -> Chain:
    return make_chain(STORY)


def noted(chain: Chain) -> AuditEntry:
    return audit.note(chain, local_owner(), "mask", MASKED, version=1, draft_key=7)


def test_what_becomes_known_later_changes_no_row(chain: Chain, client: Client) -> None:
    for _ in range(2):
        noted(chain)
    before = list(AuditEntry.objects.order_by("pk").values())

    audit.took_place(7, 0)
    audit.draft_became(7, discarded=True)
    audit.draft_became(7)
    audit.draft_saved(7, 2, ["mask"])

    assert list(AuditEntry.objects.order_by("pk").values()) == before
    assert AuditFact.objects.count() == 7
    assert [each.record for each in AuditEntry.objects.order_by("pk")] == [
        {**MASKED, "became": {"saved_as": 2}},
        {**MASKED, "step": 0, "became": {"saved_as": 2}},
    ]
    assert "saved as version 2" in client.get(f"/c/{chain.pk}/audit/").content.decode()
    assert not list(fsck_library())


def test_the_database_refuses_to_change_entries_and_facts(chain: Chain) -> None:
    audit.add(noted(chain).pk, left="nothing")
    for rows in (AuditEntry.objects.all(), AuditFact.objects.all()):
        for change in (lambda rows=rows: rows.update(packed=b""), lambda rows=rows: rows._raw_delete(rows.db)):
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                change()


def test_fsck_misses_a_fact_that_is_gone(chain: Chain) -> None:
    audit.add(noted(chain).pk, left="nothing")
    with transaction.atomic():
        table = AuditFact._meta.db_table
        with connection.cursor() as cursor:
            trigger = f"append_only ON {table}" if connection.vendor == "postgresql" else f"{table}_no_delete"
            cursor.execute(f"DROP TRIGGER {trigger}")
            cursor.execute(f"DELETE FROM {table}")
        assert "1 rows instead of 2" in " ".join(each.text for each in fsck_library())
        transaction.set_rollback(True)


def test_a_purge_still_reaches_names_of_tools(chain: Chain) -> None:
    audit.note(chain, local_owner(), "redact", {"rows": [{"tool": "lookup_anna"}]}, version=1)
    blank_rows(Reach(frozenset({chain.history}), frozenset(), 0), (), Blanks(["anna"]))
    assert "anna" not in str(AuditEntry.objects.get().record)
    assert not [each for each in fsck_library() if "ntry" in each.text]


def test_facts_of_a_page_of_entries_cost_one_statement(chain: Chain, client: Client) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/c/{chain.pk}/audit/")
        return len(queries)

    noted(chain)
    first = statements()
    for _ in range(3):
        noted(chain)
    assert statements() == first
