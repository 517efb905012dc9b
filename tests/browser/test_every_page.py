"""Every page of the way, the error pages among them: accessible, one heading, fits, in both themes and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from chainviz.accounts.models import local_member
from chainviz.bulk.acts import act_named
from chainviz.bulk.job import begin as begin_bulk
from chainviz.bulk.job import start as start_bulk
from chainviz.chains import audit as audit
from chainviz.chains.models import Arrival, AuditEntry, Chain
from chainviz.core.recipes import make_step
from chainviz.core.secrets import WordList as ListValue
from chainviz.drafts.models import Draft
from chainviz.jobs.tasks import run_job
from chainviz.recipes.models import WordList
from chainviz.recipes.services import create, save_list
from chainviz.review.certificates import begin as begin_certificate
from tests.browser.test_journey import TRANSCRIPT
from tests.browser.test_page import faults_at_both_widths
from tests.chains.files import chat, lines, send, send_row
from tests.chains.making import ai, human, make_chain
from tests.drafts.pages import send_form

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def chain(live_server: Any) -> Chain:
    """Three versions, a draft behind them, a chain in the bin, an upload that asks and two that failed."""
    client = Client()
    send(client, ("returns_desk.json", TRANSCRIPT.read_bytes()))
    chain = Chain.objects.get()
    send_form(client, f"/c/{chain.pk}/edit/s1.p1?v=1", s1__p1__m0__c0__text="The draft stays behind.")
    send_form(client, f"/c/{chain.pk}/edit/s2.p2?v=1&draft={Draft.objects.get().pk}", s2__p2__m0__c0__text="More of it.")
    client.post(f"/c/{chain.pk}/versions/1/restore/")
    send_form(client, f"/c/{chain.pk}/repair/?v=2")
    client.post(f"/c/{chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": "answered"})
    send(client, ("binned.json", chat()))
    client.post("/bin/add/", {"chain": Chain.objects.latest("pk").pk})
    send(client, ("many.jsonl", lines(3)))
    send_row(client, "cut.json", TRANSCRIPT.read_bytes()[:-200])
    send_row(client, "picture.png", b"\x89PNG\r\n\x1a\n0000")
    rows = [["s1.p1.m1.c0", "E-mail in the content", 9, 7]] * 120
    audit.note(chain, None, "mask", {"rows": rows, "strategy": "mask", "declined": 0}, version=1)
    assert (Chain.objects.get(pk=chain.pk).version, Arrival.objects.count()) == (3, 3)
    return chain


def test_every_page_is_accessible_and_fits(page: Any, live_server: Any, chain: Chain, monkeypatch: Any, faults: list[str]) -> None:
    home = f"/c/{chain.pk}/"
    wrong: list[str] = []

    def look(what: str) -> None:
        wrong.extend(f"{what}: {each}" for each in faults_at_both_widths(page))

    for where in addresses(chain):
        assert page.goto(live_server.url + where).status == 200, where
        look(where)

    for where, provoke in error_pages(page, live_server.url, home, monkeypatch).items():
        provoke()
        look(where)
    assert wrong == []
    assert all(re.search("status of 4|status of 500", fault) for fault in faults)
    faults.clear()


def keep_things(chain: Chain) -> tuple[str, ...]:
    """A recipe, a word list, two bulk reports, one of which waits for a purge, and a certificate; returns their pages."""
    by = local_member()
    words = save_list(WordList(team=by.team), ListValue("People", "Anna"), by=by, seen=0)
    steps = make_step("mask", {}), make_step("redact", {"policy": "keep_last_n"})
    recipe = create("Vendor", steps, by=by, purges=True)
    other = make_chain([human("Write to anna.meier@example.org."), ai("I will.")])
    reports = []
    for row, name, options in ((chain, "export", {}), (other, "recipe", {"recipe": f"{recipe.pk}.{recipe.edition}"})):
        act = act_named(name)
        assert act is not None
        run = begin_bulk(act, Chain.objects.filter(pk=row.pk), by=by)
        run_job(start_bulk(run, act.Options(**options)).pk)
        reports.append(run.pk)
    certificate = begin_certificate(chain, 1, "Vendor", "", by=by).result["number"]
    pages = f"{recipe.pk}/", f"{recipe.pk}/steps/1/", f"{recipe.pk}/steps/2/", "word-lists/new/", f"word-lists/{words.pk}/"
    runs = "", f"{reports[0]}/", f"{reports[1]}/", f"{reports[1]}/purge/"
    kept = [f"/recipes/{each}" for each in pages], [f"/bulk/{each}" for each in runs]
    return "/recipes/", *kept[0], *kept[1], f"/certificates/{certificate}/"


def addresses(chain: Chain) -> tuple[str, ...]:
    home, draft = f"/c/{chain.pk}/", Draft.objects.earliest("pk")
    arrivals = {arrival.name: arrival.pk for arrival in Arrival.objects.all()}
    return (
        "/", "/?q=nothing-like-this", "/bin/", f"/bin/{Chain.objects.in_bin().get().pk}/delete/",
        f"/pick/{arrivals['many.jsonl']}/", f"/upload/{arrivals['cut.json']}/", f"/upload/{arrivals['picture.png']}/",
        home, f"{home}v/1/at/s4.p1", f"{home}v/1/problems", f"{home}v/1/export", f"{home}v/1/node/s3.p1",
        f"{home}repair/?v=1", f"{home}repair/?v=3", f"{home}edit/s4.p1?v=3", f"{home}do/convert/",
        f"{home}versions/", f"{home}diff/1..3/", f"{home}diff/1..3/?layout=unified", f"{home}diff/1..2/?view=file",
        f"{home}v/1/bytes", f"{home}v/1/find?q=a", f"{home}audit/", f"{home}purge/", "/secrets/", "/folders/",
        f"{home}audit/{AuditEntry.objects.get().pk}/decisions", f"{home}earlier/s1.p1", f"{home}earlier/s1.h",
        f"{home}state/?v=1", f"{home}state/?v=1&from=0", f"{home}do/compact/?v=1", f"{home}do/compact/simulate/?v=1",
        f"{home}do/redact/?v=1", f"{home}do/mask/?v=1", f"{home}do/summarize/?v=1",
        f"/compare/{chain.pk}/{chain.pk}.1/", f"{home}fix/?provider=anthropic",
        f"/compare/?run={chain.pk}&run={chain.pk}.1&run={chain.pk}.2",
        f"{home}d/{draft.pk}/", f"{home}d/{draft.pk}/explore/at/s1.p1", f"{home}d/{draft.pk}/conflict",
        f"{home}v/1/certify/", *keep_things(chain),
    )  # fmt: skip


def test_every_page_fits_between_a_small_phone_and_a_desk(page: Any, live_server: Any, chain: Chain) -> None:
    """Also where two panes are left of three, and at 320 pixels, which is a desk at 400 %."""
    wrong = []
    page.set_viewport_size({"width": 320, "height": 768})
    for where in addresses(chain):
        page.goto(live_server.url + where)
        for width in (320, 1024, 834, 320):
            page.set_viewport_size({"width": width, "height": 768})
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                wrong.append((where, width))
    assert wrong == []


def error_pages(page: Any, site: str, home: str, monkeypatch: Any) -> dict[str, Callable[[], None]]:
    def expired() -> None:
        page.goto(f"{site}{home}versions/")
        page.context.clear_cookies()
        page.get_by_role("button", name="Rename").click()

    def broken() -> None:
        monkeypatch.setattr("chainviz.chains.library.library_page.render", None)
        assert page.goto(f"{site}/bin/").status == 500

    def refused_form() -> None:
        page.goto(f"{site}{home}versions/")
        page.get_by_label("Title").fill(" ")
        page.get_by_role("button", name="Rename").click()
        page.locator("#title-error").wait_for()

    return {
        "404": lambda: page.goto(f"{site}/c/999999/"),
        "404 in a chain": lambda: page.goto(f"{site}{home}v/1/at/s99.p1"),
        "405": lambda: page.goto(f"{site}/samples/"),
        "403": expired,
        "422": refused_form,
        "500": broken,
    }
