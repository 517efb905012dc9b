"""Requests with an Idempotency-Key: sent again they make nothing and are answered as before, whatever happened between."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from chainviz.accounts import middleware
from chainviz.accounts.models import AuditRow, IdempotencyKey, Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from chainviz.chains.uploads import arrivals
from chainviz.drafts.models import Draft
from chainviz.http_api import errors, threads
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_next_job
from chainviz.purge.jobs import start_purge
from chainviz.review.models import Comment, Label, Thread
from chainviz.store.models import Version
from tests.chains.making import STORY
from tests.http_api.test_calls import FILE, V1, Program, program  # noqa: F401

pytestmark = [pytest.mark.django_db, pytest.mark.database]
MAKES = (Chain, Version, Draft, Thread, Comment, Label, Job, AuditRow)
Make = Callable[..., Program]


def send(who: Program, path: str, body: Any, key: str) -> Any:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
    return who.client.post(V1 + path, content, content_type=kind, headers={"Idempotency-Key": key})


def counts() -> list[int]:
    return [model._base_manager.count() for model in MAKES]


@pytest.fixture
def editor(program: Make) -> Program:  # noqa: F811
    return program()


@pytest.fixture
def at(editor: Program) -> str:
    return f"/chains/{editor.upload(FILE).json()['chains'][0]['id']}"


EDIT = {"options": {"path": "s1.h.m0", "action": "text", "text": "Be brief."}}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/operations/edit", EDIT, 201),
        ("/operations/edit", {**EDIT, "save": True, "note": "shorter"}, 200),
        ("/versions/1/threads", {"text": "Why?", "path": "s1"}, 201),
        ("/threads/1/replies", {"text": "Because"}, 201),
        ("/versions/1/labels", {"kind": "tag", "value": "odd", "path": "s1"}, 200),
    ],
)
def test_what_is_sent_again_is_done_once(editor: Program, at: str, path: str, body: Any, status: int) -> None:
    editor.send(f"{at}/versions/1/threads", {"text": "First"})
    first = send(editor, at + path, body, "one")
    made = counts()
    again = send(editor, at + path, body, "one")

    assert (first.status_code, again.status_code) == (status, status)
    assert (again.content, again["Content-Type"]) == (first.content, first["Content-Type"])
    assert (first.headers.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    assert counts() == made, "nothing is made, and nothing recorded as done"
    assert send(editor, at + path, body, "two").headers.get("Idempotency-Replayed") is None


def test_an_upload_and_a_save_are_answered_again(editor: Program, at: str) -> None:
    other = json.dumps({"messages": STORY[:3]}).encode()
    first, again = (send(editor, "/uploads?name=a.json", other, "file") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201), "not 200: it answers as the first one did"
    assert first.content == again.content

    draft = editor.send(f"{at}/operations/edit", EDIT).json()["id"]
    first, again = (send(editor, f"{at}/drafts/{draft}/save", {"note": "x"}, "save") for _ in range(2))
    assert (first.status_code, first.content) == (again.status_code, again.content)
    assert editor.send(f"{at}/drafts/{draft}/save", {"note": "x"}).status_code == 409, "without a key it is gone"


def test_long_work_is_answered_with_how_far_it_is(editor: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "BIG", 10)
    first = send(editor, "/uploads", FILE, "long")
    assert (first.status_code, first.content) == (202, send(editor, "/uploads", FILE, "long").content)
    assert run_next_job()
    later = send(editor, "/uploads", FILE, "long")
    assert (later.status_code, later.json()["state"], later.json()["chains"][0]["id"]) == (202, "done", Chain.objects.get().pk)

    monkeypatch.setattr("chainviz.http_api.drafts.is_long", lambda chain: True)
    at = f"/chains/{Chain.objects.get().pk}"
    first, again = (send(editor, f"{at}/operations/edit", EDIT, "job") for _ in range(2))
    assert (first.status_code, first.content) == (202, again.content)
    assert Job.objects.filter(function="run-operation").count() == 1


def test_a_key_belongs_to_one_request_of_one_token(editor: Program, at: str, program: Make) -> None:  # noqa: F811
    path = f"{at}/versions/1/threads"
    assert send(editor, path, {"text": "One"}, "k").status_code == 201
    for other, body in ((path, {"text": "Two"}), (f"{at}/threads/1/replies", {"text": "One"}), (f"{path}?a=1", {"text": "One"})):
        refused = send(editor, other, body, "k")
        assert (refused.status_code, refused.json()["where"]) == (422, "Idempotency-Key")
    assert refused.json()["error"] == "This Idempotency-Key was sent with another request; use a new one."
    assert send(program(), path, {"text": "Three"}, "k").status_code == 201, "another token has keys of its own"
    assert Thread.objects.count() == 2


@pytest.mark.parametrize("key", ["", "k" * 256, "two words", "caf\xe9", "line\tbreak"])
def test_a_key_is_a_short_word(editor: Program, at: str, key: str) -> None:
    refused = send(editor, f"{at}/versions/1/threads", {"text": "One"}, key)
    assert (refused.status_code, refused.json()["where"]) == (400, "Idempotency-Key")
    assert not Thread.objects.exists() and not IdempotencyKey.objects.exists()
    assert send(editor, f"{at}/versions/1/threads", {"text": "One"}, "k" * 255).status_code == 201


def test_a_request_that_was_refused_keeps_no_key(editor: Program, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{at}/versions/1/threads"
    assert send(editor, path, {"text": ""}, "k").status_code == 422
    assert send(editor, "/uploads", b"{", "k").status_code == 422
    assert not IdempotencyKey.objects.exists()

    editor.client.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr(threads, "_shape", lambda *given: 1 / 0)
        assert send(editor, path, {"text": "One"}, "k").status_code == 500
    assert not Thread.objects.exists(), "the key and the thread are stored together or not at all"
    assert send(editor, path, {"text": "One"}, "k").status_code == 201


def test_a_request_under_way_is_not_done_twice(editor: Program, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, answers = f"{at}/versions/1/threads", []
    begin = threads.writing.begin

    def slowly(*given: Any) -> Any:
        monkeypatch.setattr(threads.writing, "begin", begin)
        answers.append(send(editor, path, {"text": "One"}, "k"))
        return begin(*given)

    monkeypatch.setattr(threads.writing, "begin", slowly)
    assert send(editor, path, {"text": "One"}, "k").status_code == 201
    assert (answers[0].status_code, answers[0]["Retry-After"]) == (409, "1")
    assert "still running" in answers[0].json()["error"]
    assert Thread.objects.count() == 1


def test_a_request_that_died_is_done_by_the_next(editor: Program, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = f"{at}/versions/1/threads"

    def overtaken(*given: Any) -> Any:
        found = middleware.claim(*given)
        IdempotencyKey.objects.update(at=timezone.now())  # by a request that took the key over
        return found

    with monkeypatch.context() as slow:
        slow.setattr(errors, "claim", overtaken)
        lost = send(editor, path, {"text": "One"}, "k")
    assert (lost.status_code, "took too long" in lost.json()["error"]) == (409, True)
    assert (Thread.objects.count(), IdempotencyKey.objects.count()) == (0, 1), "what the first wrote is taken back"

    IdempotencyKey.objects.update(at=timezone.now() - middleware.LONGEST - timedelta(seconds=1))
    done = send(editor, path, {"text": "One"}, "k")
    assert (done.status_code, "Idempotency-Replayed" in done) == (201, False)
    assert send(editor, path, {"text": "One"}, "k")["Idempotency-Replayed"] == "true"
    assert Thread.objects.count() == 1


def test_keys_are_forgotten_after_a_day(editor: Program, at: str) -> None:
    path = f"{at}/versions/1/threads"
    send(editor, path, {"text": "One"}, "k")
    IdempotencyKey.objects.update(at=timezone.now() - timedelta(hours=25))
    assert send(editor, path, {"text": "Two"}, "k").status_code == 201
    send(editor, path, {"text": "Three"}, "new")
    IdempotencyKey.objects.filter(pk=IdempotencyKey.objects.earliest("pk").pk).update(at=timezone.now() - timedelta(hours=25))
    middleware.forget_old()
    assert IdempotencyKey.objects.count() == 1


@pytest.mark.django_db(transaction=True)  # a purge cleans the files of the database
def test_an_answer_shows_what_may_be_seen_today(editor: Program, at: str, program: Make, team_mode: Team) -> None:  # noqa: F811
    path, secret = f"{at}/versions/1/threads", "hunter2hunter2"
    send(editor, path, {"text": f"Is it {secret}?"}, "k")
    row = IdempotencyKey.objects.values().get()
    assert secret not in str(row) and row["made"] == {"thread": 1}

    owner = Membership.objects.get(role=Role.EDITOR).user
    start_purge(Chain.objects.get(), secret, "", (), by=owner)
    again = send(editor, path, {"text": f"Is it {secret}?"}, "k")
    assert (again.status_code, secret in again.content.decode()) == (201, False)

    Membership.objects.update(role=Role.VIEWER)
    assert send(editor, path, {"text": f"Is it {secret}?"}, "k").status_code == 403
    Membership.objects.update(role=Role.EDITOR)
    Chain.objects.update(trashed_at=timezone.now())
    assert send(editor, path, {"text": f"Is it {secret}?"}, "k").status_code == 404


REVIEW = {"give_verdict", "request_review"}


def test_the_description_says_which_calls_take_a_key(editor: Program) -> None:
    paths = editor.get("/openapi.json").json()["paths"]
    takes = {
        said["operationId"]
        for methods in paths.values()
        for said in methods.values()
        if any(each["name"] == "Idempotency-Key" for each in said["parameters"])
    }
    assert takes == {"upload", "run_operation", "save_draft", "new_thread", "reply_to_thread", "set_label", *REVIEW}
    said = paths[f"{V1}/chains/{{chain_id}}/versions/{{number}}/threads"]["post"]
    assert "Idempotency-Replayed" in said["responses"]["201"]["headers"]
    assert "Idempotency-Key" in editor.client.get(f"{V1}/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_make_one(program: Make) -> None:  # noqa: F811
    """Each thread has a connection of its own, as each web process has."""
    editor = program()
    path = f"/chains/{editor.upload(FILE).json()['chains'][0]['id']}/versions/1/threads"
    answers: list[Any] = []

    def ask() -> None:
        try:
            answers.append(send(_copy(editor), path, {"text": "One"}, "k"))
        finally:
            connection.close()

    runs = [threading.Thread(target=ask) for _ in range(8)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert Thread.objects.count() == Comment.objects.count() == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert sum(answer.status_code == 201 and "Idempotency-Replayed" not in answer for answer in answers) == 1


def _copy(who: Program) -> Program:
    copied = Program("")
    copied.client.defaults.update(who.client.defaults)
    return copied
