"""After masking the purge page begins with what was masked; no value is ever part of an address."""

from __future__ import annotations

import html
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import local_member
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.recipes.models import Recipe, WordList
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import fields_of, send_form

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MAIL, KEY = "anna.meier@example.org", "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----"


@pytest.fixture
def masked(client: Client) -> Chain:
    """Version 2 is masked, version 3 masks a word besides."""
    chain = make_chain([human(f"Write to {MAIL} with {KEY}."), ai(f"Your key:\n{PEM}\nand abc.")])
    for version, own in ((1, ""), (2, "abc")):
        send_form(client, f"/c/{chain.pk}/do/mask/?v={version}", own_patterns=own, act="apply")
        client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": ""})
    chain.refresh_from_db()
    assert chain.version == 3
    return chain


def values_on(client: Client, address: str) -> list[str]:
    return fields_of(client.get(address).content.decode())["values"][0].split("\r\n")


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_it_is_filled_with_what_was_masked_and_purges_it(client: Client, masked: Chain) -> None:
    address = f"/c/{masked.pk}/purge/?masked=3"
    assert f'<a href="{address}">Purge them</a>' in client.get(f"/c/{masked.pk}/").content.decode(), "said after the last save"
    kept = {"team": masked.team, "changed_at": timezone.now(), "changed_by": local_member().user}
    WordList.objects.create(name="Customers", words=f"{MAIL}\nother words", **kept)
    Recipe.objects.create(name="Vendor", steps=[["mask", {"own_words": f"{MAIL}\nmore words"}]], **kept)
    versions = client.get(f"/c/{masked.pk}/versions/").content.decode()
    assert address in versions and "are kept unchanged" in versions
    assert f"/c/{masked.pk}/purge/?masked=2" in client.get(f"/c/{masked.pk}/versions/2/report/").content.decode()
    values = values_on(client, address)
    assert {MAIL, KEY} < set(values)
    assert not any(value.startswith("-----") or "\n" in value or len(value) < 4 for value in values)
    assert "1 value shorter than 4 characters left out: earlier versions keep" in client.get(address).content.decode()
    counted = client.post(address.partition("?")[0], {**fields_of(client.get(address).content.decode()), "act": "look"}, follow=True)
    assert "will no longer mask them: Customers, Vendor." in counted.content.decode()
    answer: Any = send_form(client, address, act="purge", title=masked.title)
    assert answer.status_code == 303 and MAIL not in answer["Location"]
    old = client.get(f"/c/{masked.pk}/v/1/export?scope=chain").getvalue().decode()
    assert not any(value in old for value in (MAIL, KEY, "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"))
    assert (WordList.objects.get().words, Recipe.objects.get().steps) == ("other words", [["mask", {"own_words": "more words"}]])
    assert "Purged values are blank in the uploaded bytes" in client.get(f"/c/{masked.pk}/versions/").content.decode()
    assert "without the purged values" in client.get(f"/c/{masked.pk}/v/3/export").content.decode()


def test_every_link_is_filled_with_what_is_found(client: Client, masked: Chain) -> None:
    """Values are found before masking, beside masked values, and in the file of the version that masked them."""
    home = f"/c/{masked.pk}"
    for page in (f"{home}/v/3/export", f"{home}/versions/", f"{home}/do/mask/?v=1", f"{home}/do/redact/"):
        assert f'"{home}/purge/?masked=3"' in client.get(page).content.decode(), page
    assert {MAIL, KEY} <= set(values_on(client, f"/c/{masked.pk}/purge/?masked=1"))
    said = html.unescape(client.get(f"/c/{masked.pk}/purge/?masked=1").content.decode())
    assert "3 values found in it or in its upload. Delete the lines that should stay." in said
    clean = make_chain([human("Hello."), ai("Hello, what can I do?")])
    assert "No values were found." in client.get(f"/c/{clean.pk}/purge/?masked=1").content.decode()
    assert client.get(f"/c/{masked.pk}/purge/?masked=9").status_code == 404
    assert client.get(f"/c/{masked.pk}/purge/?masked=x").status_code == 200
