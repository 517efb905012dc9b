"""The team's audit log: who did what and when, in rows that are never changed and whose digests form one chain a team.

Rows hold ids, roles and names of people, never content of a transcript, so no purge has to reach them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, timedelta
from functools import wraps
from hashlib import sha256
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.urls import ResolverMatch
from django.utils import timezone

from chainviz.accounts.models import AuditRow, Membership, Team, User
from chainviz.store.fsck import Finding

OUTCOMES = DONE, BEGUN, REFUSED, NOT_FOUND = "done", "begun", "refused", "not found"
FORMER_NOTED_EVERY = timedelta(minutes=1)
LARGEST_KEY = 2**63 - 1
"""The largest key that is looked up; an address may contain a larger number, which no chain has."""
SAFE = {"GET", "HEAD", "OPTIONS"}


class AuditMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if not getattr(request, "is_recorded", False):
            _record_response(request, response)
        return response


def recorded_together(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Write the row in the transaction of the view: neither is stored without the other."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with transaction.atomic():
            response = view(request, *args, **kwargs)
            _record_response(request, response)
        request.is_recorded = True  # type: ignore[attr-defined]
        return response

    return answer


def not_recorded(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Exclude a view from the log, for marks of one person that nobody else sees, such as what they have read."""

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = view(request, *args, **kwargs)
        leave_unrecorded(request)
        return response

    return answer


def leave_unrecorded(request: HttpRequest) -> None:
    """Exclude a request from the log: one that an open page repeats, if it has changed nothing."""
    request.is_recorded = True  # type: ignore[attr-defined]


def _record_response(request: HttpRequest, response: HttpResponseBase) -> None:
    member, former = getattr(request, "member", None), getattr(request, "former_member", None)
    outcome = _outcome(request, response)
    if settings.CHAINVIZ.mode == "team" and isinstance(former, Membership):
        _record_former(request, former)
    if settings.CHAINVIZ.mode != "team" or not isinstance(member, Membership) or not outcome:
        return
    if not _takes_away(response) or request.method == "HEAD":
        _record_request(request, member, outcome)
    elif isinstance(response, StreamingHttpResponse):
        _record_request(request, member, BEGUN)
        content = cast(Iterator[bytes], response.streaming_content)
        response.streaming_content = _recorded(content, request, member)
    elif isinstance(response, HttpResponse):
        _record_download(request, member, sha256(response.content).hexdigest(), len(response.content))


def _record_former(request: HttpRequest, former: Membership) -> None:
    """Record the refused request of a former member, but not each of those that an open page repeats."""
    match = request.resolver_match
    assert match is not None
    same = {"act": match.view_name, "chain_key": _chain_key(match), "outcome": REFUSED}
    since = timezone.now() - FORMER_NOTED_EVERY
    if not AuditRow.objects.filter(team=former.team, who=former.user, at__gt=since, **same).exists():
        _record_request(request, former, REFUSED)


def _recorded(content: Iterator[bytes], request: HttpRequest, member: Membership) -> Iterator[bytes]:
    """Yield the content, and record the download; an incomplete one with the digest of what was sent."""
    digest, size, is_whole = sha256(), 0, False
    try:
        for piece in content:
            digest.update(piece)
            size += len(piece)
            yield piece
        is_whole = True
    finally:
        _record_download(request, member, digest.hexdigest(), size, **({} if is_whole else {"incomplete": True}))


def _record_download(request: HttpRequest, member: Membership, digest: str, size: int, **more: Any) -> None:
    note(request, sha256=digest, bytes=size, **more)
    _record_request(request, member, DONE)


def _outcome(request: HttpRequest, response: HttpResponseBase) -> str:
    """Return the outcome of a request; "" if it is not recorded: looking, forms that were sent back, and addresses of
    nothing."""
    match = request.resolver_match
    if match is None:
        return ""
    if response.status_code == 403:
        return REFUSED
    if response.status_code == 404:
        return NOT_FOUND if any(isinstance(value, int) for value in match.kwargs.values()) else ""
    changes = request.method not in SAFE
    return DONE if response.status_code < 400 and (changes or _takes_away(response)) else ""


def _takes_away(response: HttpResponseBase) -> bool:
    return response.headers.get("Content-Disposition", "").startswith("attachment")


def _record_request(request: HttpRequest, member: Membership, outcome: str) -> None:
    match = request.resolver_match
    assert match is not None
    facts = {name: value for name, value in match.kwargs.items() if isinstance(value, int) and name != "chain_id"}
    if match.view_name == "drafts:operation":
        facts["operation"] = match.kwargs["name"]
    if member.token is not None:
        facts["token"] = member.token.pk
    facts |= getattr(request, "audit_facts", {})
    record(member.team, member.user, match.view_name, outcome, chain=_chain_key(match), **facts)


def _chain_key(match: ResolverMatch) -> int | None:
    chain: int = match.kwargs.get("chain_id", LARGEST_KEY)
    return chain if chain < LARGEST_KEY else None


def note(request: HttpRequest, **facts: Any) -> None:
    """Add facts to the row of this request: numbers and names of people, never content."""
    request.audit_facts = {**getattr(request, "audit_facts", {}), **facts}  # type: ignore[attr-defined]


@transaction.atomic
def record(team: Team, who: User | None, act: str, outcome: str = DONE, *, chain: int | None = None, **facts: Any) -> AuditRow:
    # the lock makes the rows of a team one chain
    locked = Team.objects.select_for_update().get(pk=team.pk)
    row = AuditRow(
        team=locked,
        number=locked.audit_number + 1,
        at=timezone.now(),
        who=who,
        who_name=f"{who.display_name} <{who.email}>" if who else "",
        act=act,
        outcome=outcome,
        chain_key=chain,
        details=json.dumps(facts),
        previous=locked.audit_digest,
    )
    row.digest = digest_of(row)
    row.save(force_insert=True)
    locked.audit_number, locked.audit_digest = row.number, row.digest
    locked.save(update_fields=["audit_number", "audit_digest"])
    return row


# The chain of digests, and its check: each row's digest covers the row and the digest of the one before.


def digest_of(row: AuditRow) -> str:
    covered = [
        row.previous,
        row.team_id,
        row.number,
        row.at.astimezone(UTC).isoformat(),
        row.who_id,
        row.who_name,
        row.act,
        row.outcome,
        row.chain_key,
        row.details,
    ]
    return sha256(json.dumps(covered).encode()).hexdigest()


def check_all() -> Iterator[Finding]:
    for team in Team.objects.order_by("pk"):
        fault = first_fault(team)
        if fault:
            yield Finding("error", f"Audit log of team {team.pk} ({team.name}): {fault}")


def first_fault(team: Team) -> str:
    """Return the fault of the first bad row; empty if the log is whole."""
    try:
        return _first_fault(team)
    except Exception as error:  # a damaged value may break any reader
        return f"a row cannot be read ({type(error).__name__}), so it was changed."


def _first_fault(team: Team) -> str:
    number, previous = 0, ""
    for row in AuditRow.objects.filter(team=team).order_by("number").iterator(chunk_size=1000):
        number += 1
        if row.number != number:
            return f"row {number} is missing."
        if row.previous != previous or row.digest != digest_of(row):
            return f"row {number} was changed."
        previous = row.digest
    if number != team.audit_number:
        return f"it ends at row {number}, but the last row written is {team.audit_number}."
    if previous != team.audit_digest:
        return f"it ends at row {number}, whose digest is not that of the last row written."
    return ""
