"""An owner purges the values that a bulk run masked from all its chains with one form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.permissions import Role
from chainviz.bulk.models import BulkRun
from chainviz.chains.models import Chain
from chainviz.cli import main
from chainviz.core.recipes import NO_MASK, NOT_PURGED
from chainviz.jobs.models import Job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.recipes.models import Recipe
from chainviz.recipes.services import fsck_recipes
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import send_form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
KEYS = ["ghp_" + word * 6 for word in ("aB3dE5", "fG7hJ9")]
WAITS = "Purge: waiting for confirmation by an owner"
SHARED = "anna.meier@example.org"


def masked_run(client: Client) -> tuple[BulkRun, list[Chain]]:
    """A bulk run on two chains, each with a value of its own and a common one, and a third chain without values to mask."""
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
    assert "4 values in 2 chains" in page and page.count(f"<li>{SHARED}</li>") == 2
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
    assert page.count("A second search found none.") == 2 and "Purge alone" not in page
    again = client.get(f"/c/{chains[0].pk}/purge/?masked=2").content.decode()
    assert "What was masked up to version 2 is purged." in again and "xxx" not in again


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


def purging(client: Client) -> Recipe:
    client.post("/recipes/", {"name": "For the vendor", "operation": "mask"})
    recipe = Recipe.objects.latest("pk")
    assert send_form(client, f"/recipes/{recipe.pk}/", act="add", operation="purge").status_code == 303
    recipe.refresh_from_db()
    return recipe


def run_on(client: Client, recipe: Recipe, chains: list[Chain]) -> BulkRun:
    client.post("/bulk/", {"act": "recipe", "chain": [chain.pk for chain in chains]})
    run = BulkRun.objects.latest("pk")
    send_form(client, f"/bulk/{run.pk}/", do="start", recipe=f"{recipe.pk}.{recipe.edition}")
    run_waiting_jobs()
    return run


def test_a_recipe_ends_in_a_purge_that_its_page_adds_and_removes(client: Client) -> None:
    recipe = purging(client)
    address = f"/recipes/{recipe.pk}/"
    assert [name for name, _ in recipe.steps] == ["mask", "purge"] and "Purge masked values" in client.get("/recipes/").content.decode()
    file = client.get(f"{address}recipe.json").content
    assert json.loads(file)["steps"][-1] == {"operation": "purge"}
    client.post("/recipes/", {"act": "import", "text": file.decode()})
    assert Recipe.objects.latest("pk").steps == recipe.steps
    send_form(client, address, act="add", operation="repair")
    answer = send_form(client, address, act="remove:1")
    assert answer.status_code == 422 and NO_MASK in answer.content.decode()
    send_form(client, address, act="remove:purge")
    recipe.refresh_from_db()
    assert [name for name, _ in recipe.steps] == ["mask", "repair"]
    assert list(fsck_recipes()) == []


@pytest.mark.parametrize("steps", [["purge", "mask"], ["mask", "purge", "purge"], ["repair", "purge"], ["purge"]])
def test_a_purge_is_the_last_step_and_follows_a_mask(client: Client, steps: list[str]) -> None:
    text = json.dumps({"recipe": "Odd", "steps": [{"operation": name} for name in steps]})
    assert client.post("/recipes/", {"act": "import", "text": text}).status_code == 422
    assert not Recipe.objects.exists()


def test_the_purge_of_a_recipe_waits_in_its_report_until_it_is_confirmed(client: Client) -> None:
    told = [human(f"Letter {number}: write to {SHARED} with {key}.") for number, key in enumerate(KEYS)]
    chains = [make_chain([each, ai("I will.")], f"{number}.json") for number, each in enumerate(told)]
    run = run_on(client, purging(client), chains)
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert WAITS in page and f"/bulk/{run.pk}/purge/" in page
    assert not Job.objects.filter(function="purge").exists() and KEYS[0] in first_versions(client, chains)
    assert "Purges waiting for confirmation" in client.get("/bulk/").content.decode()
    assert send_form(client, f"/bulk/{run.pk}/purge/", number="2").status_code == 303
    assert "Purge: confirmed for 2 chains" in client.get(f"/bulk/{run.pk}/").content.decode()
    run_waiting_jobs()
    assert KEYS[0] not in first_versions(client, chains)
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert WAITS not in page and "Purge: done in 2 chains" in page
    assert "Purges waiting for confirmation" not in client.get("/bulk/").content.decode()
    Job.objects.filter(function="purge").update(state=Job.State.FAILED)
    assert "Purge: failed for 2 of 2 chains" in client.get(f"/bulk/{run.pk}/").content.decode()


def short_words(client: Client) -> Recipe:
    """A recipe that masks a name which no purge can search for."""
    recipe = purging(client)
    send_form(client, f"/recipes/{recipe.pk}/steps/1/", own_words="Ada", look_for="secrets")
    recipe.refresh_from_db()
    return recipe


def test_a_run_without_a_value_that_can_be_searched_for_is_closed(client: Client) -> None:
    run = run_on(client, short_words(client), [make_chain([human("Ask Ada."), ai("I will.")])])
    address = f"/bulk/{run.pk}/purge/"
    page = client.get(address).content.decode()
    assert "1 value was masked up to version 2. 1 value shorter than 4 characters left out" in page
    assert "Close without a purge" in page and "permanently</button>" not in page
    assert send_form(client, address)["Location"] == address
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert WAITS not in page and "Purge: closed" in page and "1 chain keeps what was masked" in page
    assert "Purges waiting for confirmation" not in client.get("/bulk/").content.decode()
    page = client.get(address).content.decode()
    assert "Not purged" in page and "Close without a purge" not in page
    assert not Job.objects.filter(function="purge").exists()


def test_what_cannot_be_searched_for_does_not_keep_the_other_chains_waiting(client: Client) -> None:
    told = [human("Ask Ada."), human(f"Ask Ada for {KEYS[0]}.")]
    run = run_on(client, short_words(client), [make_chain([each, ai("Yes.")], f"{n}.json") for n, each in enumerate(told)])
    assert send_form(client, f"/bulk/{run.pk}/purge/", number="1").status_code == 303
    run_waiting_jobs()
    page = client.get(f"/bulk/{run.pk}/").content.decode()
    assert WAITS not in page and "Purge: done in 1 chain" in page and "1 chain keeps what was masked" in page


def test_an_owner_confirms_what_the_run_of_an_editor_asks_for(settings: Any, client: Client) -> None:
    chain = make_chain([human(f"Write to {SHARED}."), ai("I will.")])
    run = run_on(client, purging(client), [chain])
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mode": "team"})
    editor, owner = make_member(chain.team, "Ed", Role.EDITOR), make_member(chain.team, "Olga", Role.OWNER)
    stranger = make_member(make_team("Others"), "Nobody", Role.OWNER)
    BulkRun.objects.filter(pk=run.pk).update(author=editor.user)
    page = client_of(editor).get(f"/bulk/{run.pk}/").content.decode()
    assert WAITS in page and "An owner of the team finds it under Bulk reports." in page and "/purge/" not in page
    assert client_of(editor).get(f"/bulk/{run.pk}/purge/").status_code == 403
    assert client_of(stranger).get(f"/bulk/{run.pk}/purge/").status_code == 404
    assert f"/bulk/{run.pk}/purge/" not in client_of(stranger).get("/bulk/").content.decode()
    person = client_of(owner)
    assert f"/bulk/{run.pk}/purge/" in person.get("/bulk/").content.decode()
    assert send_form(person, f"/bulk/{run.pk}/purge/", number="1").status_code == 303
    assert Job.objects.filter(function="purge").count() == 1


def test_a_recipe_on_one_chain_says_that_its_purge_comes_after_saving(client: Client) -> None:
    chain = make_chain([human(f"Write to {SHARED}."), ai("I will.")])
    recipe = purging(client)
    answer = send_form(client, f"/c/{chain.pk}/recipe/", recipe=recipe.pk)
    assert "Save the draft; the new version" in client.get(answer["Location"]).content.decode()


def test_the_command_says_in_one_sentence_that_nothing_was_purged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, file = tmp_path / "vendor.toml", tmp_path / "chain.json"
    recipe.write_text('recipe = "Vendor"\nsteps = [{ operation = "mask" }, { operation = "purge" }]\n')
    file.write_text(json.dumps([{"role": "user", "content": f"Write to {SHARED}."}, {"role": "assistant", "content": "Yes."}]))
    assert main(["recipe", str(recipe), str(file), "--out", str(tmp_path / "out.json")]) == 0
    assert f"warning: {NOT_PURGED}" in capsys.readouterr().out
    assert SHARED not in (tmp_path / "out.json").read_text() and SHARED in file.read_text()
