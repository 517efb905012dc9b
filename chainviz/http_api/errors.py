"""Error answers of the API: a sentence, a code, and the place in the file, the chain or the request."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from chainviz.accounts.middleware import Lost
from chainviz.chains.exports.view import ExportLocked
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
