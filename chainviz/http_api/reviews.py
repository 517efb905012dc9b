"""Reviews: the rules of the team and how a chain meets them, requests, verdicts and sign-offs. Team mode only."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Field, Query, Router, Schema, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit import leave_unrecorded, note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.views import version_subject
from chainviz.http_api.errors import NotPossible, note_created, repeatable
from chainviz.http_api.shapes import LARGEST, REFUSALS, Error
from chainviz.review.models import ReviewRequest, SignOff, TeamRules, Verdict, rules_of
from chainviz.review.requests import services
from chainviz.review.requests.services import Standing, may_judge, standing_of
from chainviz.review.sign_off import sign_off_version

VerdictKind = Literal["approve", "changes", "comment"]


class RulesShape(Schema):
    approvals: int = Field(description="How many approvals the newest version needs.")
    no_open_threads: bool
    no_problems: bool
    no_secrets: bool
    locks_export: bool = Field(description="Content can be exported only after sign-off.")
    external_writers: bool = Field(description="A language model may write summaries.")


class CheckShape(Schema):
    rule: Literal["approvals", "objections", "threads", "problems", "secrets"]
    met: bool
    text: str
    note: str


class VerdictShape(Schema):
    id: int
    version: int
    verdict: VerdictKind
    summary: str
    person: str
    given_at: datetime
    dismissed_at: datetime | None
    dismissal: str = Field(description="Why it was dismissed.")


class VerdictList(Schema):
    verdicts: list[VerdictShape]
    next: int | None = Field(description="`after` of the next page; null on the last one.")


class PersonShape(Schema):
    id: int
    name: str


class RequestShape(Schema):
    id: int
    version: int = Field(description="The newest version for which somebody was asked.")
    purpose: str
    requested_by: str
    requested_at: datetime
    reviewers: list[PersonShape]


class SignOffShape(Schema):
    number: int
    chain: int
    version: int
    person: str
    at: datetime
    format: str
    sha256: str = Field(description="Of the chain as a file in its own format.")
    size: int = Field(description="Bytes of that file.")
    url: str


class SignOffList(Schema):
    sign_offs: list[SignOffShape]
    next: int | None = Field(description="`after` of the next page; null on the last one.")


class ReviewShape(Schema):
    chain: int
    version: int
    title: str
    met: bool = Field(description="Whether the newest version meets every rule of the team.")
    checks: list[CheckShape]
    request: RequestShape | None = Field(description="The open request; null if nobody is asked.")
    verdicts: list[VerdictShape] = Field(description="The one of each person that counts.")
    sign_off: SignOffShape | None = Field(description="Of the newest version; null if it is not signed off.")
    may_review: list[PersonShape] = Field(description="Members who can be asked for a verdict.")
    url: str


class RequestCall(Schema):
    people: list[int] = Field(min_length=1, max_length=100, description="Ids from `may_review` of the review.")
    purpose: str = Field("", max_length=10_000)


class VerdictCall(Schema):
    verdict: VerdictKind
    summary: str = Field("", max_length=10_000)


class DismissCall(Schema):
    reason: str = Field(min_length=1, max_length=10_000)


class AfterQuery(Schema):
    after: int = Field(0, ge=0, le=LARGEST, description="`next` of the previous page.")
    limit: int = Field(50, ge=1, le=200)


def rules_shape(rules: TeamRules) -> RulesShape:
    return RulesShape(**{name: getattr(rules, name) for name in RulesShape.model_fields})


def review_shape(request: HttpRequest, standing: Standing) -> ReviewShape:
    chain = standing.chain
    people = may_judge(chain)
    return ReviewShape(
        chain=chain.pk,
        version=chain.version,
        title=chain.title,
        met=standing.is_ready,
        checks=[
            CheckShape(rule=each.name, met=each.is_met, text=each.text, note=each.note)  # type: ignore[arg-type]
            for each in standing.checks
            if each.is_asked
        ],
        request=request_shape(standing.request) if standing.request else None,
        verdicts=[verdict_shape(each) for each in standing.verdicts],
        sign_off=sign_off_shape(request, standing.sign_off) if standing.sign_off else None,
        may_review=[PersonShape(id=each.user_id, name=each.user.display_name) for each in people],
        url=request.build_absolute_uri(reverse("review:review", args=[chain.pk])),
    )


def request_shape(found: ReviewRequest) -> RequestShape:
    return RequestShape(
        id=found.pk,
        version=found.version,
        purpose=found.purpose,
        requested_by=found.requested_by_name,
        requested_at=found.requested_at,
        reviewers=[PersonShape(id=each.person_id, name=each.name) for each in found.reviewers.order_by("pk")],
    )


def verdict_shape(verdict: Verdict) -> VerdictShape:
    return VerdictShape(
        id=verdict.pk,
        version=verdict.version,
        verdict=verdict.kind,  # type: ignore[arg-type]
        summary=verdict.summary,
        person=verdict.name,
        given_at=verdict.given_at,
        dismissed_at=verdict.dismissed_at,
        dismissal=verdict.dismissal,
    )


def sign_off_shape(request: HttpRequest, row: SignOff) -> SignOffShape:
    return SignOffShape(
        number=row.number,
        chain=row.chain_key,
        version=row.version,
        person=row.who_name,
        at=row.at,
        format=row.format,
        sha256=row.sha256,
        size=row.size,
        url=request.build_absolute_uri(reverse("review:record", args=[row.number])),
    )


router = Router(tags=["reviews"])
REVIEW = "/chains/{int:chain_id}/review"


@router.get("/rules", response={200: RulesShape, REFUSALS: Error})
@requires("read", team_mode=True)
def rules(request: HttpRequest) -> RulesShape:
    """Returns the rules that your team sets for signing a version off."""
    return rules_shape(rules_of(member_of(request).team_id))


@router.get(REVIEW, response={200: ReviewShape, REFUSALS: Error})
@requires("read", team_mode=True)
def review(request: HttpRequest, chain_id: int) -> ReviewShape:
    """The review of a chain: whether its newest version meets the rules, who was asked, and the verdicts that count."""
    return review_shape(request, standing_of(chain_for(request, chain_id)))


def _earlier_request(request: HttpRequest, ids: dict[str, int], chain_id: int) -> Status[RequestShape]:
    found = get_object_or_404(ReviewRequest, chain=chain_for(request, chain_id), pk=ids["review"])
    return Status(200, request_shape(found))


@router.post(f"{REVIEW}/request", response={200: RequestShape, REFUSALS: Error})
@repeatable(_earlier_request)
@decorate_view(recorded_together)
@requires("request review", team_mode=True)
def request_review(request: HttpRequest, chain_id: int, call: RequestCall) -> RequestShape:
    """Asks people for a verdict on the newest version. Opens a request if none is open."""
    chain, by = chain_for(request, chain_id), person_of(request)
    found = services.ask(chain, call.people, call.purpose, by=by)
    if rules_of(chain.team_id).no_secrets:
        services.start_search(chain, by)
    note(request, version=found.version, people=call.people)
    note_created(request, review=found.pk)
    return request_shape(found)


@router.post(f"{REVIEW}/close", response={200: ReviewShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("request review", team_mode=True)
def close_request(request: HttpRequest, chain_id: int) -> ReviewShape:
    """Closes the open request; 409 if none is open. Verdicts stay."""
    chain = chain_for(request, chain_id)
    found = services.open_request(chain)
    if found is None:
        raise NotPossible("No review is requested.")
    services.close(found, by=person_of(request))
    note(request, closed=found.pk)
    return review_shape(request, standing_of(chain))


@router.get("/chains/{int:chain_id}/verdicts", response={200: VerdictList, REFUSALS: Error})
@requires("read", team_mode=True)
def verdicts(request: HttpRequest, chain_id: int, asked: Query[AfterQuery]) -> VerdictList:
    """All verdicts of a chain, also those on earlier versions and dismissed ones, oldest first."""
    rows = Verdict.objects.filter(chain=chain_for(request, chain_id), pk__gt=asked.after).order_by("pk")
    found = list(rows[: asked.limit + 1])
    page = found[: asked.limit]
    return VerdictList(verdicts=list(map(verdict_shape, page)), next=page[-1].pk if len(found) > asked.limit else None)


def _earlier_verdict(request: HttpRequest, ids: dict[str, int], chain_id: int, **path: object) -> Status[VerdictShape]:
    return Status(201, verdict_shape(get_object_or_404(Verdict, chain=chain_for(request, chain_id), pk=ids["verdict"])))


@router.post("/chains/{int:chain_id}/versions/{int:number}/verdicts", response={201: VerdictShape, REFUSALS: Error})
@repeatable(_earlier_verdict)
@decorate_view(recorded_together)
@requires("verdict", team_mode=True)
def give_verdict(request: HttpRequest, chain_id: int, number: int, call: VerdictCall) -> Status[VerdictShape]:
    """Gives your verdict on a version, and sends your pending comments. Nobody can approve a version that they saved."""
    subject = version_subject(request, chain_id, number or LARGEST)
    verdict, comments = services.send_review(subject.chain, number, call.verdict, call.summary, by=person_of(request))
    note(request, version=number, verdict=verdict.kind, comments=comments)
    note_created(request, verdict=verdict.pk)
    return Status(201, verdict_shape(verdict))


@router.post("/chains/{int:chain_id}/verdicts/{int:verdict_id}/dismiss", response={200: VerdictShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("request review", team_mode=True)
def dismiss_verdict(request: HttpRequest, chain_id: int, verdict_id: int, call: DismissCall) -> VerdictShape:
    """Dismisses a verdict, with a reason. It no longer counts."""
    verdict = get_object_or_404(Verdict, chain=chain_for(request, chain_id), pk=verdict_id, dismissed_at=None)
    services.dismiss(verdict, call.reason, by=person_of(request))
    note(request, of=verdict.name)
    return verdict_shape(verdict)


@router.post("/chains/{int:chain_id}/versions/{int:number}/sign-off", response={201: SignOffShape, REFUSALS: Error})
@requires("request review", team_mode=True)
def sign_off(request: HttpRequest, chain_id: int, number: int) -> Status[SignOffShape]:
    """Signs off the newest version; 422 if it does not meet every rule."""
    row = sign_off_version(chain_for(request, chain_id), number, by=member_of(request))
    leave_unrecorded(request)  # the sign-off wrote its own row
    return Status(201, sign_off_shape(request, row))


@router.get("/sign-offs", response={200: SignOffList, REFUSALS: Error})
@requires("read", team_mode=True)
def sign_offs(request: HttpRequest, asked: Query[AfterQuery]) -> SignOffList:
    """The sign-offs of your team, oldest first. They outlive their chains."""
    rows = SignOff.objects.sign_offs().filter(team=member_of(request).team, number__gt=asked.after).order_by("number")
    found = list(rows[: asked.limit + 1])
    page = found[: asked.limit]
    following = page[-1].number if len(found) > asked.limit else None
    return SignOffList(sign_offs=[sign_off_shape(request, row) for row in page], next=following)
