"""The inbox: who is told of what, marks of what was read, muted chains, e-mail, activity and presence."""

from __future__ import annotations

import re
from datetime import timedelta
from email.header import decode_header, make_header
from typing import Any
from unittest.mock import patch

import pytest
from django.core import mail
from django.db.models import QuerySet
from django.test import Client
from django.utils import timezone

from chainviz.accounts.models import AuditRow, Membership
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token
from chainviz.bulk.models import BulkRun
from chainviz.chains.models import Chain
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import run_job
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.review.models import Comment, MailChoice, Notice, Presence, ReviewRequest, Thread, Verdict
from chainviz.review.notices import send as send_notice
from chainviz.review.requests.services import ask, dismiss, give_verdict
from chainviz.review.sign_off import sign_off_version
from chainviz.review.threads.writing import NewThread, begin, reply
from tests.accounts.people import client_of, make_member, make_team
from tests.drafts.pages import send_form
from tests.review.conftest import Room

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def told(member: Membership) -> list[str]:
    return list(Notice.objects.visible_to(member).order_by("pk").values_list("kind", flat=True))


def inbox(room: Room, who: Membership, query: str = "") -> str:
    return " ".join(room.client(who).get(f"/inbox/{query}").content.decode().split())


def requested(room: Room, *people: Membership) -> ReviewRequest:
    asked = people or (room.mei,)
    return ask(room.chain, [each.user_id for each in asked], "For the vendor", by=room.ivo.user)


def test_a_comment_is_told_without_its_markdown(room: Room) -> None:
    begin(room.chain, room.ivo.user, NewThread(1, Thread.Kind.CHAIN), "See **that**, @mei:\n```suggestion\nYes\n```")
    assert "See that, @mei: → Yes" in inbox(room, room.mei)
    page = room.client(room.mei).get(room.page).content.decode()
    assert "See that, @mei: → Yes" in page and "**that**" not in page


def test_requests_verdicts_and_dismissals_are_told(room: Room) -> None:
    requested(room, room.mei, room.ivo)
    verdict = give_verdict(room.chain, 1, "changes", "A name is left", by=room.mei.user)
    dismiss(verdict, "It is masked", by=room.lin.user)
    assert told(room.mei) == ["request", "dismissed"]
    assert told(room.ivo) == ["verdict"], "nobody is told of what they did"
    unread = Notice.objects.visible_to(room.mei).filter(read_at=None)
    assert [each.kind for each in unread] == ["dismissed"], "the verdict answered the request"
    page = inbox(room, room.mei)
    assert "For the vendor" in page
    assert "It is masked" in page
    assert "A name is left" in inbox(room, room.ivo)


def test_the_state_of_each_request(room: Room) -> None:
    requested(room)
    assert "waiting for you" in inbox(room, room.mei)
    assert "0 of 1 approval" in inbox(room, room.ivo), "from you"
    give_verdict(room.chain, 1, "approve", "", by=room.mei.user)
    assert "you approved" in inbox(room, room.mei)
    assert "rules met" in inbox(room, room.ivo)
    Chain.objects.update(version=2)
    assert "your approval is stale" in inbox(room, room.mei)


def test_a_version_that_is_signed_off_waits_for_nobody(room: Room) -> None:
    requested(room, room.mei, room.lin)
    give_verdict(room.chain, 1, "approve", "", by=room.mei.user)
    sign_off_version(room.chain, 1, by=room.ivo)
    assert "waiting for you" not in inbox(room, room.lin)
    assert "signed off" in inbox(room, room.lin) and "signed off" in inbox(room, room.mei)


def test_comments_tell_whom_they_mention_and_who_wrote_before(room: Room) -> None:
    first = begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.CHAIN), "Is this a name?")
    reply(first.thread, room.ivo.user, "Ask @lin, not @nobody")
    assert (told(room.lin), told(room.mei), told(room.ivo), told(room.sam)) == (["mention"], ["reply"], [], [])
    assert "Ask @lin, not @nobody" in inbox(room, room.lin, "?show=mention")


def test_pending_comments_are_sent_and_told_with_the_verdict(room: Room) -> None:
    begin(room.chain, room.mei.user, NewThread(1, Thread.Kind.CHAIN), "@lin, this one", is_pending=True)
    mei = room.client(room.mei)
    assert "1 pending comment" in mei.get(room.page).content.decode()
    assert told(room.lin) == []
    mei.post(f"{room.page}verdict/", {"kind": "changes", "version": 1})
    assert told(room.lin) == ["mention"]
    assert not Comment.objects.filter(sent_at=None).exists()
    opened = room.client(room.lin).post(f"/inbox/{Notice.objects.get().pk}/", follow=True)
    assert "this one" in opened.content.decode()


def test_reading_marks_and_opens(room: Room) -> None:
    requested(room)
    notice = Notice.objects.get()
    mei = room.client(room.mei)
    assert "1 unread" in mei.get("/inbox/count/").content.decode()
    assert mei.post(f"/inbox/{notice.pk}/")["Location"] == room.page
    assert "unread" not in mei.get("/inbox/count/").content.decode()
    mei.post(f"/inbox/{notice.pk}/", {"act": "unread"})
    assert "Ivo" in inbox(room, room.mei, "?show=unread")
    mei.post("/inbox/read/")
    assert Notice.objects.get().read_at is not None
    assert room.client(room.ivo).post(f"/inbox/{notice.pk}/").status_code == 404, "it is Mei's"
    assert [row.outcome for row in AuditRow.objects.filter(act="review:open_notice")] == ["not found"]


def test_a_muted_chain_tells_nothing_but_the_request_is_listed(room: Room) -> None:
    mei = room.client(room.mei)
    mei.post(f"/c/{room.chain.pk}/mute/", {"act": "mute"})
    requested(room)
    assert told(room.mei) == []
    assert "waiting for you" in inbox(room, room.mei)
    mei.post(f"/c/{room.chain.pk}/mute/", {"act": "unmute"})
    requested(room)
    assert told(room.mei) == ["request"]


def test_what_one_may_no_longer_see_is_not_in_the_inbox(room: Room) -> None:
    requested(room)
    Chain.objects.update(trashed_at=timezone.now())
    assert told(room.mei) == []
    Chain.objects.update(trashed_at=None)
    Membership.objects.filter(pk=room.mei.pk).update(removed_at=timezone.now())
    elsewhere = Membership.objects.create(team=make_team("Elsewhere"), user=room.mei.user, role=Role.OWNER)
    page = client_of(elsewhere).get("/inbox/").content.decode()
    assert "For the vendor" not in page


def test_a_mail_holds_no_text_of_a_transcript(room: Room, settings: Any, django_capture_on_commit_callbacks: Any) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mail_url": "smtp://mail.example.org"})
    requested(room)
    assert not Job.objects.filter(function="send-mail").exists(), "only for those who ask for it"
    room.client(room.mei).post("/inbox/mail/", {"mail": "on"})
    assert MailChoice.objects.get().is_on
    requested(room)
    requested(room, room.mei)
    for job in Job.objects.filter(function="send-mail"):
        run_job(job.pk)
    assert len(mail.outbox) == 2
    text = mail.outbox[0].subject + mail.outbox[0].body
    assert "Ivo asked you for a review" in text
    assert "https://chainviz.example.org/inbox/" in text
    assert room.chain.title not in text
    assert "vendor" not in text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ivo\r\nBcc: all@example.org\r\n\r\nClick here", "Ivo Bcc: all@example.org Click here asked"),
        ("Ivo\n.\nQUIT", "Ivo . QUIT asked"),
        ("Ivo\u2028Bcc: x\x85y\x1b[2J", "Ivo Bcc: x y\\u001b[2J asked"),
        ("\u202egro.live\x00 {0} %s", "\\u202egro.live\\u0000 {0} %s asked"),
        ("Zoë 山田", "Zoë 山田 asked"),
        ("x" * 150, "x" * 79 + "… asked"),
    ],
)
def test_a_name_stays_in_its_line_of_a_mail(room: Room, settings: Any, name: str, shown: str) -> None:
    settings.CHAINVIZ = settings.CHAINVIZ.model_copy(update={"mail_url": "smtp://mail.example.org"})
    requested(room)
    notice = Notice.objects.get()
    notice.actor_name = name
    with patch.object(QuerySet, "first", return_value=notice):
        send_notice(None, notice.pk)  # type: ignore[arg-type]
    sent = mail.outbox[0].message()
    assert not {"Bcc", "Cc", "Reply-To"} & set(sent.keys()) and sent["To"] == notice.person.email
    assert str(make_header(decode_header(sent["Subject"].replace("\n", "")))).startswith(f"[chainviz] {shown}")
    assert sent.get_payload(decode=True).decode().splitlines()[0].startswith(shown)
    assert len(sent.get_payload(decode=True).decode().split("\n")) == 4


def test_deleting_a_verdicts_chain_deletes_the_notices(room: Room) -> None:
    requested(room)
    Chain.objects.get(pk=room.chain.pk).delete()
    assert not Notice.objects.exists()
    assert not Verdict.objects.exists()


def test_the_activity_of_a_chain_comes_from_the_audit_log(room: Room) -> None:
    mei = room.client(room.mei)
    mei.post(f"{room.page}verdict/", {"kind": "approve", "version": 1})
    mei.get(f"/c/{room.chain.pk}/v/1/export?scope=chain").getvalue()
    comment = f"/c/{room.chain.pk}/v/1/comment/"
    mei.post(comment, {"body": "Seen", "send": "now"})
    mei.post(comment, {"body": "Later", "send": "pending"})
    mei.post(f"/c/{room.chain.pk}/threads/1/", {"act": "resolve"})
    page = " ".join(room.client(room.sam).get(f"/c/{room.chain.pk}/activity/").content.decode().split())
    found = re.findall(r"<b>([^<]*)</b> (?:· version 1 )?· Mei", page)
    assert found == ["Resolved thread 1", "Commented", "Export", "Approved"], "without the comment that was not sent"
    assert "mei@example.org" not in page.partition("<main")[2]


def test_versions_saved_in_bulk_and_by_one_call_of_the_api_are_in_the_activity(room: Room) -> None:
    ivo, chain = room.client(room.ivo), room.chain
    _, token = create_token(room.ivo, "CI", ["read", "write"], 30)
    program = Client(headers={"Authorization": f"Bearer {token}"})
    operations = f"/api/v1/chains/{chain.pk}/operations/"
    edit = {"options": {"path": "s1.p2", "action": "text", "text": "Another drill."}}
    draft = program.post(f"{operations}edit", edit, content_type="application/json").json()["id"]
    program.post(f"/api/v1/chains/{chain.pk}/drafts/{draft}/discard")
    assert program.post(f"{operations}edit", {**edit, "save": True}, content_type="application/json").status_code == 200
    ivo.post("/bulk/", {"act": "repair", "chain": [chain.pk]})
    send_form(ivo, f"/bulk/{BulkRun.objects.get().pk}/", do="start")
    run_waiting_jobs()

    page = " ".join(room.client(room.sam).get(f"/c/{chain.pk}/activity/").content.decode().split())
    assert re.findall(r"<b>([^<]*)</b> · version (\d) · Ivo", page) == [("Version saved in bulk", "3"), ("Version saved", "2")]
    assert "Operation" not in page and "Run operation" not in page, "a draft is its author's"


def test_who_is_here_and_that_a_newer_version_was_saved(room: Room) -> None:
    address = f"/c/{room.chain.pk}/presence/?v=1"
    ivo, mei = room.client(room.ivo), room.client(room.mei)
    assert "Mei" not in ivo.get(address).content.decode()
    mei.get(address)
    assert "Mei is here, at version 1" in ivo.get(address).content.decode()
    Presence.objects.filter(person=room.mei.user).update(seen_at=timezone.now() - timedelta(minutes=2))
    assert "Mei" not in ivo.get(address).content.decode()
    Chain.objects.update(version=2)
    assert f'href="/c/{room.chain.pk}/diff/1..2/"' in ivo.get(address).content.decode()
    assert "was saved" not in ivo.get(f"{address}&known=2").content.decode(), "the page says so itself"
    stranger = client_of(make_member(make_team("Elsewhere"), "Stranger", Role.OWNER))
    assert stranger.get(address).status_code == 404


def test_local_mode_has_no_inbox(client: Client) -> None:
    assert {client.get(page).status_code for page in ("/inbox/", "/c/1/presence/", "/c/1/activity/")} == {404}
    assert "Inbox" not in client.get("/").content.decode()
