"""A pair with very many messages: a step of it reads only what it shows, and equal problems are counted, not listed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.chains.models import Chain
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.paths import Path
from chainviz.store.content import message_reader
from chainviz.store.content.chain import StoredChain
from chainviz.store.history.drafts import add_step, current, head_of, start_draft
from chainviz.store.history.steps import NewStep
from chainviz.store.models import History
from chainviz.store.outline.build import compute
from chainviz.store.outline.rules.problem_rules import LISTED
from chainviz.store.query.problems import ProblemFilter, problems
from tests.chains.making import ai, human, make_chain, result

pytestmark = pytest.mark.django_db

MEMBERS = 600


@pytest.fixture
def one_call() -> Chain:
    """A chain with one call that has many results."""
    return make_chain([human("Go"), ai(None, ("a", "look", {})), *(result("a", f"result {i}") for i in range(MEMBERS))])


@pytest.fixture
def many_calls() -> Chain:
    calls = [(f"c{i}", "look", {"number": i}) for i in range(MEMBERS)]
    return make_chain([human("Go"), ai(None, *calls), *(result(id, f"result of {id}") for id, _, _ in calls)])


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many messages each read took from the database."""
    numbers: list[int] = []
    select = message_reader._select

    def counted(*args: Any) -> Any:
        rows = select(*args)
        numbers.append(len(rows))
        return rows

    monkeypatch.setattr(message_reader, "_select", counted)
    return numbers


@pytest.mark.parametrize("address", ["", "at/s1.p1", "node/s1.p1", "node/s1.p1?from=400", "inspect/s1.p1"])
@pytest.mark.parametrize("kind", ["one_call", "many_calls"])
def test_a_view_reads_few_messages(request: Any, client: Client, read: list[int], kind: str, address: str) -> None:
    chain = request.getfixturevalue(kind)
    read.clear()
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(f"/c/{chain.pk}/v/1/{address}")
    assert answer.status_code == 200
    assert sum(read) <= 300
    assert len(queries) <= 25
    assert len(answer.content) <= 100_000


def test_each_call_stands_beside_its_result(client: Client, many_calls: Chain) -> None:
    page = client.get(f"/c/{many_calls.pk}/v/1/node/s1.p1?from=401").content.decode()
    assert "result of c400" in page and "result of c399<" not in page
    assert page.index("result of c400") < page.index("c401")


def test_a_result_in_the_wrong_place_is_shown_there(client: Client) -> None:
    calls = [(f"c{i}", "look", {}) for i in range(300)]
    results = [result(id, f"says {id}") for id, _, _ in calls]
    results[7], results[90] = results[90], results[7]
    chain = make_chain([human("Go"), ai(None, *calls), *results])
    page = client.get(f"/c/{chain.pk}/v/1/node/s1.p1?from=8").content.decode()
    assert "says c90<" in page and "says c7<" not in page


def test_every_message_of_a_pair_can_be_reached(client: Client, one_call: Chain) -> None:
    last = f"s1.p1.m{MEMBERS}.c0"
    page = client.get(f"/c/{one_call.pk}/v/1/node/s1.p1?part={last}").content.decode()
    assert f"result {MEMBERS - 1}<" in page


def test_equal_problems_are_counted_exactly(client: Client, one_call: Chain) -> None:
    stored = StoredChain(head_of(History(pk=one_call.history)).snapshot)
    found = problems(stored, wanted=ProblemFilter(""))
    assert found.total == MEMBERS - 1
    assert len(found.problems) == LISTED
    assert sum(1 + problem.alike for problem in found.problems) == MEMBERS - 1
    page = client.get(f"/c/{one_call.pk}/v/1/problems").content.decode()
    assert f"{MEMBERS - 1 - LISTED:,} more like this in 1.1" in page


def test_an_edit_counts_them_as_a_new_outline_does(one_call: Chain) -> None:
    draft = start_draft(head_of(History(pk=one_call.history)), author="me")
    add_step(draft, NewStep([Splice(300, 200, ())], "edit"))
    stored = StoredChain(current(draft))
    rebuilt, _ = compute(current(draft))
    assert stored.outline.listing == rebuilt
    assert problems(stored, Path(1), wanted=ProblemFilter("")).total == MEMBERS - 201
