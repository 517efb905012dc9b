"""What a bulk run masked is purged from all its chains with one form, which an owner confirms."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.permissions import Role
from chainviz.bulk.models import BulkRun
from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.recipes.models import Recipe
from tests.accounts.people import client_of, make_member
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
KEYS = ["ghp_" + word * 6 for word in ("aB3dE5", "fG7hJ9")]
SHARED = "anna.meier@example.org"


def masked_run(client: Client) -> tuple[BulkRun, list[Chain]]:
    """Two chains with a value of their own and one that both hold; a third has nothing to mask."""
    told = [[human(f"Letter {number}: write to {SHARED} with {key}."), ai("I will.")] for number, key in enumerate(KEYS)]
    chains = [make_chain(each, f"{number}.json") for number, each in enumerate([*told, [human("Hello"), ai("Hi")]])]
    client.post("/bulk/", {"act": "mask", "chain": [chain.pk for chain in chains]})
    run = BulkRun.objects.latest("pk")
    send_form(client, f"/bulk/{run.pk}/", do="start")
    run_waiting_jobs()
    return run, chains


def first_versions(client: Client, chains: list[Chain]) -> str:
    return "".join(client.get(f"/c/{chain.pk}/v/1/export?scope=chain").getvalue().decode() for chain in chains)


def test_one_form_purges_all_chains_of_a_run(client: Client) -> None:
    run, chains = masked_run(client)
    address = f"/bulk/{run.pk}/purge/"
    assert address in client.get(f"/bulk/{run.pk}/").content.decode()
    page = client.get(address).content.decode()
    assert "4 values in 2 chains" in page and SHARED not in page
    for number in ("", "3"):
        answer = send_form(client, address, number=number)
        assert answer.status_code == 422 and "This is not the number of chains." in answer.content.decode()
    assert not Job.objects.filter(function="purge").exists()
    assert send_form(client, address, number="2")["Location"] == address
    jobs = list(Job.objects.filter(function="purge"))
    assert len(jobs) == 2 and not any(value in str(job.args) for job in jobs for value in (*KEYS, SHARED))
    assert client.post(address, {"number": "2"}).status_code == 422  # a second click starts none
    run_waiting_jobs()
    left = first_versions(client, chains)
    assert "Hello" in left and not any(value in left for value in (*KEYS, SHARED)), "the value of both went from both"
    page = client.get(address).content.decode()
    assert page.count("2 places blank now, in every version.") == 2
    assert "A second search still found" not in page


@pytest.mark.parametrize("role", [Role.EDITOR, Role.OWNER])
def test_only_an_owner_may(settings: Any, client: Client, role: Role) -> None:
    run, chains = masked_run(client)
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    member = make_member(chains[0].team, "Person", role)
    BulkRun.objects.filter(pk=run.pk).update(author=member.user)
    person = client_of(member)
    assert ("/purge/" in person.get(f"/bulk/{run.pk}/").content.decode()) == (role is Role.OWNER)
    assert person.post(f"/bulk/{run.pk}/purge/", {"number": "2"}).status_code == (303 if role is Role.OWNER else 403)
    assert Job.objects.filter(function="purge").exists() == (role is Role.OWNER)


def test_an_undone_run_offers_no_purge(client: Client) -> None:
    run, _ = masked_run(client)
    client.post(f"/bulk/{run.pk}/", {"do": "undo"})
    run_waiting_jobs()
    assert client.get(f"/bulk/{run.pk}/purge/").status_code == 404


def test_a_recipe_says_that_purging_is_no_step(client: Client) -> None:
    for operation in ("mask", "repair"):
        client.post("/recipes/", {"name": operation, "operation": operation})
        page = client.get(f"/recipes/{Recipe.objects.latest('pk').pk}/").content.decode()
        assert ("It is never a step of a recipe" in page) == (operation == "mask")
