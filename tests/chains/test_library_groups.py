"""The table project by project, the filter of one project, and how many chains fit a saved filter."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from django.test import Client

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.folders.opening import open_file
from chainviz.chains.library import listing, saved_filters
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.samples import load_samples
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.accounts.people import client_of, make_member
from tests.store.test_growth import session

pytestmark = pytest.mark.django_db
GROUP = re.compile(r'<tr role="row" class="group-row">.*?</tr>', re.DOTALL)
HIDDEN = re.compile(r"<span [^>]* hidden>.*?running</span>")
LINK = re.compile(r'class="chain-link" href="[^"]*" title="([^"]*)"')
HOUR_AGO = 1_790_000_000
PLACES = ("app/one.jsonl", "app/two.jsonl", "app/agents/three.jsonl", "docs/four.jsonl", "five.jsonl")


def groups(page: str) -> dict[str, tuple[str, list[str]]]:
    """Return the heading of each group and the titles below it, by the name of the group."""
    found = {}
    for body in re.findall(r"(?s)<tbody.*?</tbody>", page):
        if heading := GROUP.search(body):
            name, *said = [text for text in re.split(r"\s*<[^>]*>\s*", HIDDEN.sub("", heading[0])) if text.strip()]
            found[name] = (" ".join(said), LINK.findall(body))
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Chains of files in three folders, older than the samples; they record no working folder."""
    for name in PLACES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(session(2, name))
        os.utime(path, (HOUR_AGO, HOUR_AGO))
        open_file(local_member(), path)
    return tmp_path


def test_chains_stand_under_their_project(client: Client, root: Path) -> None:
    load_samples()
    found = groups(client.get("/").content.decode())
    assert {name: (said, len(titles)) for name, (said, titles) in found.items()} == {
        "Other chains": ("4 chains 1 needs fixing", 4),
        root.name: ("1 chain", 1),
        "docs": ("1 chain", 1),
        "app": ("2 chains", 2),
        "agents": ("1 chain", 1),
    }
    assert next(iter(found)) == "Other chains"  # where the chain that was changed last is


def test_without_projects_there_is_one_list(client: Client) -> None:
    load_samples()
    assert "group-row" not in client.get("/").content.decode()


def test_another_order_and_a_search_are_one_list(client: Client, root: Path) -> None:
    assert groups(client.get("/?order=changed").content.decode())
    assert not groups(client.get("/?order=-cost").content.decode())
    assert not groups(client.get("/?q=docs").content.decode())


def test_one_project_is_a_filter(client: Client, root: Path) -> None:
    load_samples()
    for query, count in ((f"folder={root}/app", 3), (f'q=folder:"{root}/app"', 3), (f"folder={root}/docs", 1)):
        assert len(LINK.findall(client.get(f"/?{query}").content.decode())) == count
    assert "No chain matches" in client.get(f"/?folder={root}/ap").content.decode()
    assert len(client.get(f"/api/v1/chains?folder={root}/app").json()["chains"]) == 3
    assert f'href="?folder={str(root / "app").replace("/", "%2F")}"' in client.get("/").content.decode()


def test_project_shows_its_newest_chains_and_how_many_are_older(client: Client, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chainviz.chains.library.entries.PER_GROUP", 1)
    page = client.get("/").content.decode()
    assert len(groups(page)["app"][1]) == 1
    assert ">1 older in app</a>" in page
    assert "4 chains" not in page


def test_projects_go_on_on_the_next_page(client: Client, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "GROUPED_ROWS", 3)
    first, second = (client.get(f"/?page={page}").content.decode() for page in (1, 2))
    assert len(groups(first)) + len(groups(second)) == 4
    assert groups(first).keys().isdisjoint(groups(second))
    assert "Page 1 of 2" in first


def test_what_was_folded_comes_folded(client: Client, root: Path) -> None:
    key = re.search(r'data-group="(\w+)" open><summary>(?:(?!</summary>).)*>app<', client.get("/").content.decode())
    assert key
    client.cookies["library_folded"] = f"nonsense.{key[1]}"
    page = client.get("/").content.decode()
    assert page.count(" open><summary>") == 3
    assert f'data-group="{key[1]}">' in page


def test_a_running_session_is_marked(client: Client, root: Path) -> None:
    assert ">running<" not in client.get("/").content.decode()
    (root / "app/one.jsonl").touch()
    page = client.get("/").content.decode()
    assert "1 running" in groups(page)["app"][0]
    assert page.count("</span>running</span>") == 1


def test_only_owners_filter_by_folders(team_mode: Team, tmp_path: Path, settings: object) -> None:  # noqa: F811
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"folders": str(tmp_path)})  # type: ignore[attr-defined]
    owner = make_member(team_mode, "Lin", Role.OWNER)
    load_samples(owner)
    LocalFile.objects.create(chain=Chain.objects.first(), path=str(tmp_path / "app/run.jsonl"))
    editor = client_of(make_member(team_mode, "Sam", Role.EDITOR))
    assert "No chain matches" not in client_of(owner).get(f"/?folder={tmp_path}/app").content.decode()
    assert str(tmp_path) not in editor.get("/").content.decode()
    assert "No chain matches" in editor.get(f"/?folder={tmp_path}/app").content.decode()


def counts(client: Client, query: str = "") -> tuple[list[str], str]:
    page = client.get(f"/filters/counts/{query}").content.decode()
    rest = re.search(r'hx-get="[^"]*(\?skip=\d+)"', page)
    return re.findall(r'-count" hx-swap-oob="true">([\d,]+)<', page), rest[1] if rest else ""


def test_saved_filters_are_counted_after_the_page(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    load_samples()
    for name, query in (("a", "problems=1"), ("b", "q=jacket"), ("c", "larger=1 GB")):
        client.post("/filters/", {"name": name, "query": query})
    assert 'hx-get="/filters/counts/"' in client.get("/").content.decode()
    assert counts(client) == (["1", "1", "0"], "")
    monkeypatch.setattr(saved_filters, "AT_ONCE", 0)
    assert counts(client) == (["1"], "?skip=1")
    assert counts(client, "?skip=1") == (["1"], "?skip=2")
    assert counts(client, "?skip=2") == (["0"], "")
