"""The count of cache_control blocks of a stored chain: of the whole request, also after an edit."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chainviz.core.providers.server_blocks import marked_blocks
from chainviz.drafts.models import Draft
from chainviz.store.content.chain import StoredChain
from chainviz.store.query.problems import ProblemFilter, next_problem, problems
from chainviz.store.query.windows import window
from tests.chains.making import make_chain_of, newest
from tests.core.test_cache_marks import SYSTEM, TOOLS, request
from tests.drafts.pages import send_form, snapshot_of

pytestmark = pytest.mark.django_db
WANTED = ProblemFilter("anthropic", "error")


@pytest.mark.parametrize(("marked", "is_refused"), [(2, False), (3, True)])
def test_every_page_knows_it(marked: int, is_refused: bool) -> None:
    kept = make_chain_of(json.dumps(request(marked, tools=TOOLS, **SYSTEM)).encode())
    chain, found = newest(kept), ["cache-marks"] * is_refused
    listing = chain.outline.listing
    assert (listing.total.cached, listing.request.marked) == (marked + 1, 1)
    listed = problems(chain, wanted=WANTED)
    assert ([each.rule for each in listed.problems], listed.total) == (found, len(found))
    first = next_problem(chain, None, WANTED)
    assert ([first.rule], str(first.path)) == (found, "s1.h.m0") if first else not is_refused
    rows = window(chain).rows
    assert [each.rule for row in rows for each in row.problems if each.severity == "error"] == found
    assert ("anthropic:cache-marks" in kept.rules_broken) == is_refused


def test_a_fix_on_the_web_ends_it(client: Client) -> None:
    kept = make_chain_of(json.dumps(request(5, **SYSTEM)).encode())
    said = "A maximum of 4 blocks with cache_control may be provided. Found 6."
    page = client.get(f"/c/{kept.pk}/v/1/problems", {"error": said}).content.decode()
    assert "kind=drop-cache-marks" in page
    send_form(client, f"/c/{kept.pk}/repair/?v=1&kind=drop-cache-marks")
    after = StoredChain(snapshot_of(Draft.objects.get()))
    assert sum(1 for message in after.slice(0, len(after)) for _ in marked_blocks(message)) == 4
    assert after.outline.listing.total.cached == 4
    assert problems(after, wanted=WANTED).problems == ()
