"""The explorer tells what a session's agent does not send again: also what branches of the same file hold."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.chains.models import Chain
from chainviz.chains.uploads.imports import import_offer
from chainviz.core.documents.source import open_source
from chainviz.core.formats.offers import offers_of
from tests.api.test_lost_on_resume import line

pytestmark = pytest.mark.django_db


def test_branches_count_once_and_only_in_the_main_chain() -> None:
    lines = [line("a", None), line("b", "a"), line("c", "b"), line("d", "c"), line("f", "b"), line("g", "f")]
    with open_source("".join(json.dumps(each) + "\n" for each in lines).encode()) as source:
        main, branch = (import_offer(local_member(), source, offer, file_name="session.jsonl") for offer in offers_of(source))
    assert "2 messages on branches that a rewind left" in facts(main)
    assert "on branches" not in facts(branch)


def facts(chain: Chain) -> str:
    return Client().get(f"/c/{chain.pk}/").content.decode()
