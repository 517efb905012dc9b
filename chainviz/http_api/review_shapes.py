"""The types of the bodies and answers of calls about reviews."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Schema

from chainviz.http_api.shapes import LARGEST
from chainviz.review.models import ReviewRequest, SignOff, TeamRules, Verdict
from chainviz.review.requests.services import may_judge
from chainviz.review.requests.standing import Standing

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
