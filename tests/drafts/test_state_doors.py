"""A state document with a fault says so whichever way it is opened, and State writes none that differs from it."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest
from django.test import Client

import chainviz
from chainviz.accounts.models import local_member
from chainviz.chains.models import Chain
from chainviz.chains.uploads.local_files import take_file
from chainviz.core.errors import Refused
from tests.shared_folder import CASES

FAULTS = {"state_version2": "`version` is 2", "state_gemini": "`provider` is “gemini”, which is unknown", "state_corrupt": "messages[1]"}
pytestmark = pytest.mark.django_db


@pytest.fixture(params=FAULTS)
def case(request: pytest.FixtureRequest) -> tuple[Path, str]:
    return CASES / "seeds" / f"{request.param}.json", FAULTS[request.param]


def test_python_names_the_fault(case: tuple[Path, str]) -> None:
    path, fault = case
    (chain,) = chainviz.load(path)
    assert any(fault in text for text in chain.warnings)
    with pytest.raises(Refused, match="keeps every byte"):
        chain.state()


def test_file_of_this_machine_names_the_fault_and_is_not_exported_as_another_state(case: tuple[Path, str], client: Client) -> None:
    path, fault = case
    taken = take_file(local_member(), path)
    assert any(fault in note for note in taken.notes)
    chain = Chain.objects.get()
    assert fault in unescape(client.get(f"/c/{chain.pk}/v/1/problems").content.decode())
    answer = client.get(f"/c/{chain.pk}/state/document?v=1")
    assert answer.status_code == 422
    assert "keeps every byte" in answer.content.decode()
    assert client.get(f"/c/{chain.pk}/v/1/export?scope=file").getvalue() == path.read_bytes()


def test_state_page_shows_the_version_of_the_document(client: Client) -> None:
    take_file(local_member(), CASES / "seeds" / "state_version2.json")
    assert "<dd>version 2</dd>" in client.get(f"/c/{Chain.objects.get().pk}/state/").content.decode()
