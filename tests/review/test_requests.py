"""Requests for a review and the verdicts that answer them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import AuditRow, Membership
from chainviz.accounts.permissions import Role
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.review.models import ReviewRequest, SignOff, TeamRules, Thread, Verdict, Viewed
from chainviz.review.requests.services import standing_of, standings
from chainviz.review.threads.writing import NewThread, begin
from tests.accounts.people import client_of, make_member, make_team
from tests.drafts.pages import send_form
from tests.review.conftest import Room

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def ask(room: Room, *people: Membership, purpose: str = "") -> Any:
    form = {"person": [each.user_id for each in people], "purpose": purpose}
    return room.client(room.ivo).post(f"{room.page}request/", form)


def judge(room: Room, who: Membership, kind: str, version: int | str = "", summary: str = "") -> Any:
    form = {"kind": kind, "version": version or current(room).version, "summary": summary}
    return room.client(who).post(f"{room.page}verdict/", form)


def current(room: Room) -> Chain:
    return Chain.objects.get(pk=room.chain.pk)


def save_version(room: Room, who: Membership, text: str) -> None:
    client = room.client(who)
    send_form(client, f"/c/{room.chain.pk}/edit/s1.p2?v={current(room).version}", s1__p2__m0__c0__text=text)
    client.post(f"/c/{room.chain.pk}/d/{Draft.objects.latest('pk').pk}/save", {"note": ""})


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_an_editor_asks_members_who_may_give_verdicts(room: Room) -> None:
    assert ask(room, room.sam).status_code == 422, "a viewer gives no verdicts"
    stranger = make_member(make_team("Elsewhere"), "Stranger", Role.OWNER)
    assert "Choose at least one reviewer" in text_of(ask(room, stranger, purpose="kept"))
    assert not ReviewRequest.objects.exists()

    assert ask(room, room.mei, room.lin, purpose="For the vendor").status_code == 303

    page = text_of(room.client(room.sam).get(room.page))
    assert "For the vendor" in page
    assert page.count("waiting") == 2
    assert [row.facts["people"] for row in AuditRow.objects.filter(act="review:request", outcome="done")] == [
        [room.mei.user_id, room.lin.user_id]
    ]


def test_what_was_typed_stays_where_the_form_is_refused(room: Room) -> None:
    assert "For the vendor" in text_of(ask(room, purpose="For the vendor"))
    answer = judge(room, room.mei, "nonsense", summary="A long thought")
    assert answer.status_code == 422
    assert "A long thought" in text_of(answer)


def test_nobody_approves_a_version_they_saved(room: Room) -> None:
    save_version(room, room.ivo, "Another drill.")
    refused = judge(room, room.ivo, "approve")
    assert refused.status_code == 422
    assert "You saved version 2; somebody else has to approve it." in text_of(refused)
    assert text_of(room.client(room.lin).get(room.page)).count("saved version 2 and cannot approve it") == 1
    assert judge(room, room.ivo, "comment").status_code == 303
    assert judge(room, room.ivo, "approve", version=1).status_code == 303, "somebody else uploaded version 1"


def test_a_newer_version_makes_an_approval_stale(room: Room) -> None:
    judge(room, room.mei, "approve")
    assert standing_of(current(room)).is_ready

    save_version(room, room.ivo, "Another drill.")

    standing = standing_of(current(room))
    assert (len(standing.approvals), len(standing.stale), standing.is_ready) == (0, 1, False)
    page = text_of(room.client(room.mei).get(room.page))
    assert "stale approval" in page
    assert "Ask Mei again" not in page, "nobody asked"
    assert f'href="/c/{room.chain.pk}/diff/1..2/"' in page, "what changed since the person's own review"
    judge(room, room.mei, "approve")
    assert standing_of(current(room)).is_ready


def test_a_verdict_counts_for_the_version_that_was_judged(room: Room) -> None:
    save_version(room, room.ivo, "Another drill.")
    judge(room, room.mei, "approve", version=1)
    assert Verdict.objects.get().version == 1
    assert not standing_of(current(room)).is_ready
    assert judge(room, room.mei, "approve", version=9).status_code == 404


def test_an_objection_stands_until_its_author_or_a_dismissal_ends_it(room: Room) -> None:
    judge(room, room.lin, "approve")
    judge(room, room.mei, "changes", summary="A name is left")
    judge(room, room.mei, "comment")
    assert not standing_of(current(room)).is_ready, "a comment takes nothing back"
    save_version(room, room.ivo, "Another drill.")
    judge(room, room.lin, "approve")
    assert not standing_of(current(room)).is_ready

    verdict = Verdict.objects.get(kind="changes")
    address = f"{room.page}verdict/{verdict.pk}/dismiss/"
    assert room.client(room.mei).post(address, {"reason": "no"}).status_code == 403
    assert room.client(room.ivo).post(address, {"reason": " "}).status_code == 422
    assert room.client(room.ivo).post(address, {"reason": "It is masked now"}).status_code == 303

    assert standing_of(current(room)).is_ready
    assert "Dismissed by Ivo: It is masked now" in text_of(room.client(room.sam).get(room.page))


def test_an_open_thread_is_not_ready(room: Room) -> None:
    judge(room, room.mei, "approve")
    comment = begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.CHAIN), "Why?", is_pending=True)
    assert standing_of(current(room)).is_ready, "nobody else sees it yet"
    comment.sent_at = timezone.now()
    comment.save()
    assert not standing_of(current(room)).is_ready
    assert f'<a href="/c/{room.chain.pk}/threads/1/">Why?</a>' in text_of(room.client(room.sam).get(room.page))
    TeamRules.objects.create(team=room.team, no_open_threads=False)
    assert standing_of(current(room)).is_ready


def test_rules_ask_for_approvals_problems_and_secrets(room: Room) -> None:
    TeamRules.objects.create(team=room.team, approvals=2, no_problems=True, no_secrets=True)
    judge(room, room.mei, "approve")
    unmet = {check.name for check in standing_of(current(room)).checks if check.is_asked and not check.is_met}
    assert unmet == {"approvals", "problems"}
    save_version(room, room.ivo, "password: hunter2hunter2 ghp_0123456789abcdefghijklmnopqrstuvwxyzAB")
    unmet = {check.name for check in standing_of(current(room)).checks if check.is_asked and not check.is_met}
    assert unmet == {"approvals", "problems", "secrets"}


@pytest.mark.parametrize("limit", ["AT_ONCE", "MESSAGES_AT_ONCE"])
def test_a_long_chain_is_searched_for_secrets_by_a_job(room: Room, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asking for a review begins it where a rule needs it; the button does at any time. One job is enough."""
    monkeypatch.setattr(f"chainviz.chains.secrets.findings.{limit}", 1)
    client = room.client(room.ivo)
    page = text_of(client.get(room.page))
    assert "Not searched for secrets" in page and "this chain is long" in page and f"{room.page}secrets/" in page
    ask(room, room.mei)
    assert not Job.objects.exists(), "no rule asks for it"
    TeamRules.objects.create(team=room.team, no_secrets=True)
    ask(room, room.mei, room.lin)
    for _ in range(2):
        assert client.post(f"{room.page}secrets/")["Location"] == f"{room.page}#checks"
    job = Job.objects.get()
    page = text_of(client.get(room.page))
    assert "searching, 0%" in page and 'hx-trigger="every 3s"' in page and f"{room.page}secrets/" not in page
    run_job(job.pk)
    page = text_of(client.get(room.page))
    assert "No secrets found" in page and 'hx-trigger="every' not in page
    assert next(check for check in standing_of(current(room)).checks if check.name == "secrets").is_met


def test_a_removed_reviewer_deletes_nothing(room: Room) -> None:
    ask(room, room.mei)
    judge(room, room.mei, "changes", summary="A name is left")
    Membership.objects.filter(pk=room.mei.pk).update(removed_at=timezone.now())
    page = text_of(room.client(room.lin).get(room.page))
    assert "A name is left" in page
    assert "asked for by Mei (no longer a member of the team)" in page
    assert not standing_of(current(room)).is_ready

    address = f"{room.page}verdict/{Verdict.objects.get().pk}/dismiss/"
    room.client(room.ivo).post(address, {"reason": "It is masked now"})
    judge(room, room.lin, "approve")
    assert standing_of(current(room)).is_ready


@pytest.mark.parametrize(
    ("change", "why"), [({"removed_at": timezone.now()}, "no longer a member of the team"), ({"role": Role.VIEWER}, "now a viewer")]
)
def test_an_approval_counts_as_long_as_its_author_may_give_verdicts(room: Room, change: Any, why: str) -> None:
    TeamRules.objects.create(team=room.team, locks_export=True)
    ask(room, room.mei)
    judge(room, room.mei, "approve")
    assert standing_of(current(room)).is_ready
    member = Membership.objects.filter(pk=room.mei.pk)

    member.update(**change)

    standing = standing_of(current(room))
    assert (standing.approvals, standing.is_ready) == ((), False)
    assert "0 of 1 approval" in standings([current(room)], for_badges=True)[room.chain.pk].badge.text
    page = text_of(room.client(room.ivo).get(room.page))
    assert f"Mei’s does not count: {why}" in page
    assert f"on version 1, {why}" in page
    room.client(room.ivo).post(f"{room.page}sign-off/", {"version": 1})
    assert not SignOff.objects.exists()

    member.update(removed_at=None, role=Role.COMMENTER)
    assert standing_of(current(room)).is_ready, "nothing was deleted"


def test_asking_again_for_a_newer_version(room: Room) -> None:
    ask(room, room.mei, purpose="First")
    save_version(room, room.ivo, "Another drill.")
    ask(room, room.mei, room.lin)
    request = ReviewRequest.objects.get()
    assert (request.version, request.purpose, request.reviewers.count()) == (2, "First", 2)

    client = room.client(room.ivo)
    client.post(f"{room.page}request/", {"take_back": room.lin.user_id})
    assert [each.name for each in request.reviewers.all()] == ["Mei"]
    client.post(f"{room.page}request/", {"act": "close"})
    assert "No review requested" in text_of(client.get(room.page))
    assert client.post(f"{room.page}request/", {"act": "close"}).status_code == 404


def test_a_viewed_section_is_unviewed_by_a_change_of_its_content_only(room: Room) -> None:
    client = room.client(room.sam)
    for section in (1, 2, 3):
        client.post(f"/c/{room.chain.pk}/v/1/section/{section}/viewed/", {"viewed": "1"})
    client.post(f"/c/{room.chain.pk}/v/1/section/99/viewed/", {"viewed": "1"})
    assert "3 of 3 viewed" in text_of(client.get(room.page))
    assert "0 of 3 viewed" in text_of(room.client(room.mei).get(room.page)), "marks are personal"

    save_version(room, room.ivo, "Another drill.")

    assert "2 of 3 viewed" in text_of(client.get(room.page))
    client.post(f"/c/{room.chain.pk}/v/2/section/2/viewed/", {"viewed": "0"})
    assert "1 of 3 viewed" in text_of(client.get(room.page))
    assert Viewed.objects.count() == 2, "one of them of the content before"


def test_local_mode_has_no_requests(client: Client) -> None:
    assert client.get("/c/1/review/").status_code == 404


def test_another_team_never_learns_of_it(room: Room) -> None:
    stranger = client_of(make_member(make_team("Elsewhere"), "Stranger", Role.OWNER))
    assert stranger.get(room.page).status_code == 404
    assert stranger.post(f"{room.page}verdict/", {"kind": "approve", "version": 1}).status_code == 404


def test_a_reviewer_is_asked_about_a_newer_version_with_one_click(room: Room) -> None:
    ask(room, room.mei)
    assert "Ask Mei again" not in text_of(room.client(room.ivo).get(room.page))
    save_version(room, room.ivo, "Another drill.")
    assert "Ask Mei again" in text_of(room.client(room.ivo).get(room.page))
    room.client(room.ivo).post(f"{room.page}request/", {"person": room.mei.user_id})
    assert "Ask Mei again" not in text_of(room.client(room.ivo).get(room.page))


def test_a_review_page_of_one_person_says_to_invite_somebody(room: Room) -> None:
    assert "Invite somebody" not in room.client(room.lin).get(room.page).content.decode()
    Membership.objects.filter(team=room.team).exclude(pk=room.lin.pk).update(role=Role.VIEWER)
    alone = room.client(room.lin).get(room.page).content.decode()
    assert "Nobody else in the team can give a verdict." in alone and "Invite somebody" in alone
