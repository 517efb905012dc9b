"""Every address of the application, found in its resolver, so that a new one is covered by itself: whatever stands in
an address or a form, the answer is a page or a refusal and never a fault; and looking changes nothing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from itertools import count, cycle, islice, product
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.http import QueryDict
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from chainviz.accounts.models import local_member
from chainviz.bulk.models import BulkRun
from chainviz.chains import audit as audit
from chainviz.chains.models import Arrival, AuditEntry, Chain, SavedFilter
from chainviz.chains.uploads import staging
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft, SummaryPiece
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.recipes.models import Recipe, WordList
from chainviz.store.models import Derived
from tests.accounts.access_rows import CALL
from tests.chains.files import lines, send, send_row
from tests.chains.making import STORY, human, long_story, make_chain
from tests.drafts.pages import fields_of, send_form
from tests.examples import IS_LONG
from tests.own_data import own_data_folder  # noqa: F401
from tests.sessions_index.claude_store import make_session

pytestmark = [pytest.mark.django_db, pytest.mark.database]

IS_SERVER = bool(settings.POSTGRESQL)
"""SQLite tries every value. PostgreSQL tries what it takes otherwise: numbers and texts that are too long, and NUL."""
HUGE = 10**30
ODD = [
    str(HUGE), "\0<b>'\"",
    *(() if IS_SERVER else ("", "-1", "999", "nonsense", "s1.p2", "s99.p99", "s1.p1.m1.c0", "²", "1e9", "x," * 3000)),
]  # fmt: skip
TRIES = 2 if IS_LONG and not IS_SERVER else 1
"""Values for each name of each page. The next name takes the following ones, so that all are tried on many pages."""
HOLES = 4 if IS_LONG else 1
"""Odd values for each named part of an address; the next part takes the following ones."""
ODD_PATHS = [
    "s1.p1.m1.c0", "s4.h.m0.c0", "s1", "s1.h.m0", f"s{HUGE}", "%00", "x" * 4000,
    *(() if IS_SERVER else ("s1.h", "s1.p1", "s0", "s9.p9", "s1.p1.m0.c99", "..", "p1", "²")),
]  # fmt: skip
ODD_NUMBERS = ["0", "2", "999", str(HUGE)]
ODD_FIELDS = [str(HUGE), "\0<b>'\"", "x," * 3000, *(() if IS_SERVER else ("", "s99.p99"))]
DOT = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEA/pnsWgAAAABJRU5ErkJggg=="
PLACEHOLDER = re.compile(r"<(?:(\w+):)?(\w+)>")
Known = dict[str, list[str]]
CHOSEN: dict[str, tuple[int, ...]] = {}
"""By route: which of the known values lead to something. The fixture makes the same things for each test."""


def routes(patterns: list[URLPattern | URLResolver] | None = None, before: str = "/") -> Iterator[str]:
    for each in get_resolver().url_patterns if patterns is None else patterns:
        here = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from routes(each.url_patterns, here)
        else:
            yield here


ROUTES = sorted(routes())
TEAM_MODE = re.compile(r"/(account|join|s|team)/|/sign-|/mcp|/metrics|/api/v1/(rules|sign-offs|.*/(review|verdicts|sign-off)(/|$))")
"""Local mode has no such page."""


@pytest.fixture
def known(client: Client) -> Known:
    """What the named parts of an address can be: the first of each leads to something that exists."""
    client.raise_request_exception = False
    picture = {"type": "image_url", "image_url": {"url": DOT}}
    chain = make_chain([*STORY, human([picture, {"type": "text", "text": "look\n" * 9_000}]), *long_story(2, 9)])
    make_chain([human("to be forgotten")], "binned.json")
    binned = Chain.objects.latest("pk")
    client.post("/bin/add/", {"chain": binned.pk})
    send_form(client, f"/c/{chain.pk}/repair/?v=1")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.get().pk}/save", {"note": "repaired"})
    send_form(client, f"/c/{chain.pk}/edit/s1.p2?v=2", s1__p2__m0__c0__text="Another drill.")
    draft = Draft.objects.latest("pk")
    send_form(client, f"/c/{chain.pk}/do/summarize/?v=1", writer="manual")
    piece = SummaryPiece.objects.earliest("pk")
    client.post(f"/c/{chain.pk}/v/1/certify/", {"recipient": "Vendor"})
    client.post("/recipes/word-lists/new/", {"name": "People", "words": "Anna"})
    client.post("/recipes/", {"name": "Vendor", "operation": "mask"})
    client.post("/filters/", {"name": "Depots", "query": "q=depot"})
    for act in ("export", "redact"):
        client.post("/bulk/", {"act": act, "chain": chain.pk})
    client.post(f"/bulk/{BulkRun.objects.earliest('pk').pk}/", {"do": "start"})
    run_waiting_jobs()
    rows = [["s1.p1.m1.c0", "E-mail in the content", 9, 7]] * 300
    audit.note(chain, None, "mask", {"rows": rows, "strategy": "mask", "declined": 0}, version=1)
    send(client, ("many.jsonl", lines(2)))
    send_row(client, "words.txt", b"only words")
    arrivals = [str(arrival.pk) for arrival in Arrival.objects.order_by("-state")]
    assert len(arrivals) == 2
    return {
        "chain_id": [str(chain.pk), str(binned.pk), *ODD_NUMBERS[2:]],
        "draft_id": [str(draft.pk), *ODD_NUMBERS[2:]],
        "certificate": ["1", *ODD_NUMBERS],
        "recipe_id": [str(Recipe.objects.get().pk), *ODD_NUMBERS],
        "position": ["1", *ODD_NUMBERS],
        "list_id": [str(WordList.objects.get().pk), *ODD_NUMBERS],
        "session_id": [str(make_session(local_member().team).pk), *ODD_NUMBERS],
        "filter_id": [str(SavedFilter.objects.get().pk), *ODD_NUMBERS],
        "bulk_id": [*(str(run.pk) for run in BulkRun.objects.order_by("pk")), *ODD_NUMBERS[2:]],
        "arrival_id": [*arrivals, *ODD_NUMBERS[2:]],
        "entry_id": [str(AuditEntry.objects.get().pk), *ODD_NUMBERS[2:]],
        "run_id": [str(piece.run_id), *ODD_NUMBERS[2:]],
        "piece_id": [str(piece.pk), *ODD_NUMBERS[2:]],
        "invitation_id": ODD_NUMBERS,
        "member_id": ODD_NUMBERS,
        "token_id": ODD_NUMBERS,
        "job_id": ODD_NUMBERS,
        "link_id": ODD_NUMBERS,
        "section": ["1", *ODD_NUMBERS],
        "token": ODD_PATHS,
        "kind": ["csv", "nonsense"],
        "number": ["1", *ODD_NUMBERS],
        "before": ["1", *ODD_NUMBERS],
        "after": ["2", *ODD_NUMBERS],
        "where": ["s1.p1", *ODD_PATHS],
        "one": [str(chain.pk), f"{chain.pk}.1", *ODD_NUMBERS[2:], *ODD_PATHS],
        "other": [f"{chain.pk}.1", *ODD_PATHS],
        "path": ["s1.p2", *ODD_PATHS],
        "name": [OPERATIONS[-1].name, *(each.name for each in OPERATIONS), "nonsense"],
        "int": ODD_NUMBERS,
        "str": ODD_PATHS,
        "slug": ["nonsense"],
    }


def filled(route: str, known: Known) -> Iterator[str]:
    """The address of something that exists, then the same with each named part odd in turn."""
    holes = PLACEHOLDER.findall(route)
    values = [known.get(name, known[kind or "str"]) for kind, name in holes]
    yield _fill(route, [each[0] for each in values])
    for at, (_, *odd) in enumerate(values):
        turn = ROUTES.index(route) + HOLES * at
        for value in islice(cycle(odd), turn, turn + min(HOLES, len(odd))):
            yield _fill(route, [value if each == at else values[each][0] for each in range(len(holes))])


def existing(route: str, client: Client, known: Known) -> Known:
    """The known values in such an order that the first address of this route exists, where that can be had."""
    holes = {name: known.get(name, known[kind or "str"]) for kind, name in PLACEHOLDER.findall(route)}
    places = product(*(range(len(values)) for values in holes.values()))
    if route not in CHOSEN:
        there = (each for each in places if read(client.get(_address(route, holes, each))).status_code != 404)
        CHOSEN[route] = next(there, (0,) * len(holes))
    chosen = zip(holes.items(), CHOSEN[route], strict=True)
    return {**known, **{name: [values[place], *values[:place], *values[place + 1 :]] for (name, values), place in chosen}}


def _address(route: str, holes: Known, places: tuple[int, ...]) -> str:
    return _fill(route, [values[place] for values, place in zip(holes.values(), places, strict=True)])


def _fill(route: str, values: list[str]) -> str:
    remaining = iter(values)
    return PLACEHOLDER.sub(lambda _: next(remaining), route)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Names that views look for in an address or a form, collected while they run."""
    names: set[str] = set()

    def noting(real: Callable[..., Any]) -> Callable[..., Any]:
        def looked_up(self: QueryDict, key: Any, *rest: Any) -> Any:
            names.add(key)
            return real(self, key, *rest)

        return looked_up

    for method in ("__getitem__", "getlist", "__contains__"):
        monkeypatch.setattr(QueryDict, method, noting(getattr(QueryDict, method)), raising=False)
    return names


def growing(names: set[str]) -> Iterator[str]:
    """Each of the names, also those that come in meanwhile."""
    tried = {"csrfmiddlewaretoken"}
    while fresh := names - tried:
        tried |= fresh
        yield from sorted(fresh)


def faults_of(answers: Iterator[tuple[str, Any]]) -> list[str]:
    return [f"{what}: {answer.status_code}" for what, answer in answers if answer.status_code >= 500]


def test_odd_addresses_are_refused_and_looking_changes_nothing(client: Client, known: Known, asked: set[str]) -> None:
    before = everything_stored()
    values = cycle(ODD)

    def looks(route: str) -> Iterator[tuple[str, Any]]:
        page, *odd = filled(route, existing(route, client, known))
        for address in odd:
            yield address, read(client.get(address, headers={"HX-Request": "true"}))
        asked.clear()
        yield page, read(client.get(page))
        turn = count()
        for name in growing(asked):
            for value in islice(values, TRIES):
                headers = {"HX-Request": "true"} if next(turn) % 2 else {}
                yield f"{page}?{name}={value[:40]}", read(client.get(page, {name: value}, headers=headers))

    assert [fault for route in ROUTES for fault in faults_of(looks(route))] == []
    assert everything_stored() == before


def test_most_addresses_of_the_tests_exist(client: Client, known: Known) -> None:
    """Else they would compare refusals with refusals; what needs more than the fixture has is odd all the same."""
    local = [route for route in ROUTES if not TEAM_MODE.match(route)]
    pages = {route: next(filled(route, existing(route, client, known))) for route in local}
    missing = [route for route, page in pages.items() if read(client.get(page)).status_code == 404]
    assert len(missing) <= len(local) * 0.15, missing


def test_odd_forms_are_refused(client: Client, known: Known, asked: set[str]) -> None:
    values = cycle(ODD_FIELDS)

    def posts(route: str) -> Iterator[tuple[str, Any]]:
        page, *odd = filled(route, existing(route, client, known))
        for address in odd:
            yield address, post(client, address, {})
        usual = fields_at(client, page)
        asked.clear()
        asked.update(usual)
        yield page, post(client, page, usual)
        for name in growing(asked):
            for value in islice(values, TRIES):
                yield f"{page} {name}={value[:40]}", post(client, page, {**usual, name: value})

    assert [fault for route in ROUTES for fault in faults_of(posts(route))] == []


def test_an_unknown_chain_is_not_there(client: Client, known: Known) -> None:
    for route in (route for route in ROUTES if "<int:chain_id>" in route):
        for number in (999, HUGE):
            address = next(filled(route, {**known, "chain_id": [str(number)]}))
            form: dict[str, Any] = {"data": CALL, "content_type": "application/json"} if "/api/" in route else {}
            statuses = {client.get(address).status_code, client.post(address, **form).status_code}
            assert statuses <= {404, 405}, address
            assert 404 in statuses, address


def read(answer: Any) -> Any:
    if answer.streaming:
        b"".join(answer.streaming_content)
    return answer


def post(client: Client, address: str, fields: dict[str, Any]) -> Any:
    """Sends a form and takes back what it changed, in the database and beside it."""
    waiting = {file: file.read_bytes() for file in staging.folder().iterdir()}
    with transaction.atomic():
        answer = read(client.post(address, fields))
        transaction.set_rollback(True)
    for file, content in waiting.items():
        file.write_bytes(content)
    return answer


def fields_at(client: Client, page: str) -> dict[str, Any]:
    answer = read(client.get(page))
    is_form = answer.status_code == 200 and "html" in answer.get("Content-Type", "") and b"<main" in answer.content
    return fields_of(answer.content.decode()) if is_form else {}


def everything_stored() -> str:
    seen = hashlib.sha256()
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            if model is Derived:  # a cache, which the first look at a content fills
                continue
            table = connection.ops.quote_name(model._meta.db_table)
            cursor.execute(f"SELECT * FROM {table} ORDER BY 1")
            for row in cursor.fetchall():
                seen.update(repr(row).encode())
    for file in sorted(settings.CHAINVIZ.data.rglob("*")):
        seen.update(json.dumps([str(file), file.stat().st_size]).encode())
    return seen.hexdigest()
