"""The mask page, the warning before an export and the scan of the library tell a secret in every place of a file; a mask
and a purge take it out (issue 8)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from chainviz.core.load import load_file
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.store.models import Upload
from chainviz.store.purge.values import purge_values
from chainviz.store.transfer.exports import original
from tests.chains.making import ai, human, make_chain, make_chain_of
from tests.core.secrets.planted import FILES, KIND, planted
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db
ONE_EACH = list({file.parent.name: file for file in FILES if len(load_file(file)) == 1}.values())
"""A file of each format that is one chain."""


@pytest.mark.parametrize("file", ONE_EACH, ids=[file.parent.name for file in ONE_EACH])
def test_every_page_tells_it_and_a_mask_and_a_purge_take_it_out(client: Client, file: Path) -> None:
    client.get("/")
    document, keys = planted(file)
    chain = make_chain_of(document, file.name)

    export = client.get(f"/c/{chain.pk}/v/1/export").content.decode()
    told = re.search(r"(\d+) possible secrets?", export)
    assert told and int(told[1]) >= len(keys)
    client.post("/secrets/", {"act": "scan"})
    job = Job.objects.get()
    run_job(job.pk)
    job.refresh_from_db()
    assert [counts[KIND] >= len(keys) for _, _, counts in job.result] == [True]
    page = client.get(f"/c/{chain.pk}/do/mask/").content.decode()
    counted = re.search(r"GitHub token\D*?(\d+)", page)
    assert counted and int(counted[1]) >= len(keys)

    draft = send_form(client, f"/c/{chain.pk}/do/mask/", act="apply")["Location"]
    client.post(f"{draft}save", {"note": ""})
    masked = b"".join(client.get(f"/c/{chain.pk}/v/2/export?scope=chain").streaming_content)  # type: ignore[attr-defined]
    assert [place for key, place in keys.items() if key.encode() in masked] == []

    purge_values((chain.history,), keys, reason="test")
    purged = client.get(f"/c/{chain.pk}/v/1/export?scope=chain").streaming_content  # type: ignore[attr-defined]
    left = b"".join((*purged, *original(Upload.objects.get())))
    assert [place for key, place in keys.items() if key.encode() in left] == []


def test_a_word_in_upper_and_lower_case_is_one_card(client: Client) -> None:
    chain = make_chain([human("Anna, anna and ANNA"), ai("Ben")])
    address = f"/c/{chain.pk}/do/mask/"
    page = send_form(client, address, own_words="Anna\nBen", act="look").content.decode()
    assert re.findall(r"<code>(\[[^<]+)</code>", page) == ["[OWN_WORDS_1]", "[OWN_WORDS_2]"]
    assert "3 times" in page and "Anna, anna and ANNA are one word" in page
