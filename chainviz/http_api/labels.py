"""Labels of chains and nodes: list those of the newest version, set and remove them, export all of them as a file."""

from __future__ import annotations

from django.http import HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Status
from ninja.decorators import decorate_view

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.views import version_subject
from chainviz.core.chain.paths import parse_path
from chainviz.http_api.errors import note_created, repeatable
from chainviz.http_api.shapes import LARGEST, REFUSALS, Error, FileQuery, LabelCall, LabelList, LabelShape, RowsQuery
from chainviz.review.csv_and_jsonl import exported
from chainviz.review.labels import LabelChoice, LabelRow, label_places, row_of, take_away
from chainviz.review.labels import set_label as set_in_chain
from chainviz.review.models import Label

router = Router(tags=["labels"])
TEXT = {"schema": {"type": "string"}}
FILE = {"responses": {200: {"description": "The file.", "content": {"text/csv": TEXT, "application/x-ndjson": TEXT}}}}
VALUES = {"pass": "1", "fail": "0"}


@router.get("/chains/{int:chain_id}/labels", response={200: LabelList, REFUSALS: Error})
@requires("read")
def labels(request: HttpRequest, chain_id: int, asked: Query[RowsQuery]) -> LabelList:
    """The labels of a chain and its nodes, with their places in the newest version."""
    subject = version_subject(request, chain_id)
    found = list(Label.objects.filter(chain=subject.chain, pk__gt=asked.after).order_by("pk")[: asked.limit + 1])
    places = label_places(subject.chain, subject.stored)
    page = [_shape(row_of(label, places.get(label.pk))) for label in found[: asked.limit]]
    return LabelList(labels=page, next=page[-1].id if len(found) > asked.limit else None)


def _set_before(request: HttpRequest, ids: dict[str, int], chain_id: int, **path: object) -> Status[LabelShape]:
    subject = version_subject(request, chain_id)
    label = get_object_or_404(Label, chain=subject.chain, pk=ids["label"])
    return Status(200, _shape(row_of(label, label_places(subject.chain, subject.stored).get(label.pk))))


@router.post("/chains/{int:chain_id}/versions/{int:number}/labels", response={200: LabelShape, REFUSALS: Error})
@repeatable(_set_before)
@decorate_view(recorded_together)
@requires("label")
def set_label(request: HttpRequest, chain_id: int, number: int, call: LabelCall) -> LabelShape:
    """Adds a tag, or replaces your own rating or outcome. Sending it again changes nothing."""
    subject = version_subject(request, chain_id, number or LARGEST)
    path = str(parse_path(call.path).node) if call.path else ""
    if path:
        subject.stored.span(parse_path(path))
    given = LabelChoice(number, path, call.kind, VALUES.get(call.value, call.value))
    label = set_in_chain(subject.chain, given, by=person_of(request))
    note(request, label=label.pk, kind=label.kind)
    note_created(request, label=label.pk)
    return _shape(LabelRow(label, "carried", path))


@router.post("/chains/{int:chain_id}/labels/{int:label_id}/remove", response={200: LabelShape, REFUSALS: Error})
@decorate_view(recorded_together)
@requires("label")
def remove_label(request: HttpRequest, chain_id: int, label_id: int) -> LabelShape:
    """Removes your label. Editors can also remove other people's."""
    label = get_object_or_404(Label, chain=chain_for(request, chain_id), pk=label_id)
    removed = _shape(LabelRow(label, "removed", ""))
    take_away(label, by=member_of(request))
    note(request, label=label_id, kind=label.kind)
    return removed


@router.get("/labels/export", response={REFUSALS: Error}, openapi_extra=FILE)
@requires("export")
def export_labels(request: HttpRequest, asked: Query[FileQuery]) -> StreamingHttpResponse:
    """The labels of the library or of one chain, one per row."""
    return exported(request, "labels", asked.format)


@router.get("/comments/export", response={REFUSALS: Error}, openapi_extra=FILE)
@requires("export")
def export_comments(request: HttpRequest, asked: Query[FileQuery]) -> StreamingHttpResponse:
    """The comments of the library or of one chain, one per row."""
    return exported(request, "comments", asked.format)


def _shape(row: LabelRow) -> LabelShape:
    label = row.label
    return LabelShape(
        id=label.pk,
        kind=label.kind,  # type: ignore[arg-type]
        text=label.text,
        value=label.value,
        version=label.version,
        set_on=label.path,
        path=row.path,
        state=row.state,  # type: ignore[arg-type]
        person=label.person_name,
        at=label.at,
    )
