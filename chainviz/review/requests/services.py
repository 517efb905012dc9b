"""Actions on a request for review: ask, ask again, withdraw, give a verdict, dismiss one. All run in transactions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chainviz.accounts.models import Membership, User
from chainviz.accounts.permissions import Role, may
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import findings_in_texts
from chainviz.chains.secrets.findings import is_long, scan
from chainviz.chains.secrets.scans import SCAN, scan_args, spots_of, start_scan
from chainviz.chains.versions.heads import person_named
from chainviz.core.errors import Refused
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.review.models import Review, Reviewer, ReviewRequest, Verdict
from chainviz.review.notices import request_made, verdict_dismissed, verdict_given
from chainviz.review.threads.writing import send_pending
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot, Version

MOST_TEXT = 10_000
"""The most characters of a purpose, a summary or a reason."""
JUDGES = [role.value for role in Role if may(role, "verdict")]


def may_judge(chain: Chain) -> QuerySet[Membership]:
    """Return the members of the chain's team who may give verdicts."""
    members = Membership.objects.active().filter(team=chain.team_id, role__in=JUDGES)
    return members.select_related("user").order_by("user__first_name", "pk")


def open_request(chain: Chain) -> ReviewRequest | None:
    return ReviewRequest.objects.filter(chain=chain, closed_at=None).first()


@transaction.atomic
def ask(chain: Chain, people: Collection[int], purpose: str, *, by: User) -> ReviewRequest:
    """Ask people, by their keys, for a verdict on the newest version; opens a request if none is open. People who were
    asked for an earlier version are asked again. Raises Refused if one of them may not give verdicts."""
    review_lock(chain)
    now = timezone.now()
    members = {member.user_id: member.user for member in may_judge(chain).filter(user__in=people)}
    if not members or set(people) - members.keys():
        raise Refused("Choose at least one reviewer: members of the team whose role allows verdicts.")
    version = Chain.objects.values_list("version", flat=True).get(pk=chain.pk)
    request = open_request(chain) or ReviewRequest(chain=chain, requested_by=by, requested_by_name=by.display_name)
    request.version, request.requested_at = version, now
    request.purpose = _text(purpose) or request.purpose
    request.save()
    for person in members.values():
        reviewer = request.reviewers.filter(person=person).first() or Reviewer(request=request, person=person)
        reviewer.name, reviewer.version, reviewer.asked_at = person.display_name, version, now
        reviewer.save()
    request.save()  # its checksum covers the reviewers
    request_made(request, members.values(), by)
    return request


@transaction.atomic
def take_back(request: ReviewRequest, person: int) -> None:
    """Withdraw the request to one person; the verdicts they gave stay."""
    review_lock(request.chain)
    for reviewer in request.reviewers.filter(person=person):
        reviewer.delete()
    request.save()


@transaction.atomic
def close(request: ReviewRequest, *, by: User) -> None:
    review_lock(request.chain)
    request.closed_at, request.closed_by_name = timezone.now(), by.display_name
    request.save()


@transaction.atomic
def send_review(chain: Chain, version: int, kind: str, summary: str, *, by: User) -> tuple[Verdict, int]:
    """Give the verdict and send the person's pending comments with it; returns how many there were."""
    verdict = give_verdict(chain, version, kind, summary, by=by)
    return verdict, len(send_pending(by, chain))


@transaction.atomic
def give_verdict(chain: Chain, version: int, kind: str, summary: str, *, by: User) -> Verdict:
    """Raise Refused when the person who saved the version approves it."""
    review_lock(chain)
    if kind not in Verdict.Kind.values:
        raise Refused("Choose a verdict: comment, needs changes or approve.")
    if kind == Verdict.Kind.APPROVE and saved_by(chain, version, by):
        raise Refused(f"You saved version {version}; somebody else has to approve it.")
    verdict = Verdict.objects.create(
        chain=chain, version=version, kind=kind, summary=_text(summary), person=by, name=by.display_name, given_at=timezone.now()
    )
    verdict_given(verdict, open_request(chain))
    return verdict


@transaction.atomic
def dismiss(verdict: Verdict, reason: str, *, by: User) -> None:
    """Dismiss the verdict. It no longer counts, but stays on the page with the reason."""
    review_lock(verdict.chain)
    if not _text(reason):
        raise Refused("Enter why you dismiss the verdict.")
    verdict.dismissed_at, verdict.dismissed_by_name = timezone.now(), by.display_name
    verdict.dismissal = _text(reason)
    verdict.save()
    verdict_dismissed(verdict, by)


def saved_by(chain: Chain, version: int, person: User) -> bool:
    return saver_of(chain, version) == person.pk


def saver_of(chain: Chain, version: int) -> int | None:
    """Return the key of the person who saved a version; None if it was not a person or there is no such version."""
    author = Version.objects.filter(history=chain.history, number=version).values_list("author", flat=True).first()
    return person_named(author or "")


def review_lock(chain: Chain) -> None:
    """Lock the row of a chain's review, so that writers take turns. It is created if it is missing."""
    Review.objects.get_or_create(chain=chain)
    Review.objects.select_for_update().get(pk=chain.pk)


def _text(text: str) -> str:
    return storable(text).strip()[:MOST_TEXT]


# The search for secrets that the rules of a team may ask for: at once in a short chain, by a job in a long one.


@dataclass(frozen=True, slots=True)
class Search:
    values: int | None = None
    """The number of secrets in the newest version, the title and the names that exports show; None if nobody searched."""
    job: Job | None = None
    """The newest job that is not done."""

    @property
    def is_running(self) -> bool:
        return self.job is not None and not self.job.is_finished

    @property
    def note(self) -> str:
        """The reason why there is no result."""
        if self.job is None:
            return "this chain is long"
        return f"searching, {self.job.progress:.0%}" if self.is_running else f"the search was {self.job.state}"


def search_of(chain: Chain) -> Search:
    snapshot = _snapshot(chain)
    stored = StoredChain(snapshot)
    in_title = findings_in_texts([chain.title]).values
    if not is_long(stored):
        return Search(len({spot.mark for spot in scan(stored)}) + in_title)
    jobs = Job.objects.filter(function=SCAN, args=scan_args(snapshot)).order_by("-pk")
    done = jobs.filter(state=Job.State.DONE).first()
    return Search(job=jobs.first()) if done is None else Search(len({spot.mark for spot in spots_of(done)}) + in_title)


def start_search(chain: Chain, person: User) -> bool:
    """Start the job that a long chain needs; return False if there is a result, or a search is running."""
    found = search_of(chain)
    if found.values is not None or found.is_running:
        return False
    start_scan(_snapshot(chain), person)
    return True


def _snapshot(chain: Chain) -> Snapshot:
    return Snapshot.objects.select_related("history").get(versions__history=chain.history, versions__number=chain.version)
