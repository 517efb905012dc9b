"""What the API answers where it refuses: one sentence, and the place in the file, the chain or the request."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from chainviz.accounts.idempotency import Lost
from chainviz.chains.exports.lock import ExportLocked
from chainviz.core.errors import NOWHERE, ChainError, DocumentError
from chainviz.core.value_errors import value_error
from chainviz.drafts.closed_draft import DraftGone
from chainviz.drafts.target import MovedOn
from chainviz.store.errors import Conflict, Overlap
from chainviz.web.middleware.json_errors import json_error


class NotPossible(ChainError):
    """Refused because of what the chain is now, not because of what was sent."""


OF_OUR_CODE = {"data", "call"}
"""Names in the place of a fault that are those of parameters of our functions."""
CONFLICTS = (Conflict, Overlap, MovedOn, NotPossible, Lost)


def add_handlers(api: NinjaAPI) -> None:
    api.add_exception_handler(ChainError, _refused)
    api.add_exception_handler(DraftGone, lambda request, gone: json_error(409))
    api.add_exception_handler(ExportLocked, lambda request, locked: json_error(403, str(locked)))
    api.add_exception_handler(Http404, lambda request, missing: json_error(404))
    api.add_exception_handler(ValidationError, _invalid)
    api.add_exception_handler(HttpError, _unreadable)


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    status = 409 if isinstance(error, CONFLICTS) else 422
    fault = error.fault if isinstance(error, DocumentError) else NOWHERE
    return json_error(status, str(error), f"line {fault.line}, column {fault.column}" if fault.line else "")


def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    """Tells the first of several faults."""
    first = error.errors[0]
    where = ".".join(str(step) for step in first["loc"] if step not in OF_OUR_CODE)
    asked = request.GET.get(str(first["loc"][-1])) if first["loc"][0] == "query" else None
    text = value_error(first if asked is None else {**first, "input": asked})
    return json_error(422, f"{where}: {text[:1].lower()}{text[1:]}." if where else f"{text[:1].upper()}{text[1:]}.", where)


def _unreadable(request: HttpRequest, error: Any) -> HttpResponse:
    return json_error(error.status_code, "The body is not valid JSON." if error.status_code == 400 else "", "body")
