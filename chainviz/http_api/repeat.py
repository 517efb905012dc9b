"""The header Idempotency-Key: a repeated request with it creates nothing again and gets the same answer. The answer is made from the ids of
the objects that the first request created, so no text is stored, purged values are not shown again, and current permissions apply."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from hashlib import sha256
from typing import Any, TypeVar

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Schema, Status
from ninja.decorators import decorate_view
from ninja.renderers import JSONRenderer

from chainviz.accounts.middleware import claim, digest_of, finish, keyed_digest, release
from chainviz.accounts.models import IdempotencyKey, member_of
from chainviz.web.middleware import json_error

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
LONGEST = 255
PARAMETER = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": "^[!-~]+$"},
    "description": "A key of your choice, such as a UUID. Within 24 hours, a request repeated with the same key runs only once.",
}
ANSWER_HEADER = {
    REPLAYED: {
        "schema": {"type": "string", "enum": ["true"]},
        "description": "Sent if the request already ran; the response shows the current state of what it created.",
    }
}

View = TypeVar("View", bound=Callable[..., Any])
Run = Callable[..., HttpResponse]
Again = Callable[..., Status[Any]]


def repeatable(again: Again) -> Callable[[View], View]:
    """Make a call that creates something safe to repeat. It records the new ids with `note_created`;
    `again(request, made, **path)` returns the answer to a repetition."""

    def declare(view: View) -> View:
        view.is_repeatable = True  # type: ignore[attr-defined]
        return decorate_view(partial(_once, again))(view)

    return declare


def note_created(request: HttpRequest, **ids: Any) -> None:
    """Record the ids of the objects that the request made, in the transaction that makes them. Content is never recorded."""
    row: IdempotencyKey | None = getattr(request, "idempotency", None)
    if row is not None:
        finish(row, ids)


def _once(again: Again, run: Run) -> Run:
    @wraps(run)
    def answer(request: HttpRequest, **path: Any) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None:
            return run(request, **path)
        if not 1 <= len(key) <= LONGEST or any(not "!" <= letter <= "~" for letter in key):
            return json_error(400, f"{HEADER} has 1 to {LONGEST} visible ASCII characters.", HEADER)
        sent = _digest(request)
        row, is_first = claim(digest_of(member_of(request), key), sent)
        if is_first:
            return _first(row, run, request, path)
        if row.request_digest != sent:
            return json_error(422, f"This {HEADER} was sent with another request; use a new one.", HEADER, "key-reused")
        if row.made is None:
            return _under_way()
        return _replayed(request, again(request, row.made, **path))

    return answer


def _digest(request: HttpRequest) -> str:
    body = getattr(request, "body_digest", None) or sha256(request.body).hexdigest()
    return keyed_digest(request.method, request.get_full_path(), body)


def _first(row: IdempotencyKey, run: Run, request: HttpRequest, path: Mapping[str, Any]) -> HttpResponse:
    request.idempotency = row  # type: ignore[attr-defined]
    is_done = False
    try:
        response = run(request, **path)
        is_done = response.status_code < 400
    finally:
        if not is_done and not transaction.get_connection().needs_rollback:
            release(row)
    return response


def _under_way() -> HttpResponse:
    response = json_error(409, f"The first request with this {HEADER} is still running; try again later.", HEADER)
    response["Retry-After"] = "1"
    return response


def _replayed(request: HttpRequest, found: Status[Schema]) -> HttpResponse:
    request.is_recorded = True  # type: ignore[attr-defined]
    content = JSONRenderer().render(request, found.value.model_dump(), response_status=found.status_code)
    response = HttpResponse(content, content_type="application/json; charset=utf-8", status=found.status_code)
    response[REPLAYED] = "true"
    return response
