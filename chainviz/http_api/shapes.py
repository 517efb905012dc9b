"""What the API answers, as types: they make the description under /api/v1/openapi.json."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Schema

from chainviz.chains.models import Arrival, Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.drafts.models import Draft
from chainviz.drafts.stored_draft import Steps
from chainviz.jobs.models import Job
from chainviz.store.content.codec import unpack
from chainviz.store.models import Step, Version

LARGEST = 2**31 - 1
"""Of a number in an address or a query."""
MOST = 200
"""Rows of one answer."""

REFUSALS = frozenset({400, 401, 403, 404, 405, 409, 413, 422})


class Error(Schema):
    error: str = Field(description="What is wrong, in one sentence.")
    where: str = Field("", description="The place in the file or in the request, if there is one.")


class UploadQuery(Schema):
    name: str = Field("upload.json", min_length=1, max_length=255, description="Name of the file.")
    format: str = Field("", max_length=40, description="Name of its format; by default detected.")


class PageQuery(Schema):
    before: int | None = Field(None, ge=1, le=LARGEST, description="The `next` of the page before.")
    limit: int = Field(50, ge=1, le=MOST)


class PlaceQuery(Schema):
    start: str = Field("", alias="from", max_length=100, description="The `next` of the page before, or any path.")
    limit: int = Field(MOST, ge=1, le=MOST)

    @property
    def path(self) -> Path | None:
        return parse_path(self.start) if self.start else None


class ProblemQuery(PlaceQuery):
    provider: str = Field("", max_length=40, description="What this provider's API would say, such as `anthropic`.")


class OffsetQuery(Schema):
    offset: int = Field(0, ge=0, le=LARGEST, description="The `next` of the page before.")


class ExportQuery(Schema):
    to: str = Field("", max_length=40, description="Name of a format; by default its own.")
    scope: Literal["chain", "file"] = Field("chain", description="`file`: the whole file with this chain in its place.")


class ChainShape(Schema):
    id: int
    title: str
    url: str = Field(description="The page of the chain.")
    file_name: str
    format: str
    version: int = Field(description="The number of the newest version.")
    messages: int
    sections: int
    pairs: int
    size: int = Field(description="Content bytes.")
    errors: int = Field(description="Problems of its structure.")
    warnings: int
    tokens: int | None = Field(description="Recorded tokens; null where none are recorded.")
    created_at: datetime
    changed_at: datetime


class ChainList(Schema):
    chains: list[ChainShape]
    next: int | None = Field(description="`before` of the next page; null on the last one.")


class UploadShape(Schema):
    id: int | None = Field(description="Of an upload that is still imported: ask for it again.")
    state: str = Field(description="importing, done, failed, or known: the same bytes were uploaded before.")
    chains: list[ChainShape]
    percent: int = 100
    error: str = ""


class VersionShape(Schema):
    number: int
    note: str
    url: str
    format: str
    messages: int
    size: int
    created_at: datetime


class VersionList(Schema):
    versions: list[VersionShape]
    next: int | None = Field(description="`before` of the next page; null on the last one.")


class RowShape(Schema):
    kind: Literal["section", "header", "pair"]
    path: str
    messages: int
    size: int
    type: str | None = Field(description="Of a pair: request-response, completion or summarization.")
    valid: bool
    url: str


class Tree(Schema):
    format: str
    messages: int
    size: int
    rows: list[RowShape]
    next: str | None = Field(description="`from` of the next page; null on the last one.")


class ProblemShape(Schema):
    rule: str
    severity: Literal["error", "warning", "info", "unchecked"]
    path: str
    message: int
    part: int | None
    text: str
    fixes: list[str]
    without_fix: str = Field(description="Why no repair exists; empty where one does.")


class Problems(Schema):
    verdict: str = Field(description="Of the provider: accepted, rejected or unchecked; empty without one.")
    total: int
    problems: list[ProblemShape]
    next: str | None = Field(description="`from` of the next page; null on the last one.")


class Comparison(Schema):
    before: dict[str, int]
    after: dict[str, int]
    counts: dict[str, int]
    changes: list[dict[str, Any]]
    notes: list[str]
    next: int | None = Field(description="`offset` of the next page; null on the last one.")


class OperationShape(Schema):
    name: str
    label: str
    options: dict[str, Any] = Field(description="JSON schema of its options.")


class OperationCall(Schema):
    options: dict[str, Any] = Field({}, description="As in the Python API and on the command line.")
    version: int | None = Field(None, ge=1, le=LARGEST, description="The version to start from; by default the newest.")
    draft: int | None = Field(None, ge=1, le=LARGEST, description="Adds a step to this draft instead.")
    save: bool = Field(False, description="Saves the draft as a version at once.")
    note: str = Field("", max_length=500, description="Of the version.")


class SaveCall(Schema):
    note: str = Field("", max_length=500)


class StepShape(Schema):
    operation: str
    options: dict[str, Any]
    size: int
    messages: int


class DraftShape(Schema):
    id: int
    chain: int
    url: str
    base: int = Field(description="The version it starts from.")
    saved_as: int | None
    steps: list[StepShape]


class DraftList(Schema):
    drafts: list[DraftShape]


class ThreadQuery(Schema):
    after: int = Field(0, ge=0, le=LARGEST, description="The `next` of the page before.")
    limit: int = Field(50, ge=1, le=MOST)


class CommentCall(Schema):
    text: str = Field(min_length=1, max_length=20_000, description="Markdown.")


class NewThreadCall(CommentCall):
    path: str = Field("", max_length=100, description="Of a node or part; empty for the whole chain.")
    quote: str = Field("", max_length=5_000, description="Words in it that the comment is about.")


class ResolveCall(Schema):
    resolved: bool = True


class CommentShape(Schema):
    id: int
    author: str
    text: str = Field(description="Empty where it was deleted.")
    created_at: datetime
    edited_at: datetime | None
    deleted_at: datetime | None


class ThreadShape(Schema):
    number: int
    version: int = Field(description="That it was started on.")
    kind: str = Field(description="chain, node, part or text.")
    path: str = Field(description="In the newest version; empty where its node is gone, and for the whole chain.")
    state: str = Field(description="carried, outdated, removed or folded into a summary.")
    quote: str
    resolved: bool
    url: str
    comments: list[CommentShape]


class ThreadList(Schema):
    threads: list[ThreadShape]
    next: int | None = Field(description="`after` of the next page; null on the last one.")


class JobShape(Schema):
    id: int
    state: str = Field(description="queued, running, done, failed, cancelled or interrupted.")
    progress: float
    message: str
    draft: int | None = Field(description="The draft that it made.")
    url: str = Field(description="Ask here again.")


def chain_shape(request: HttpRequest, chain: Chain) -> ChainShape:
    shown = {name: getattr(chain, name) for name in ChainShape.model_fields if hasattr(chain, name)}
    return ChainShape(
        **shown, url=request.build_absolute_uri(reverse("chains:chain", args=[chain.pk])), errors=chain.problems
    )


def version_shape(request: HttpRequest, chain: Chain, version: Version) -> VersionShape:
    return VersionShape(
        number=version.number,
        note=version.note,
        url=request.build_absolute_uri(reverse("chains:version", args=[chain.pk, version.number])),
        format=version.snapshot.format,
        messages=version.snapshot.messages,
        size=version.snapshot.size,
        created_at=version.created,
    )


def draft_shape(request: HttpRequest, draft: Draft, steps: Steps) -> DraftShape:
    return DraftShape(
        id=draft.pk,
        chain=draft.chain_id,
        url=request.build_absolute_uri(reverse("drafts:draft", args=[draft.chain_id, draft.pk])),
        base=draft.base,
        saved_as=draft.saved_as,
        steps=[_step(step) for step in steps.all[: steps.cursor]],
    )


def _step(step: Step) -> StepShape:
    made = step.snapshot
    return StepShape(operation=made.operation, options=unpack(made.options), size=made.size, messages=made.messages)


def job_shape(request: HttpRequest, job: Job) -> JobShape:
    return JobShape(
        id=job.pk,
        state=job.state,
        progress=job.progress,
        message=job.message,
        draft=(job.result or {}).get("draft"),
        url=request.build_absolute_uri(reverse("api:job", args=[job.pk])),
    )


def upload_shape(request: HttpRequest, arrival: Arrival, chains: list[Chain]) -> UploadShape:
    return UploadShape(
        id=arrival.pk,
        state="failed" if arrival.is_failed else arrival.state,
        chains=[chain_shape(request, chain) for chain in chains],
        percent=arrival.percent if arrival.is_running else 100,
        error=arrival.sentence if arrival.is_failed else "",
    )
