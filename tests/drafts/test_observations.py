"""Converting observations on their page: every format's delta and losses, the preview, a step of a draft, roles."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client

from chainviz.chains.models import Chain
from chainviz.chains.observations.index_job import MESSAGES_AT_ONCE
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.observations.summary import PLANNING
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from tests.chains.making import ai, human, make_chain
from tests.chains.observations.story import CONVENTIONS, action, rounds
from tests.cpu import within_cpu_seconds
from tests.drafts.pages import fields_of

pytestmark = pytest.mark.django_db
FRAGMENT = {"HX-Request": "true"}


def address(chain: Chain, query: str = "") -> str:
    return f"/c/{chain.pk}/do/observations/?v=1{query}"


def page(chain: Chain, query: str = "") -> str:
    response = Client().get(address(chain, query))
    assert response.status_code == 200
    return unescape(response.content.decode())


def send(chain: Chain, **fields: Any) -> Any:
    usual = {**fields_of(Client().get(address(chain)).content.decode()), "source": ["brackets", "markdown", "xml"]}
    return Client().post(address(chain), {**usual, **fields})


def texts(chain: Chain, version: int = 2) -> list[str]:
    snapshot = Version.objects.get(history=chain.history, number=version).snapshot
    stored = StoredChain(snapshot)
    return [getattr(part, "text", getattr(part, "content", "")) for message in stored.slice(0, len(stored)) for part in message.parts]


def saved(chain: Chain, response: Any) -> list[str]:
    assert response.status_code == 303, response.content.decode()[-3000:]
    draft = Draft.objects.get(chain=chain)
    assert response["Location"] == f"/c/{chain.pk}/d/{draft.pk}/"
    assert Client().get(response["Location"]).status_code == 200
    Client().post(f"/c/{chain.pk}/d/{draft.pk}/save", {"note": ""})
    return texts(chain)


def cards(html: str) -> dict[str, tuple[str, str]]:
    found = re.findall(r'name="to" value="(\w+)".*?class="delta">(.*?)</span>.*?</svg>(.*?)</span></label>', html)
    return {name: (delta, verdict) for name, delta, verdict in found}


@pytest.fixture
def chain() -> Chain:
    return make_chain(CONVENTIONS)


def test_every_format_shows_its_delta_and_losses(chain: Chain) -> None:
    found = cards(page(chain))
    assert list(found) == ["raw", "brackets", "markdown", "xml"]
    assert found["xml"][1] == found["brackets"][1] == "lossless"
    assert found["markdown"][1] == "3 of 4 survive"
    assert found["raw"][1] == "0 of 5 survive"
    assert found["raw"][0].startswith("−")


def test_the_check_says_what_would_not_survive(chain: Chain) -> None:
    html = page(chain, "&to=markdown")
    assert "would be cut short: line 2, “# Changes”, ends the result" in html
    assert re.search(r'<p class="diff-said">.{0,200}would end before line \d+\.', html)
    assert "3 results read back with the same name, order and bytes." in html
    assert "Brackets and XML keep all of them." in html
    assert "1 with losses, first" in html


def test_a_conversion_becomes_a_version(chain: Chain) -> None:
    found = saved(chain, send(chain, act="apply", to="xml"))
    both = '<get_customer>\n{"party":3}\n</get_customer>\n<get_weather>\nError: timeout\n</get_weather>'
    assert f"<observation>\n{both}\n</observation>" in found
    assert "<observation>\n<get_seat_map>\n14A is free\n</get_seat_map>\n</observation>" in found


def test_media_stay_behind_the_text(chain: Chain) -> None:
    saved(chain, send(chain, act="apply", to="brackets"))
    snapshot = Version.objects.get(history=chain.history, number=2).snapshot
    assert [type(part).__name__ for part in StoredChain(snapshot)[4].parts] == ["Text", "Image", "Image"]


def test_losses_need_a_tick_and_the_choices_stay(chain: Chain) -> None:
    refused = send(chain, act="apply", to="markdown", wrapper="section")
    html = unescape(refused.content.decode())
    assert refused.status_code == 422
    assert "This conversion has losses. Tick “Convert anyway”" in html
    assert "would be cut short" in html
    assert re.search(r'value="markdown" checked', html)
    assert re.search(r'value="section" selected', html)
    assert "# Changes" in "".join(saved(chain, send(chain, act="apply", to="markdown", force="1")))


def test_a_form_for_other_content_is_refused(chain: Chain) -> None:
    assert send(chain, act="apply", to="xml", seen="00").status_code == 422


@pytest.mark.parametrize("fields", [{"to": "html"}, {"roles": "x"}, {"source": ["nonsense"]}, {"from": "-3"}, {"from": "9999"}])
def test_odd_choices_get_a_sentence(chain: Chain, fields: dict[str, Any]) -> None:
    response = send(chain, **fields)
    assert response.status_code in (200, 422)
    assert "from" in fields or "These settings do not exist" in response.content.decode()


def test_tool_messages_become_text_only_on_purpose(chain: Chain) -> None:
    html = page(chain, "&roles=to_text")
    assert "Call ids are lost" in html
    assert "No API can match these results to their calls any more." in html
    assert send(chain, act="apply", roles="to_text", to="xml").status_code == 422
    found = saved(chain, send(chain, act="apply", roles="to_text", to="xml", force="1"))
    assert '<observation>\n<book>\n{"pnr": "Z<b>"}\n</book>\n<mail>\nError: mailbox full\n</mail>\n</observation>' in found


def test_text_becomes_tool_messages_and_what_cannot_is_named(chain: Chain) -> None:
    html = page(chain, "&roles=to_tools")
    assert "Not converted" in html
    assert "the action before it cannot be read" in html
    found = saved(chain, send(chain, act="apply", roles="to_tools"))
    assert '{"party":3}' in found
    assert "Error: invalid action" in "".join(found)


def test_nothing_to_convert_says_so() -> None:
    chain = make_chain([human("Hello"), ai("Hi")])
    assert "Nothing to convert" in page(chain)
    assert send(chain, act="apply", to="xml").status_code == 422


def test_changes_come_in_windows() -> None:
    chain = make_chain([human("Go"), *(each for n in range(25) for each in (ai(action(("f", {}))), human(f"[f]\n{n}")))])
    assert "1 to 10 of 25" in page(chain)
    html = send(chain, act="look", to="xml", **{"from": "20"}).content.decode()
    assert "21 to 25 of 25" in html
    assert html.count('class="diff-group"') == 5


def test_a_fragment_brings_cards_and_bar_along(chain: Chain) -> None:
    html = Client().post(address(chain), {"to": "raw", "act": "look"}, headers=FRAGMENT).content.decode()
    assert '<div id="preview">' in html
    assert 'id="conventions" hx-swap-oob="true"' in html
    assert 'id="save-bar" hx-swap-oob="true"' in html
    assert "<html" not in html


def test_a_long_chain_is_planned_by_a_job() -> None:
    chain = make_chain(rounds(MESSAGES_AT_ONCE // 4 + 1))
    assert "Reading the results" in page(chain)
    assert send(chain, act="apply", to="brackets").status_code == 422
    assert Job.objects.filter(function=PLANNING).count() == 1
    assert run_next_job()
    assert cards(page(chain, "&to=brackets"))["brackets"][1] == "lossless"
    assert "251" in page(chain, "&to=brackets")
    found = saved(chain, send(chain, act="apply", to="brackets"))
    assert "<observation>\n[lookup]\nanswer 0\n</observation>" in found
    assert Job.objects.filter(function=PLANNING).count() == 1


def test_planning_can_be_stopped_and_begun_again() -> None:
    chain = make_chain(rounds(MESSAGES_AT_ONCE // 4 + 1))
    page(chain)
    assert "Reading was stopped" in send(chain, act="halt", to="xml").content.decode()
    send(chain, act="read", to="xml")
    assert run_next_job()
    assert "lossless" in page(chain, "&to=brackets")


@pytest.mark.slow
def test_the_page_of_a_long_chain_is_quick() -> None:
    chain = make_chain(rounds(1_500))
    page(chain)
    assert run_next_job()
    html = within_cpu_seconds(0.5, lambda: page(chain, "&to=brackets"))  # usual: 0.1
    assert "1,500 changes" in html
