"""Error answers of the API, and the header Idempotency-Key: a repeated request with it creates nothing again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from hashlib import sha256
from typing import Any, TypeVar

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema, Status
from ninja.decorators import decorate_view
from ninja.errors import HttpError, ValidationError
from ninja.renderers import JSONRenderer

from chainviz.accounts.middleware import Lost, claim, digest_of, finish, keyed_digest, release
from chainviz.accounts.models import IdempotencyKey, member_of
from chainviz.chains.exports.downloads import ExportLocked
from chainviz.core.errors import NOWHERE, ChainError, DocumentError, OptionsError, PathError, value_error
from chainviz.drafts.stored_draft import DraftGone
from chainviz.drafts.target import MovedOn
from chainviz.store.errors import Conflict, Overlap
from chainviz.web.middleware import Code, json_error


class NotPossible(ChainError):
    """The request is valid, but the current state of the chain forbids it."""


OF_OUR_CODE = {"data", "call"}
"""Names in the place of a fault that are those of parameters of our functions."""
CONFLICTS = (Conflict, Overlap, MovedOn, NotPossible, Lost)


def add_handlers(api: NinjaAPI) -> None:
    api.add_exception_handler(ChainError, _refused)
    api.add_exception_handler(DraftGone, lambda request, gone: json_error(409, code="draft-closed"))
    api.add_exception_handler(ExportLocked, lambda request, locked: json_error(403, str(locked), code="export-locked"))
    api.add_exception_handler(Http404, lambda request, missing: json_error(404))
    api.add_exception_handler(ValidationError, _invalid)
    api.add_exception_handler(HttpError, _unreadable)


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    status = 409 if isinstance(error, CONFLICTS) else 422
    fault = error.fault if isinstance(error, DocumentError) else NOWHERE
    where = f"line {fault.line}, column {fault.column}" if fault.line else ""
    kinds: dict[type[ChainError], Code] = {
        DocumentError: "unreadable-file", OptionsError: "invalid-options", PathError: "unknown-path",
    }  # fmt: skip
    code = next((kinds[kind] for kind in kinds if isinstance(error, kind)), None) if status == 422 else None
    return json_error(status, str(error), where, code)


def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    """Answer with the first of several faults."""
    first = error.errors[0]
    where = ".".join(str(step) for step in first["loc"] if step not in OF_OUR_CODE)
    asked = request.GET.get(str(first["loc"][-1])) if first["loc"][0] == "query" else None
    text = value_error(first if asked is None else {**first, "input": asked})
    return json_error(422, f"{where}: {text[:1].lower()}{text[1:]}." if where else f"{text[:1].upper()}{text[1:]}.", where, "invalid-field")


def _unreadable(request: HttpRequest, error: Any) -> HttpResponse:
    return json_error(error.status_code, "The body is not valid JSON." if error.status_code == 400 else "", "body")


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
