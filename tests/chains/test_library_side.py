"""The side of the library: where one can go, with counts, and only what a role may use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.folders.choose_folders import watch
from chainviz.chains.folders.opening import open_file
from chainviz.chains.models import Chain
from chainviz.chains.samples import load_samples
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member
from tests.drafts.pages import send_form
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db
ALWAYS = ["All chains", "Needs fixing", "Parse a reply", "Secrets", "Bulk reports", "Recipes"]


PLACE = re.compile(r'<a href="([^"]*)"([^>]*)>.*?<span[^>]*>(?:<bdi>)?([^<]*)(?:</bdi>)?</span>(?:<span[^>]*>([^<]*)</span>)?</a>')


def places_of(page: str) -> list[tuple[str, str, str, str]]:
    """Address, further attributes, name and count of each."""
    return PLACE.findall(re.search('(?s)id="library-side".*?</nav>', page)[0])  # type: ignore[index]


def side(page: str) -> dict[str, tuple[str, str]]:
    """Address and count of each place."""
    return {name: (address, count) for address, _, name, count in places_of(page)}


def current(page: str) -> list[str]:
    return [name for _, attributes, name, _ in places_of(page) if "aria-current" in attributes]


def test_places_with_their_counts(client: Client, tmp_path: Path) -> None:
    load_samples()
    chain = Chain.objects.get(file_name="support_chat.json")
    send_form(client, f"/c/{chain.pk}/edit/s1.h.m0?v=1", s1__h__m0__c0__text="Another question")
    client.post("/bin/add/", {"chain": Chain.objects.get(file_name="chart_review.json").pk})
    client.post("/filters/", {"name": "Big ones", "query": "larger=1 MB"})
    for name in ("a.jsonl", "b.jsonl", "c.txt"):
        (tmp_path / name).write_bytes(session(2, name))
    folder = watch(local_member(), f"{tmp_path}/*.jsonl")
    open_file(local_member(), tmp_path / "a.jsonl")

    places = side(client.get("/").content.decode())

    assert places["All chains"] == ("/", "4")
    assert places["Open drafts"] == ("/?drafts=1", "1")
    assert places[folder.name] == (f"/folders/?folder={folder.number}", "")
    assert places["Big ones"] == ("/?larger=1+MB", "")
    assert places["Bin"] == ("/bin/", "1")
    assert {"Folders", *ALWAYS} <= places.keys()


def test_the_place_that_is_shown_is_marked_also_after_a_search(client: Client) -> None:
    load_samples()
    client.post("/filters/", {"name": "Jackets", "query": "q=jacket"})
    places = {"": ["All chains"], "order=size": ["All chains"], "drafts=1": ["Open drafts"], "q=jacket": ["Jackets"], "q=x": []}
    for query, marked in places.items():
        for headers in ({}, {"HX-Request": "true"}):
            assert current(client.get(f"/?{query}", headers=headers).content.decode()) == marked, (query, headers)


@pytest.mark.parametrize(
    ("role", "more"),
    [(Role.VIEWER, []), (Role.EDITOR, ["Open drafts", "Bin"]), (Role.OWNER, ["Open drafts", "Folders", "/srv/runs", "Bin", "Overview"])],
)
def test_a_role_sees_what_it_may_use(
    team_mode: Team,  # noqa: F811
    settings: Any,
    role: Role,
    more: list[str],
) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": "/srv/runs"})
    load_samples(make_member(team_mode, "Lin", Role.OWNER))
    client = client_of(make_member(team_mode, "Sam", role))
    assert sorted(side(client.get("/").content.decode())) == sorted([*ALWAYS, *more])


def test_the_page_of_many_chains_folders_and_drafts_costs_few_statements(
    client: Client, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    for number in range(4):
        (tmp_path / f"{number}").mkdir()
        watch(local_member(), str(tmp_path / f"{number}"))
    load_samples()
    for chain in Chain.objects.all():
        send_form(client, f"/c/{chain.pk}/edit/s1.h.m0?v=1", s1__h__m0__c0__text="Another question")
    with django_assert_max_num_queries(28):
        client.get("/")
