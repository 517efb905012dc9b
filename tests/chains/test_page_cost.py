"""The cost of the main pages: statements, rows read and bytes sent. It must not grow with the chain. Raise a number here only for a reason
that the commit message gives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import local_owner
from chainviz.chains.models import Chain
from chainviz.core.operations.edit import Edit, EditOptions
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import target_of_version
from chainviz.store.content.at_hand import forget
from tests.chains.making import ai, human, make_chain, result
from tests.drafts.pages import fields_of
from tests.review.test_places import apply, thread_on

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}
PAGES = {
    # page: statements, rows, bytes; statements for the next person, who gets what is drawn already
    "explorer": ("", {}, 9, 60, 45_000, 6),
    "explorer, a node": ("at/s2.p3", {}, 9, 100, 46_000, 9),
    "window": ("rows?from=s2&dir=down", FRAGMENT, 8, 36, 24_500, 5),
    "node": ("node/s2.p3", FRAGMENT, 8, 12, 3_500, 5),
    "inspector": ("inspect/s2.p3", FRAGMENT, 6, 11, 5_000, 6),
}
DRAFT = 4
"""The statements that a draft costs more, and its rows. What is drawn of it does not stay in memory."""


def length(page: bytes) -> int:
    """Return the length of a page in whose addresses each chain and each draft has the number 1: others have run tests before this."""
    return len(re.sub(rb"/([cd])/\d+/", rb"/\1/1/", page))


class Cost:
    statements = rows = size = 0


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cost]:
    cost = Cost()

    def counting(name: str) -> Any:
        def fetch(self: CursorWrapper, *args: Any) -> Any:
            with self.db.wrap_database_errors:
                found = getattr(self.cursor, name)(*args)
            cost.rows += len(found)
            return found

        return fetch

    with monkeypatch.context() as patch, CaptureQueriesContext(connection) as queries:
        for name in ("fetchmany", "fetchall"):
            patch.setattr(CursorWrapper, name, counting(name), raising=False)
        yield cost
    cost.statements = len(queries)


def work(sections: int) -> Chain:
    """A chain with results of real size, in every state: two versions, a draft, a thread."""
    messages = [human("Fix the build.")]
    for s in range(sections):
        for p in range(70):
            messages += [ai(None, (f"c{s}.{p}", "bash", {"command": f"make {p}"})), result(f"c{s}.{p}", f"line {p}\n" * 300)]
        messages += [ai("## Done\n\n" + "It builds now. " * 60), human("And the tests? " * 20)]
    chain = make_chain(messages)
    apply(chain, "edit", path="s1.p2.m1.c0", action="result", text="Another text.")
    thread_on(chain, "s1.h.m0", version=2)
    change(target_of_version(chain, 2, local_owner()), Edit(), EditOptions(path="s2.p3.m1.c0", action="result", text="A third text."))
    return chain


@pytest.mark.parametrize("sections", [4, 12])
def test_pages_cost_the_same_at_any_length(sections: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = work(sections)
    version, draft = f"/c/{chain.pk}/v/2/", f"/c/{chain.pk}/d/{Draft.objects.open().get(chain=chain).pk}/explore/"
    for page, (address, headers, statements, rows, size, again) in PAGES.items():
        for base, more, bounds in ((version, 0, (statements, again)), (draft, DRAFT, (statements + DRAFT,))):
            with transaction.atomic():  # each page is the first after the one that opens the chain
                forget()
                Client().get(base)  # stores what is worked out once
                if base == version:
                    forget()
                for most in bounds:
                    with counted(monkeypatch) as cost:
                        answer = Client().get(base + address, headers=headers)
                    assert answer.status_code == 200
                    found, limits = (cost.statements, cost.rows, length(answer.content)), (most, rows + more, size)
                    assert all(each <= limit for each, limit in zip(found, limits, strict=True)), (page, base, found, limits)
                transaction.set_rollback(True)


def test_an_edit_reads_a_few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for sections in (4, 12):
        chain = work(sections)
        draft = Draft.objects.open().get(chain=chain)
        address = f"/c/{chain.pk}/edit/s3.p5?draft={draft.pk}"
        form = {**fields_of(Client().get(address).content.decode()), "s3-p5-m1-c0-text": "A fourth text."}
        with counted(monkeypatch) as cost:
            assert Client().post(address, form, headers=FRAGMENT).status_code == 200
        assert (cost.statements <= 20, cost.rows <= 29) == (True, True), (cost.statements, cost.rows)


def test_undo_and_redo_read_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = work(4)
    address = f"/c/{chain.pk}/d/{Draft.objects.open().get(chain=chain).pk}/"
    for act in ("undo", "redo"):
        with counted(monkeypatch) as cost:
            assert Client().post(address + act, headers=FRAGMENT).status_code == 200
        assert (cost.statements <= 11, cost.rows <= 8) == (True, True), (act, cost.statements, cost.rows)


def test_the_library_asks_no_query_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = []
    for _ in range(2):
        for _ in range(4):
            make_chain([human("Fix the build."), ai("Done.")])
        Client().get("/")
        with counted(monkeypatch) as cost:
            costs.append((len(Client().get("/").content), cost))
    assert costs[0][1].statements == costs[1][1].statements <= 23


def test_sums_of_the_library_read_an_index_and_no_long_rows() -> None:
    make_chain([human("Fix the build."), ai("Done.")])
    with CaptureQueriesContext(connection) as queries:
        Client().get("/")
    asked = [each["sql"] for each in queries if 'FROM "chains_chain" WHERE' in each["sql"]]
    sums = [sql for sql in asked if any(word in sql for word in ("total_messages", "binned", "ROW_NUMBER", "DISTINCT"))]
    assert len(sums) == 3
    for sql in sums:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            assert any("COVERING INDEX chain_totals" in row[3] for row in cursor.fetchall()), sql


def test_sums_of_sessions_read_an_index_and_no_long_rows() -> None:
    make_chain([human("Fix the build."), ai("Done.")])
    for address, least in (("/", 3), ("/overview/?since=all", 1)):
        with CaptureQueriesContext(connection) as queries:
            Client().get(address)
        asked = [each["sql"] for each in queries if 'FROM "sessions_index_session" WHERE' in each["sql"]]
        sums = [sql for sql in asked if "COUNT(" in sql or "SUM(" in sql]
        assert len(sums) >= least
        for sql in sums:
            with connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
                plan = [row[3] for row in cursor.fetchall()]
            assert any("COVERING INDEX session_" in step for step in plan), (sql, plan)
