"""Notices as e-mail, sent by a job. A mail gives the person, the act and an address; it contains no text of a
transcript, not even
a title, which may come from one. A name cannot add a header, or a line to the text.
"""

from __future__ import annotations

from django.conf import settings
from django.core.mail import send_mail
from django.urls import reverse

from chainviz.core.errors import excerpt
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.review.models import MailChoice, Notice

SEND = "send-mail"
LONGEST_NAME = 80
SUBJECTS = {
    Notice.Kind.REQUEST: "{} asked you for a review",
    Notice.Kind.VERDICT: "{} reviewed a version at your request",
    Notice.Kind.DISMISSED: "{} dismissed your verdict",
    Notice.Kind.MENTION: "{} mentioned you in a comment",
    Notice.Kind.REPLY: "{} replied in one of your threads",
}


def is_configured() -> bool:
    return bool(settings.CHAINVIZ.mail_url)


def send_later(notice: Notice) -> None:
    if is_configured() and notice.person.email and MailChoice.objects.filter(person=notice.person_id, is_on=True).exists():
        start_job(SEND, owner=notice.person, notice=notice.pk)


def send(context: JobContext, notice: int) -> None:
    """Run the job. A notice that is gone, or was read meanwhile, is not sent."""
    found = Notice.objects.select_related("person").filter(pk=notice, read_at=None).first()
    if found is None:
        return
    subject = SUBJECTS[Notice.Kind(found.kind)].format(excerpt(found.actor_name, LONGEST_NAME))
    address = f"{settings.CHAINVIZ.base_url}{reverse('review:inbox')}"
    text = f"{subject}: chain {found.chain_id}, version {found.version}.\n\nOpen your inbox: {address}\n"
    send_mail(f"[chainviz] {subject}", text, None, [found.person.email])
