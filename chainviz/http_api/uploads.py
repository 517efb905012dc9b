"""Uploads: the body of the request is the file. The same bytes are one upload, however often they are sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any

from django.core.files.uploadedfile import TemporaryUploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals
from chainviz.core.formats import get_format
from chainviz.http_api.errors import NotPossible, note_created, repeatable
from chainviz.http_api.shapes import REFUSALS, Error, UploadQuery, UploadShape, upload_shape
from chainviz.web.middleware import json_error

router = Router(tags=["uploads"])
CHUNK = 1 << 16
BODY = {
    "requestBody": {
        "required": True,
        "description": "The bytes of the file.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _received(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Writes the body to a file, a piece at a time, before anything else is done."""

    @wraps(run)
    def answer(request: HttpRequest, **path: Any) -> HttpResponse:
        with TemporaryUploadedFile("upload.json", "application/octet-stream", 0, None) as file:
            request.body_file, request.body_digest = file, _write(request, file)  # type: ignore[attr-defined]
            return run(request, **path)

    return answer


def _write(request: HttpRequest, file: TemporaryUploadedFile) -> str:
    """Returns the SHA-256 of the body."""
    digest, size = sha256(), 0
    while chunk := request.read(CHUNK):
        file.write(chunk)
        digest.update(chunk)
        size += len(chunk)
    file.flush()
    file.size = size
    return digest.hexdigest()


def _uploaded_before(request: HttpRequest, ids: dict[str, Any]) -> Status[UploadShape]:
    if "upload" in ids:
        return Status(202, upload_state(request, ids["upload"]))
    chains = list(Chain.objects.visible_to(member_of(request)).filter(pk__in=ids["chains"]).order_by("pk"))
    if not chains:
        raise Http404
    state = Arrival.State.KNOWN if ids["known"] else Arrival.State.DONE
    return Status(200 if ids["known"] else 201, upload_shape(request, Arrival(state=state), chains))


@router.post("/uploads", response={200: UploadShape, 201: UploadShape, 202: UploadShape, REFUSALS: Error}, openapi_extra=BODY)
@decorate_view(_received)
@repeatable(_uploaded_before)
@requires("upload")
def upload(request: HttpRequest, asked: Query[UploadQuery]) -> Status[UploadShape] | HttpResponse:
    """Imports every chain of a file.

    Answers 201 with the new chains, 200 if the same bytes were uploaded before, and 202 for a large file: poll the
    upload until it is done.
    """
    format = get_format(asked.format).name if asked.format else ""
    file, digest = request.body_file, request.body_digest  # type: ignore[attr-defined]
    file.name = asked.name
    arrival = arrivals.receive(member_of(request), file, format=format, how={"as": "all"})
    if arrival.is_running:
        note_created(request, upload=arrival.pk)
        return Status(202, upload_shape(request, arrival, []))
    chains = list(Chain.objects.visible_to(member_of(request)).filter(sha256=digest, is_branch=False).order_by("pk"))
    answer = upload_shape(request, arrival, chains)
    arrivals.forget(arrival)
    if arrival.is_failed:
        return json_error(422, answer.error, _place(arrival), "unreadable-file")
    if any(chain.is_in_bin for chain in chains):
        raise NotPossible("A chain of this file is in the bin: restore it there first.")
    answer.id = None
    is_known = arrival.state == Arrival.State.KNOWN
    note_created(request, chains=[chain.pk for chain in chains], known=is_known)
    return Status(200 if is_known else 201, answer)


@router.get("/uploads/{int:arrival_id}", response={200: UploadShape, REFUSALS: Error})
@requires("upload")
def upload_state(request: HttpRequest, arrival_id: int) -> UploadShape:
    """The progress of a large file's import, then the chains that it added.

    Uploading the same bytes again returns all chains of the file.
    """
    arrival = arrival_for(request, arrival_id)
    keys = arrival.added if arrival.chain_id is None else [arrival.chain_id]
    chains = Chain.objects.visible_to(member_of(request)).filter(pk__in=keys).order_by("pk")
    return upload_shape(request, arrival, list(chains))


def _place(arrival: Arrival) -> str:
    marked = [line["number"] for line in arrival.failure.get("lines", []) if line["mark"] >= 0]
    return f"line {marked[0]}" if marked else ""
