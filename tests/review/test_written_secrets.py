"""The scan of the library finds secrets in what people wrote about a chain."""

from __future__ import annotations

import pytest

from chainviz.chains.secrets.scans import start_library_scan
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.review.labels import LabelChoice, set_label
from chainviz.review.models import Thread
from chainviz.review.requests.services import ask, dismiss, give_verdict, standing_of
from chainviz.review.threads.writing import NewThread, begin
from tests.accounts.conftest import team_mode  # noqa: F401
from tests.review.conftest import Room

pytestmark = pytest.mark.django_db
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_it_finds_them_in_every_text_and_says_where(room: Room) -> None:
    ivo = room.ivo.user
    begin(room.chain, ivo, NewThread(1, Thread.Kind.CHAIN, quote=f"say {KEY}"), f"The key is {KEY}")
    set_label(room.chain, LabelChoice(1, "", "tag", KEY), by=ivo)
    ask(room.chain, [room.mei.user_id], f"Is {KEY} valid?", by=ivo)
    dismiss(give_verdict(room.chain, 1, "changes", f"{KEY} is in it", by=room.mei.user), f"{KEY} is a test", by=ivo)
    job = start_library_scan(room.lin)
    run_job(job.pk)
    assert Job.objects.get(pk=job.pk).result == [[room.chain.pk, "written", {"github-token": 6}]]
    page = room.client(room.lin).get("/secrets/").content.decode()
    assert "comments, labels and reviews</span>" in page
    assert f'href="/c/{room.chain.pk}/threads/?show=all"' in page
    assert KEY not in page


def test_a_pending_comment_is_told_to_nobody(room: Room) -> None:
    begin(room.chain, room.ivo.user, NewThread(1, Thread.Kind.CHAIN), f"The key is {KEY}", is_pending=True)
    job = start_library_scan(room.lin)
    run_job(job.pk)
    assert Job.objects.get(pk=job.pk).result == []


def test_the_names_of_a_chain_are_looked_through_too(room: Room) -> None:
    room.client(room.ivo).post(f"/c/{room.chain.pk}/rename/", {"title": f"Why {KEY} failed"})
    job = start_library_scan(room.lin)
    run_job(job.pk)
    assert Job.objects.get(pk=job.pk).result == [[room.chain.pk, "names", {"github-token": 1}]]
    page = room.client(room.lin).get("/secrets/").content.decode()
    assert "title, file name and notes</span>" in page
    assert f'href="/c/{room.chain.pk}/versions/"' in page
    assert "1 finding in the title or the file name" in room.client(room.lin).get(f"/c/{room.chain.pk}/v/1/export").content.decode()
    room.chain.refresh_from_db()
    assert standing_of(room.chain).secrets == 1


def test_pages_tell_what_the_files_that_they_offer_hold(room: Room) -> None:
    def page(name: str) -> str:
        return room.client(room.lin).get(f"/c/{room.chain.pk}/{name}").content.decode()

    assert "in title and" not in page("labels/") + page("threads/")
    begin(room.chain, room.ivo.user, NewThread(1, Thread.Kind.CHAIN), f"The key is {KEY}")
    set_label(room.chain, LabelChoice(1, "", "tag", KEY), by=room.ivo.user)
    assert "1 possible secret in title and labels" in page("labels/")
    assert "1 possible secret in title and comments" in page("threads/?show=resolved"), "whichever are listed"
    assert f'href="/c/{room.chain.pk}/purge/' in page("labels/")
