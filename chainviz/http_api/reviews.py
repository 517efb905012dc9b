"""Reviews: the rules of the team and how a chain meets them, requests, verdicts and sign-offs. Team mode only."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit.record import leave_unrecorded, note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.views import version_subject
from chainviz.http_api.errors import NotPossible
from chainviz.http_api.repeat import note_created, repeatable
from chainviz.http_api.review_shapes import (
    AfterQuery,
    DismissCall,
    RequestCall,
    RequestShape,
    ReviewShape,
    RulesShape,
    SignOffList,
    SignOffShape,
    VerdictCall,
    VerdictList,
    VerdictShape,
    request_shape,
    review_shape,
    rules_shape,
    sign_off_shape,
    verdict_shape,
)
from chainviz.http_api.shapes import LARGEST, REFUSALS, Error
from chainviz.review.models import ReviewRequest, SignOff, Verdict, rules_of
from chainviz.review.requests import services
from chainviz.review.requests.standing import standing_of
from chainviz.review.sign_off import sign_off_version

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
