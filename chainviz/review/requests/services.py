"""Requests for a review: ask, withdraw, give a verdict, dismiss one, and compare a chain with the rules of its team."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from chainviz.accounts.models import Membership, User
from chainviz.accounts.permissions import Role, may
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import findings_in_texts
from chainviz.chains.secrets.findings import is_long, scan
from chainviz.chains.secrets.scans import SCAN, scan_args, spots_of, start_scan
from chainviz.chains.verdicts import own_and_others, short_name
from chainviz.chains.versions.heads import person_named
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.review.models import Review, Reviewer, ReviewRequest, SignOff, TeamRules, Thread, Verdict, rules_of
from chainviz.review.notices import request_made, verdict_dismissed, verdict_given
from chainviz.review.threads.writing import send_pending
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import History, Snapshot, Version

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


@dataclass(frozen=True, slots=True)
class Check:
    """One rule and whether the version meets it."""

    name: str
    is_met: bool
    text: str
    note: str = ""
    is_asked: bool = True
    """True if the team requires it; otherwise it is only information."""


@dataclass(frozen=True)
class Standing:
    chain: Chain
    rules: TeamRules
    verdicts: tuple[Verdict, ...] = ()
    """The verdict of each person that counts: their newest approval or "needs changes" that was not dismissed."""
    open_threads: int = 0
    request: ReviewRequest | None = None
    sign_off: SignOff | None = None
    """The sign-off of the newest version."""
    search: Search | None = None
    """The search for secrets, or None if none was requested."""
    roles: Mapping[int, str] = field(default_factory=dict)
    """The roles of team members by their keys, for those who were asked or gave a verdict."""

    @property
    def approvals(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self._newest_approvals if not self.why_not_reviewer(each.person_id))

    @property
    def not_counted(self) -> tuple[Verdict, ...]:
        """Return the approvals of the newest version whose authors may no longer give verdicts."""
        return tuple(each for each in self._newest_approvals if self.why_not_reviewer(each.person_id))

    @property
    def _newest_approvals(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.APPROVE and not self.is_stale(each))

    @property
    def stale(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.APPROVE and self.is_stale(each))

    def why_not_reviewer(self, person: int) -> str:
        """Return an empty text for who may still give verdicts."""
        role = self.roles.get(person)
        if role is None:
            return "no longer a member of the team"
        return "" if may(role, "verdict") else f"now a {role}"

    @property
    def objections(self) -> tuple[Verdict, ...]:
        """Return the requests for changes, also those of former members. They count until their authors give another verdict, or somebody
        dismisses them."""
        return tuple(each for each in self.verdicts if each.kind == Verdict.Kind.CHANGES)

    def is_stale(self, verdict: Verdict) -> bool:
        return verdict.version < self.chain.version

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(filter(None, (self._approved(), self._objected(), self._threads(), self._problems(), self._secrets())))

    @property
    def is_ready(self) -> bool:
        """True if every rule is met; False until the secrets of which a rule asks were searched."""
        return all(check.is_met for check in self.checks if check.is_asked)

    def _approved(self) -> Check:
        count, needed = len(self.approvals), self.rules.approvals
        text = f"{count} of {count_text(needed, 'approval')}" if needed > count else count_text(count, "approval")
        notes = [f"{len(self.stale)} {'is' if len(self.stale) == 1 else 'are'} stale"] if self.stale else []
        notes += [f"{each.name}’s does not count: {self.why_not_reviewer(each.person_id)}" for each in self.not_counted]
        return Check("approvals", count >= needed, text, ", ".join(notes), is_asked=needed > 0)

    def _objected(self) -> Check | None:
        if not self.objections:
            return None
        names = ", ".join(self._name(each) for each in self.objections)
        return Check("objections", False, "Changes needed", f"asked for by {names}")

    def _name(self, verdict: Verdict) -> str:
        why = self.why_not_reviewer(verdict.person_id)
        return f"{verdict.name} ({why})" if why else verdict.name

    def _threads(self) -> Check:
        text = count_text(self.open_threads, "open thread") if self.open_threads else "No open threads"
        return Check("threads", not self.open_threads, text, is_asked=self.rules.no_open_threads)

    def _problems(self) -> Check:
        chain = self.chain
        own, _ = own_and_others(chain)
        said = [f"{short_name(provider)}: {verdict.text}" for provider, verdict in own.items()]
        is_met = not chain.problems and all(verdict.state == "accepted" for verdict in own.values())
        text = count_text(chain.problems, "structure error") if chain.problems else "No errors" if is_met else "Not accepted"
        return Check("problems", is_met, text, ", ".join(said), is_asked=self.rules.no_problems)

    @property
    def secrets(self) -> int | None:
        """Return the number of found values; None if the content was not searched."""
        return self.search.values if self.search is not None else None

    def _secrets(self) -> Check | None:
        asked = self.rules.no_secrets
        if self.search is None and not asked:
            return None
        if self.secrets is None:
            return Check("secrets", False, "Not searched for secrets", self.search.note if self.search else "", asked)
        text = count_text(self.secrets, "secret") + " found" if self.secrets else "No secrets found"
        return Check("secrets", not self.secrets, text, self._searched(), asked)

    def _searched(self) -> str:
        return f"{count_text(self.chain.messages, 'message')} searched"

    @property
    def badge(self) -> Badge | None:
        """A few words for the header of the chain and its row in the library; None without a request for review."""
        if self.sign_off is not None:
            return Badge("ok", "approve", "signed off")
        if self.request is None and not self.verdicts and not self.rules.locks_export:
            return None
        unmet = [check.text for check in self.checks if check.is_asked and not check.is_met and check.name != "secrets"]
        if not unmet:
            return Badge("ok", "ok", self._approved().text if self.rules.no_secrets else "rules met")
        state: State = "problem" if self.objections else "changed"
        return Badge(state, "lock" if self.rules.locks_export else "pending", " · ".join(unmet).lower())


State = Literal["ok", "problem", "changed"]


@dataclass(frozen=True, slots=True)
class Badge:
    state: State
    icon: str
    text: str


def standing_of(chain: Chain) -> Standing:
    """Return the standing with a search for secrets, or the result of the last search of a long chain."""
    return replace(standings([chain])[chain.pk], search=search_of(chain))


def standings(chains: Sequence[Chain], *, for_badges: bool = False) -> dict[int, Standing]:
    """Return the standing of chains of one team, by their keys. A few queries for all, so without a search for secrets.
    A badge needs the threads of chains with a review only."""
    if not chains:
        return {}
    keys = [chain.pk for chain in chains]
    rules = rules_of(chains[0].team_id)
    requests = {each.chain_id: each for each in ReviewRequest.objects.filter(chain__in=keys, closed_at=None)}
    verdicts = _counting(Verdict.objects.filter(chain__in=keys, dismissed_at=None).order_by("pk"))
    is_all = not for_badges or rules.locks_export
    threads = dict(_open_threads(keys if is_all else [key for key in keys if key in requests or key in verdicts]))
    signed = _sign_offs(chains)
    roles = _roles(chains[0].team_id) if requests or verdicts else {}
    return {
        chain.pk: Standing(
            chain,
            rules,
            tuple(verdicts.get(chain.pk, ())),
            threads.get(chain.pk, 0),
            requests.get(chain.pk),
            signed.get(chain.pk),
            roles=roles,
        )
        for chain in chains
    }


def _counting(verdicts: Iterable[Verdict]) -> dict[int, list[Verdict]]:
    """Return for each chain the newest verdict of each person; a comment does not replace one."""
    newest: dict[tuple[int, int], Verdict] = {}
    for each in verdicts:
        if each.kind != Verdict.Kind.COMMENT:
            newest[each.chain_id, each.person_id] = each
    found: dict[int, list[Verdict]] = {}
    for verdict in newest.values():
        found.setdefault(verdict.chain_id, []).append(verdict)
    return found


def _roles(team: int) -> dict[int, str]:
    return dict(Membership.objects.active().filter(team=team).values_list("user", "role"))


def _open_threads(keys: Sequence[int]) -> Iterable[tuple[int, int]]:
    """Return the threads with at least one sent comment."""
    threads = Thread.objects.open().filter(chain__in=keys, comments__sent_at__isnull=False)
    return threads.order_by().values_list("chain").annotate(count=Count("pk", distinct=True))


def _sign_offs(chains: Sequence[Chain]) -> dict[int, SignOff]:
    found = list(SignOff.objects.sign_offs().filter(chain_key__in=[chain.pk for chain in chains]).order_by("pk"))
    keys = {each.chain_key for each in found}
    signed = [chain for chain in chains if chain.pk in keys]
    editions = dict(History.objects.filter(pk__in=[chain.history for chain in signed]).values_list("pk", "edition"))
    wanted = {chain.pk: (chain.version, editions.get(chain.history)) for chain in signed}
    return {each.chain_key: each for each in found if (each.version, each.edition) == wanted[each.chain_key]}
