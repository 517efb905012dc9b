from __future__ import annotations

import pytest
from django.test import Client

from chainviz.chains import services
from chainviz.chains.models import Chain
from chainviz.chains.versions.history import version_rows
from chainviz.store.models import Version
from tests.chains.files import chat, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain(client: Client) -> Chain:
    send(client, ("retry.json", chat()))
    return Chain.objects.get()


def first_of(chain: Chain) -> Version:
    return Version.objects.get(history=chain.history, number=1)


def test_the_history_begins_with_the_upload(client: Client, chain: Chain) -> None:
    page = client.get(f"/c/{chain.pk}/versions/").content.decode()

    assert "Version 1" in page
    assert "Upload" in page
    assert "2 messages" in page
    assert "retry.json" in page


def test_restoring_makes_a_new_version(client: Client, chain: Chain) -> None:
    client.post(f"/c/{chain.pk}/versions/1/restore/")

    chain.refresh_from_db()
    page = client.get(f"/c/{chain.pk}/versions/").content.decode()
    assert chain.version == 2
    assert "Version 1 is back, as version 2." in page
    assert "Version 1 restored" in page
    assert Version.objects.filter(history=chain.history).count() == 2


def test_each_version_says_how_it_was_made(chain: Chain) -> None:
    version = services.restore(chain, first_of(chain), by=chain.owner)
    services.restore(chain, version, by=chain.owner)

    assert [[mark.text for mark in row.marks] for row in version_rows(chain, {})] == [["Restored"], ["Restored"], ["Uploaded"]]
    assert [mark.text for mark in version_rows(chain, {}, before=2)[0].marks] == ["Uploaded"]


def test_two_versions_can_be_compared(client: Client, chain: Chain) -> None:
    services.restore(chain, first_of(chain), by=chain.owner)

    answer = client.get(f"/c/{chain.pk}/versions/compare/?pick=2&pick=1")
    assert answer.url == f"/c/{chain.pk}/diff/1..2/"
    refused = client.get(f"/c/{chain.pk}/versions/compare/?pick=2")
    assert refused.status_code == 422
    assert "Tick exactly two versions" in refused.content.decode()


def test_versions_are_ticked_where_there_is_a_choice(client: Client, chain: Chain) -> None:
    def page() -> str:
        return client.get(f"/c/{chain.pk}/versions/").content.decode()

    only = page()
    assert "share-bar" not in only and "Changes since upload" not in only
    services.restore(chain, first_of(chain), by=chain.owner)
    two = page()
    assert "Changes since upload" in two and 'name="pick"' not in two and "Compare ticked versions" not in two
    services.restore(chain, first_of(chain), by=chain.owner)
    assert page().count('name="pick"') == 3 and "Compare ticked versions" in page()


def test_a_branch_is_a_chain_of_its_own(client: Client, chain: Chain) -> None:
    answer = client.post(f"/c/{chain.pk}/versions/1/branch/")

    made = Chain.objects.get(branched_from=chain)
    assert answer.url == f"/c/{made.pk}/versions/"
    assert (made.title, made.version, made.messages) == ("Hello (branch)", 1, 2)
    assert made.history != chain.history
    assert "began as a branch of" in client.get(answer.url).content.decode()


def test_a_branch_outlives_the_chain_it_came_from(client: Client, chain: Chain) -> None:
    made = services.branch(chain, first_of(chain), by=chain.owner)

    services.delete_for_good(chain)

    assert client.get(f"/c/{made.pk}/versions/").status_code == 200


def test_a_chain_is_renamed_or_told_why_not(client: Client, chain: Chain) -> None:
    client.post(f"/c/{chain.pk}/rename/", {"title": "  The  flaky\nretry "})
    assert Chain.objects.get().title == "The flaky retry"

    refused = client.post(f"/c/{chain.pk}/rename/", {"title": " "})
    assert refused.status_code == 422
    assert "A chain needs a title." in refused.content.decode()


def test_a_version_that_is_not_there(client: Client, chain: Chain) -> None:
    assert client.post(f"/c/{chain.pk}/versions/7/restore/").status_code == 404
    assert client.post(f"/c/{chain.pk}/versions/7/branch/").status_code == 404
    assert client.get(f"/c/{chain.pk}/versions/1/restore/").status_code == 405
