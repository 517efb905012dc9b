"""An open page of the library asks repeatedly for changed rows and the number of new chains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chainviz.accounts.models import AuditRow, Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains import services
from chainviz.chains.folders import opening
from chainviz.chains.folders.opening import open_file
from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.review.models import ReviewRequest
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member, make_team
from tests.chains.making import STORY, human, make_chain
from tests.drafts.pages import send_form
from tests.drafts.test_under_way import job
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db
ROW = re.compile(r'<tr role="row" id="chain-(\d+)" data-mark="(\w+)"')


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may be read again as soon as it has grown."""
    monkeypatch.setattr(opening, "PAUSE", opening.PAUSE * 0)
    monkeypatch.setattr(opening, "REST", 0)


@pytest.fixture
def chains() -> list[Chain]:
    return [make_chain([*STORY, human(name)], name) for name in ("one.json", "two.json", "three.json")]


class OpenPage:
    """A page of the library that asks what has changed."""

    def __init__(self, client: Client, address: str = "/") -> None:
        self.client, text = client, client.get(address).content.decode()
        self.marks = dict(ROW.findall(text))
        self.said = dict(re.findall(r' data-(query|newest)="([^"]*)"', text)) | {"named": 0}

    def ask(self) -> str:
        """Returns what is new, "" for nothing, and takes it over as the script does."""
        posted = {**self.said, "chain": [*self.marks], "mark": [*self.marks.values()]}
        answer = self.client.post("/refresh/", posted, headers={"HX-Request": "true"})
        text: str = answer.content.decode()
        assert answer.status_code == (200 if text else 204)
        self.marks |= dict(ROW.findall(text))
        if 'id="library-news"' in text:
            self.said["named"] = ([*re.findall(r'data-named="(\d+)"', text), 0])[0]
        return text

    def changed(self) -> list[str]:
        """The files of the rows that changed."""
        return re.findall(r'class="chain-link"[^>]*title="([^"]*)"', self.ask())


def test_a_row_is_sent_again_when_it_looks_different(client: Client, chains: list[Chain]) -> None:
    one, two, three = chains
    page = OpenPage(client)
    assert len(page.marks) == 3 and page.ask() == ""

    services.rename(two, "Drills")
    running = job("run-operation", chain=three.pk, operation="mask")
    assert sorted(page.changed()) == sorted(["Drills", title(three)])
    Job.objects.filter(pk=running.pk).update(progress=0.6)
    assert "mask secrets 60%" in page.ask()
    Job.objects.filter(pk=running.pk).update(state=Job.State.DONE)
    assert "mask secrets" not in page.ask()

    send_form(client, f"/c/{one.pk}/edit/s1.h.m1?v=1", s1__h__m1__c0__text="Which one?")
    draft = page.ask()
    assert "draft, 1 step" in draft and 'id="count-drafts" hx-swap-oob="true">1<' in draft
    client.post(f"/c/{one.pk}/d/{one.drafts.get().pk}/save", {})
    assert re.search(r'data-mark="\w+"[^>]* hx-swap-oob="true"', page.ask())
    services.to_bin(Chain.objects.filter(pk=one.pk))
    assert "in the bin" in page.ask()
    assert page.ask() == ""


def title(chain: Chain) -> str:
    return Chain.objects.get(pk=chain.pk).title


def test_new_chains_that_fit_are_counted_and_move_no_row(client: Client, chains: list[Chain]) -> None:
    every, few = OpenPage(client), OpenPage(client, "/?q=nowhere")
    make_chain([human("Fourth")], "four.json")
    assert "1 new chain<" in every.ask() and every.ask() == ""
    make_chain([human("Fifth")], "five.json")
    news = every.ask()
    assert "2 new chains<" in news and ROW.findall(news) == []
    assert few.ask() == ""
    rows = client.get(re.findall(r'hx-get="([^"]*)"', news)[0].replace("&amp;", "&")).content.decode()
    assert [int(key) for key, _ in ROW.findall(rows)] == [*Chain.objects.order_by("-pk").values_list("pk", flat=True)[:2]]
    every.said |= {"newest": re.findall(r'data-newest="(\d+)"', rows)[0], "named": 0}
    assert every.ask() == ""


def test_a_file_that_grew_is_read(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_bytes(session(2))
    open_file(local_member(), file)
    page = OpenPage(client)
    assert page.ask() == ""
    file.write_bytes(session(4))
    assert re.search(r'data-mark="\w+"[^>]* hx-swap-oob="true"', page.ask())


def test_nobody_learns_of_chains_and_drafts_that_are_not_theirs(
    team_mode: Team,  # noqa: F811
    tmp_path: Path,
    settings: Any,
    chains: list[Chain],
) -> None:
    """Only people who may see files learn of the file. Files outside the server's folders are not read."""
    file = tmp_path / "run.jsonl"
    file.write_bytes(session(2))
    open_file(local_member(), file)
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": str(tmp_path / "elsewhere")})
    owner = client_of(make_member(team_mode, "Lin", Role.OWNER))
    viewer = client_of(make_member(team_mode, "Ada", Role.VIEWER))
    stranger = client_of(make_member(make_team("Others"), "Sam", Role.OWNER))
    pages = [OpenPage(owner), OpenPage(viewer)]
    outside = OpenPage(stranger)
    outside.marks = dict.fromkeys(pages[0].marks, "")
    file.write_bytes(session(4))
    send_form(owner, f"/c/{chains[0].pk}/edit/s1.h.m1?v=1", s1__h__m1__c0__text="Which one?")
    noted = AuditRow.objects.count()
    assert ["draft, 1 step" in page.ask() for page in pages] == [True, False]
    assert outside.ask() == ""
    assert AuditRow.objects.count() == noted
    assert Chain.objects.get(file_name="run.jsonl").version == 1


def test_the_question_costs_as_many_statements_for_many_chains(team_mode: Team, chains: list[Chain]) -> None:  # noqa: F811
    lin = make_member(team_mode, "Lin", Role.OWNER)
    asks = {"version": 1, "requested_by": lin.user, "requested_by_name": "Lin", "requested_at": timezone.now()}
    job("scan-chain", snapshot=0, owner=lin.user)
    ReviewRequest.objects.create(chain=chains[0], **asks)
    page = OpenPage(client_of(lin))
    few = statements(page)
    for number in range(20):
        ReviewRequest.objects.create(chain=make_chain([human(f"Number {number}")], f"{number}.json"), **asks)
        job("scan-chain", snapshot=number, owner=lin.user)
    page = OpenPage(page.client)
    assert len(page.marks) == 23
    assert statements(page) == few <= 22


def statements(page: OpenPage) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert page.ask() == ""
    return len(queries)
