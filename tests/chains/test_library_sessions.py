"""Sessions and kept chains are one list: sorted, filtered, summed and acted on together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.bulk.models import BulkRow
from chainviz.chains.library.search import start_if_needed
from chainviz.chains.models import Chain, WorkingCopy
from chainviz.chains.samples import load_samples
from chainviz.chains.services import to_bin
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member
from tests.chains.making import human, make_chain
from tests.sessions_index.claude_store import GOOD, REFUSED, answer, text, user, write_session

pytestmark = pytest.mark.django_db
TITLE = re.compile(r'class="chain-link"[^>]*?href="[^"]*"\s*title="([^"&]*)')


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    write_session(tmp_path, "one", GOOD, at=10)
    write_session(tmp_path, "two", [user("Why broken"), *REFUSED[1:]], at=20)
    write_session(tmp_path, "three", [user("Key?"), answer(text("AKIAIOSFODNN7REALKEY is it"), number=1, tokens=10)], at=30)
    services.choose_sources(local_member(), ["claude-code"])
    run_waiting_jobs()
    return tmp_path


def titles(client: Client, query: str = "") -> list[str]:
    return TITLE.findall(client.get(f"/?{query}").content.decode())


def session(key: str) -> Session:
    return Session.objects.get(key=key)


def test_sessions_and_chains_are_sorted_together(home: Path, client: Client) -> None:
    make_chain([human("Mine")], "mine.json")
    assert titles(client, "order=title") == ["Count the lines", "Key?", "Mine", "Why broken"]
    assert titles(client, "order=-tokens")[:3] == ["Count the lines", "Why broken", "Key?"]
    assert titles(client, "order=-messages")[0] == "Count the lines"


def test_health_is_sorted_with_the_worst_first(home: Path, client: Client) -> None:
    found = titles(client, "order=-health")
    assert found[0] == "Why broken"
    assert found[-1] in ("Count the lines", "Key?")


def test_filters_choose_among_sessions(home: Path, client: Client) -> None:
    assert titles(client, "health=refused") == ["Why broken"]
    assert titles(client, "agent=codex") == []
    assert titles(client, "problem=anthropic:result-missing") == ["Why broken"]
    assert titles(client, "tool=Bash") == ["Count the lines"]
    assert titles(client, "model=claude-opus-4-1") == ["Count the lines"]
    assert titles(client, "q=why") == ["Why broken"]
    assert len(titles(client, "folder=/yard/shop")) == 3
    assert titles(client, "label=tag:urgent") == []


def test_totals_are_those_of_the_filter(home: Path, client: Client) -> None:
    page = client.get("/?order=title").content.decode()
    totals = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page[page.index("<tfoot") : page.index("</tfoot>")]))
    assert "3 chains" in totals
    assert "14" in totals
    assert "1 match" in client.get("/?health=refused").content.decode()


def test_opened_session_stays_one_row_until_it_is_kept(home: Path, client: Client) -> None:
    client.post(f"/sessions/{session('one').pk}/open/")
    assert titles(client).count("Count the lines") == 1
    assert "kept, v1" not in client.get("/").content.decode()
    client.post("/keep/", {"session": session("one").pk})
    page = client.get("/").content.decode()
    assert TITLE.findall(page).count("Count the lines") == 1
    assert "kept, v1" in page
    to_bin(Chain.objects.all())
    assert "Count the lines" not in titles(client)


def test_ticked_sessions_are_acted_on_like_chains(home: Path, client: Client) -> None:
    run = client.post("/bulk/", {"act": "export", "session": [session("one").pk, session("two").pk]})
    assert run.status_code == 303
    assert BulkRow.objects.count() == 2
    assert WorkingCopy.objects.filter(is_kept=False).count() == 2


def test_all_that_match_are_sessions_too(home: Path, client: Client) -> None:
    make_chain([human("Mine")], "mine.json")
    client.post(f"/sessions/{session('one').pk}/open/")
    assert client.post("/bulk/", {"act": "repair", "all": "1", "filter": "health=refused"}).status_code == 303
    assert [row.chain.title for row in BulkRow.objects.all()] == ["Why broken"]
    BulkRow.objects.all().delete()
    assert client.post("/bulk/", {"act": "export", "all": "1", "filter": ""}).status_code == 303
    assert {row.chain.title for row in BulkRow.objects.all()} == {"Count the lines", "Why broken", "Key?", "Mine"}
    client.post("/keep/", {"all": "1", "filter": "q=count"})
    assert WorkingCopy.objects.get(is_kept=True).chain.title == "Count the lines"
    Session.objects.filter(key="three").update(path="/nowhere/three.jsonl")
    page = client.post("/bulk/", {"act": "mask", "all": "1", "filter": "secrets=1"}, follow=True).content.decode()
    assert "/nowhere/three.jsonl" in page
    assert client.post("/bulk/", {"act": "bin", "all": "1", "filter": "agent=claude-code"}).status_code == 303
    assert [row.chain.title for row in BulkRow.objects.filter(run__act="bin")] == ["Count the lines"]


def test_two_ticked_sessions_are_compared(home: Path, client: Client) -> None:
    asked = client.post("/compare/", {"session": [session("one").pk, session("two").pk]})
    assert re.fullmatch(r"/compare/\d+/\d+/.*|/c/.*", asked.headers["Location"])


def test_content_of_an_opened_session_is_searched(home: Path, client: Client) -> None:
    assert titles(client, "q=AKIAIOSFODNN7REALKEY") == []
    client.post(f"/sessions/{session('three').pk}/open/")
    start_if_needed()
    run_waiting_jobs()
    assert titles(client, "q=AKIAIOSFODNN7REALKEY") == ["Key?"]


def test_page_follows_sessions_that_change(home: Path, client: Client) -> None:
    page = client.get("/").content.decode()
    marks = dict(re.findall(r'id="session-(\d+)" data-mark="(\w+)"', page))
    newest = max(map(int, marks))
    values = {"query": "", "newest": 0, "named": 0, "newest_session": newest, "session": [*marks], "session-mark": [*marks.values()]}
    assert client.post("/refresh/", values).status_code == 204
    write_session(home, "one", [*GOOD, user("More", 28)], at=50)
    write_session(home, "four", [user("New one")], at=60)
    services.scan(local_member().team)
    run_waiting_jobs()
    changes = client.post("/refresh/", values).content.decode()
    assert f'id="session-{session("one").pk}"' in changes
    (totals,) = re.findall(r'<tfoot[^>]*id="library-totals" hx-swap-oob="true">.*?</tfoot>', changes, re.DOTALL)
    assert f">{sum(row.messages or 0 for row in Session.objects.all())}<" in re.sub(r"\s+", "", totals)
    assert "1 new chain" in changes


def test_reading_can_be_stopped_and_goes_on(home: Path, client: Client) -> None:
    write_session(home, "five", GOOD, at=90)
    services.scan(local_member().team)
    Session.objects.filter(key="one").update(read_state="")
    page = client.get("/").content.decode()
    assert "2 of 3 sessions read" in re.sub(r"\s+", " ", page)
    client.post("/reading/", {"act": "stop"})
    assert "Go on" in client.get("/").content.decode()
    client.post("/reading/", {"act": "go on"})
    run_waiting_jobs()
    assert "sessions read" not in client.get("/").content.decode()
    assert client.get("/reading/", headers={"HX-Request": "true"}).status_code == 200


def test_only_who_may_see_files_sees_sessions(team_mode: Team, tmp_path: Path, settings: object) -> None:  # noqa: F811
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": str(tmp_path)})  # type: ignore[attr-defined]
    write_session(tmp_path, "one", GOOD).rename(tmp_path / "one.jsonl")
    owner, editor = make_member(team_mode, "Lin", Role.OWNER), make_member(team_mode, "Sam", Role.EDITOR)
    load_samples(owner)
    services.scan_if_due(team_mode)
    run_waiting_jobs()
    assert "Count the lines" in client_of(owner).get("/").content.decode()
    assert "Count the lines" not in client_of(editor).get("/").content.decode()
    assert client_of(editor).get(f"/sessions/{Session.objects.get().pk}/").status_code in (403, 404)


def test_row_shows_every_fact_that_changes(home: Path, client: Client) -> None:
    """Rows are remembered as they were written."""
    before = client.get("/").content.decode()
    assert client.get("/").content.decode().count('id="session-') == before.count('id="session-')
    Session.objects.filter(key="one").update(messages=4_321, tokens=77_000_000, problems=7, health="refused", duration=7_200_000)
    after = client.get("/").content.decode()
    for words in ("4,321", "77.0M", "7 problems", "2 h"):
        assert words in after and words not in before
