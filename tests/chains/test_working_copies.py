"""Opening a session makes a working copy: it is collected after a while, unless something is done with it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import Membership, local_member
from chainviz.chains.models import Chain, WorkingCopy
from chainviz.chains.services import rename, to_bin
from chainviz.chains.working_copies.kept import KEPT_FOR, collect, keep
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.review.labels import LabelChoice, set_label
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session
from tests.sessions_index.claude_store import GOOD, user, write_session

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    write_session(tmp_path, "one", GOOD)
    services.choose_sources(local_member(), ["claude-code"])
    run_waiting_jobs()
    return tmp_path


def opened(client: Client) -> Chain:
    session = Session.objects.get()
    client.post(f"/sessions/{session.pk}/open/")
    return Chain.objects.get()


def test_opened_session_is_a_working_copy_that_is_made_once(home: Path, client: Client) -> None:
    session = Session.objects.get()
    page = client.get(f"/sessions/{session.pk}/")
    assert page.status_code == 200
    assert not Chain.objects.exists()
    answer = client.post(f"/sessions/{session.pk}/open/")
    chain = Chain.objects.get()
    assert answer.headers["Location"] == f"/c/{chain.pk}/"
    assert (chain.title, chain.health, chain.project, chain.working_copy.session) == ("Count the lines", "accepted", "/yard/shop", session)
    assert client.get(f"/sessions/{session.pk}/").headers["Location"] == f"/c/{chain.pk}/"
    client.post(f"/sessions/{session.pk}/open/")
    assert Chain.objects.count() == 1


def test_session_that_cannot_be_read_says_why(home: Path, client: Client) -> None:
    Path(Session.objects.get().path).write_text("no session")
    answer = client.post(f"/sessions/{Session.objects.get().pk}/open/", follow=True)
    run_waiting_jobs()
    page = client.get(answer.request["PATH_INFO"]).content.decode()
    assert "one.jsonl" in page and "Keep it as raw text" in page


def test_missing_file_of_a_session_says_so(home: Path, client: Client) -> None:
    Path(Session.objects.get().path).unlink()
    answer = client.post(f"/sessions/{Session.objects.get().pk}/open/")
    assert answer.status_code == 422 and "Try again" in answer.content.decode()


def age(days: timedelta = KEPT_FOR + timedelta(hours=1)) -> None:
    WorkingCopy.objects.update(opened_at=timezone.now() - days)


def test_unused_copy_is_collected_after_a_while(home: Path, client: Client) -> None:
    opened(client)
    assert collect() == 0
    age()
    assert collect() == 1
    assert not Chain.objects.exists()
    assert Session.objects.get().title == "Count the lines"


def label(chain: Chain) -> None:
    set_label(chain, LabelChoice(1, "", "tag", "urgent"), by=local_member().user)


@pytest.mark.parametrize(
    "use",
    [
        label,
        lambda chain: rename(chain, "Mine"),
        lambda chain: to_bin(Chain.objects.filter(pk=chain.pk)),
        lambda chain: keep(Chain.objects.filter(pk=chain.pk)),
    ],
    ids=["label", "rename", "bin", "keep"],
)
def test_copy_with_which_something_was_done_stays(home: Path, client: Client, use: Callable[[Chain], object]) -> None:
    use(opened(client))
    age()
    assert collect() == 0
    assert Chain.objects.exists()


def test_grown_session_alone_keeps_no_copy(home: Path, client: Client) -> None:
    opened(client)
    write_session(home, "one", [*GOOD, user("More", 28)], at=9)
    opened(client)
    assert Chain.objects.get().version == 2
    age()
    assert collect() == 1


def test_kept_chain_outlives_its_session(home: Path, client: Client) -> None:
    keep(Chain.objects.filter(pk=opened(client).pk))
    Path(Session.objects.get().path).unlink()
    services.scan(local_member().team)
    run_waiting_jobs()
    assert not Session.objects.exists()
    age()
    assert collect() == 0
    assert Chain.objects.get().working_copy.session is None


def test_other_teams_see_no_session(home: Path, client: Client) -> None:
    other = Membership(team_id=local_member().team_id + 1, role="owner")
    assert not Session.objects.visible_to(other).exists()
