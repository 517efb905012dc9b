"""The types of the API's answers, from which /api/v1/openapi.json is made."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.urls import reverse
from ninja import Field, Schema

from chainviz.api.json_objects import row_object, unread_object
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.usage import by_model
from chainviz.chains.versions.history import decisions_in, warnings_in
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.chain.surroundings import Unread, UnreadKind, unread_from
from chainviz.core.chain.tree import PairType
from chainviz.core.diff.merge.items import Choice
from chainviz.drafts.models import Draft
from chainviz.drafts.stored_draft import Steps
from chainviz.jobs.models import Job
from chainviz.store.content.codec import unpack
from chainviz.store.models import Step, Version
from chainviz.web.middleware import Code

PlaceState = Literal["carried", "outdated", "removed", "folded"]
LabelKind = Literal["tag", "rating", "outcome"]
LARGEST = 2**31 - 1
"""The largest number in an address or a query."""
MOST = 200
"""The most rows of an answer."""

REFUSALS = frozenset({400, 401, 403, 404, 405, 409, 413, 422})


class Error(Schema):
    error: str = Field(description="What is wrong, in one sentence.")
    code: Code = Field(description="What is wrong, for programs.")
    where: str = Field("", description="The place in the file or the request, if known.")


class UploadQuery(Schema):
    name: str = Field("upload.json", min_length=1, max_length=255, description="Name of the file.")
    format: str = Field("", max_length=40, description="Name of its format, with choices such as `react_log:text`; detected by default.")


class PageQuery(Schema):
    before: int | None = Field(None, ge=1, le=LARGEST, description="`next` of the previous page.")
    limit: int = Field(50, ge=1, le=MOST)


class ChainQuery(PageQuery):
    """The filter of the library's page, by the same names."""

    q: str = Field("", max_length=200, description="Words in title or text; “phrases” in quotation marks, -word to exclude a word.")
    tool: str = Field("", max_length=200)
    model: str = Field("", max_length=200)
    problem: str = Field("", max_length=200, description="A rule that the chain breaks, such as `orphan-result` or `anthropic:first-role`.")
    verdict: str = Field("", max_length=200, description="Such as `anthropic:rejected`, `:accepted` or `:unchecked`.")
    format: str = Field("", max_length=200)
    label: str = Field("", max_length=200, description="Such as `tag:urgent`.")
    problems: str = Field("", max_length=1, description="1: with structure problems.")
    errors: str = Field("", max_length=1, description="1: with tool errors.")
    drafts: str = Field("", max_length=1, description="1: with an open draft of yours.")
    larger: str = Field("", max_length=40, description="Such as `500 kB`.")
    smaller: str = Field("", max_length=40)
    since: str = Field("", max_length=40, description="Changed since this day, such as 2026-10-01.")
    until: str = Field("", max_length=40)
    folder: str = Field("", max_length=200, description="Folder on the server, such as `~/runs/app`: chains of the files in it.")


class HitShape(Schema):
    path: str = Field(description="Of the part, in the newest version.")
    text: str = Field(description="Text around the match; empty in messages of more than 1 MB.")
    url: str


class PlaceQuery(Schema):
    start: str = Field("", alias="from", max_length=100, description="`next` of the previous page, or any path.")
    limit: int = Field(MOST, ge=1, le=MOST)

    @property
    def path(self) -> Path | None:
        return parse_path(self.start) if self.start else None


class ProblemQuery(PlaceQuery):
    provider: str = Field("", max_length=40, description="What this provider's API would say, such as `anthropic`.")


class OffsetQuery(Schema):
    offset: int = Field(0, ge=0, le=LARGEST, description="`next` of the previous page.")


class ExportQuery(Schema):
    to: str = Field("", max_length=40, description="Name of a format; by default its own.")
    scope: Literal["chain", "file"] = Field("chain", description="`file`: the whole file with this chain in its place.")


class UsageShape(Schema):
    model: str
    calls: int
    input: int
    cached: int = Field(description="Of the input: read from the provider's cache.")
    written: int = Field(description="Of the input: written to the provider's cache.")
    output: int
    reasoning: int = Field(description="Of the output.")


class UnreadPlaceShape(Schema):
    index: int = Field(description="The place of the record among the lines or elements, from 0; -1 beside the list.")
    line: int = Field(description="The line in the file, from 1; 0 if records do not have lines of their own.")


class UnreadShape(Schema):
    kind: UnreadKind
    name: str = Field(description="The type, role or field; empty for a record without a type.")
    count: int
    places: list[UnreadPlaceShape] = Field(description="The first few.")
    text: str


class ChainShape(Schema):
    id: int
    title: str
    url: str = Field(description="The page of the chain.")
    file_name: str
    format: str
    model: str = Field(description="The most-called model; empty if none is recorded.")
    version: int = Field(description="The number of the newest version.")
    messages: int
    sections: int
    pairs: int
    size: int = Field(description="Content bytes.")
    errors: int = Field(description="Structure problems that are errors. Verdicts count what providers reject.")
    warnings: int = Field(description="Structure problems that are warnings.")
    unread: list[UnreadShape] = Field(description="What of its file was not read; empty if the chain is fully read.")
    tools: dict[str, int] = Field(description="How often each tool was called, for the 200 most-called tools.")
    tool_errors: int = Field(description="Tool results that are marked as errors.")
    tokens: int | None = Field(description="Recorded tokens; null if none are recorded.")
    usage: list[UsageShape] = Field(description="Recorded tokens of each model.")
    cost: float | None = Field(description="Dollars at list prices; null if no tokens are recorded or a model has no price.")
    began_at: datetime | None = Field(description="Time of its first message; null if no time is recorded.")
    seconds: float | None = Field(description="From its first to its last message; null if no time is recorded.")
    created_at: datetime
    changed_at: datetime


class FoundShape(ChainShape):
    hits: list[HitShape] = Field(description="For a search: the first matches in its text.")


class ChainList(Schema):
    chains: list[FoundShape]
    not_indexed: int = Field(0, description="For a search: how many chains are not indexed yet.")
    next: int | None = Field(description="`before` of the next page; null on the last one.")


class UploadShape(Schema):
    id: int | None = Field(description="For an upload that is still being imported: poll this address.")
    state: Literal["importing", "choosing", "done", "failed", "known"] = Field(
        description="choosing: a person picks chains on the page; known: the same bytes were uploaded before."
    )
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
    type: PairType | None = Field(description="Of a pair.")
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
    without_fix: str = Field(description="Why there is no automatic fix; empty if there is one.")


class Problems(Schema):
    verdict: Literal["accepted", "rejected", "unchecked", ""] = Field(description="The provider's verdict; empty without a provider.")
    total: int = Field(description="Structure problems; with a provider, what that provider finds.")
    problems: list[ProblemShape]
    unread: list[UnreadShape] = Field(description="What of the file was not read; empty if the chain is fully read.")
    next: str | None = Field(description="`from` of the next page; null on the last one.")


class FirstShape(Schema):
    old: str | None
    new: str | None
    change: int = Field(description="The number of the change that shows it, from 1.")


class FactsShape(Schema):
    messages: int
    pairs: int
    size: int = Field(description="Bytes of content.")
    problems: int
    verdicts: dict[str, str]
    tools: dict[str, int] = Field(description="Calls by tool.")
    tool_errors: int
    usage: dict[str, int] | None
    model: str | None
    cost: float | None = Field(description="US dollars, of recorded usage.")
    seconds: float | None
    outcome: str | None = Field(description="The first line of the final answer.")
    recorded_outcome: dict[str, str]


class BothFacts(Schema):
    old: FactsShape
    new: FactsShape


class Comparison(Schema):
    before: dict[str, int]
    after: dict[str, int]
    counts: dict[str, int]
    changes: list[dict[str, Any]]
    notes: list[str]
    runs: bool = Field(description="Two runs, aligned by what they call and say; else two states of one chain.")
    first: FirstShape | None = Field(description="The first node of each that differs; null where they are equal.")
    little_in_common: str | None = Field(description="Why the two have little in common; null where they have more.")
    facts: BothFacts
    next: int | None = Field(description="`offset` of the next page of changes; null on the last one.")


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
    warnings: list[str]
    report: list[dict[str, Any]] = Field(description=f"Its decisions, the first {MOST} of them, as `chainviz apply --json` prints them.")
    decisions: int = Field(description="How many there are.")


class DraftShape(Schema):
    id: int
    chain: int
    url: str
    base: int = Field(description="The version it starts from.")
    saved_as: int | None
    steps: list[StepShape]


class DraftList(Schema):
    drafts: list[DraftShape]


class ConflictShape(Schema):
    key: str = Field(description="Its key in the `choices` of a rebase.")
    path: str = Field(description="Of the node in the version that the draft starts from; empty for the file around the messages.")
    choices: list[Choice]


class ConflictList(Schema):
    base: int = Field(description="The version that the draft starts from.")
    head: int = Field(description="The newest version.")
    conflicts: list[ConflictShape]


class RebaseCall(Schema):
    choices: dict[str, Choice] = Field({}, description="By conflict key: whose change to keep.")


class RowsQuery(Schema):
    after: int = Field(0, ge=0, le=LARGEST, description="`next` of the previous page.")
    limit: int = Field(50, ge=1, le=MOST)


class FileQuery(Schema):
    format: Literal["csv", "jsonl"] = "jsonl"
    chain: int | None = Field(None, ge=1, le=LARGEST, description="Only this chain; by default the whole library.")


class CommentCall(Schema):
    text: str = Field(min_length=1, max_length=20_000, description="Markdown.")


class NewThreadCall(CommentCall):
    path: str = Field("", max_length=100, description="Of a node or part; empty for the whole chain.")
    quote: str = Field("", max_length=5_000, description="Words in it that the comment is about.")
    nth: int = Field(0, ge=0, le=LARGEST, description="Which occurrence of these words, counted from 0.")


class ResolveCall(Schema):
    resolved: bool = True


class CommentShape(Schema):
    id: int
    author: str
    text: str = Field(description="Empty if it was deleted.")
    created_at: datetime
    edited_at: datetime | None
    deleted_at: datetime | None


class ThreadShape(Schema):
    number: int
    version: int = Field(description="That it was started on.")
    kind: Literal["chain", "node", "part", "text"]
    path: str = Field(description="In the newest version; empty if its node is gone, and for the whole chain.")
    state: PlaceState = Field(description="folded: into a summary.")
    quote: str
    resolved: bool
    url: str
    comments: list[CommentShape]


class ThreadList(Schema):
    threads: list[ThreadShape]
    next: int | None = Field(description="`after` of the next page; null on the last one.")


class LabelCall(Schema):
    kind: LabelKind
    value: str = Field(max_length=200, description="A tag of up to 40 characters, 1 to 5, or pass or fail.")
    path: str = Field("", max_length=100, description="Of a node; empty for the whole chain.")


class LabelShape(Schema):
    id: int
    kind: LabelKind
    text: str = Field(description="Such as urgent, 4 of 5, pass.")
    value: int | None = Field(description="Of a rating, 1 to 5; of an outcome, 1 for pass and 0 for fail.")
    version: int = Field(description="That it was set on.")
    set_on: str = Field(description="Path of its node in that version; empty for the whole chain.")
    path: str = Field(description="In the newest version; empty if its node is gone, and for the whole chain.")
    state: PlaceState = Field(description="folded: into a summary.")
    person: str
    at: datetime


class LabelList(Schema):
    labels: list[LabelShape]
    next: int | None = Field(description="`after` of the next page; null on the last one.")


class JobShape(Schema):
    id: int
    state: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    progress: float
    message: str
    draft: int | None = Field(description="The draft that it created.")
    url: str = Field(description="Poll this address.")


def chain_shape(request: HttpRequest, chain: Chain) -> ChainShape:
    facts: dict[str, Any] = {
        "url": request.build_absolute_uri(reverse("chains:chain", args=[chain.pk])),
        "errors": chain.problems,
        "unread": unread_shapes(unread_from(chain.unread)),
        "tools": dict(chain.tools),
        "usage": [UsageShape(model=model, **usage._asdict()) for model, usage in by_model(chain.usage or {}).items()],
        "cost": None if chain.cost is None else chain.cost / 1_000_000,
        "seconds": None if chain.duration is None else chain.duration / 1000,
    }
    shown = {name: getattr(chain, name) for name in ChainShape.model_fields.keys() - facts.keys()}
    return ChainShape(**shown, **facts)


def unread_shapes(unread: Iterable[Unread]) -> list[UnreadShape]:
    return [UnreadShape(**unread_object(each)) for each in unread]


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
    kept = unpack(made.report)
    rows = decisions_in(kept)
    return StepShape(
        operation=made.operation,
        options=unpack(made.options),
        size=made.size,
        messages=made.messages,
        warnings=list(warnings_in(kept)),
        report=[row_object(row) for row in rows[:MOST]],
        decisions=len(rows),
    )


def job_shape(request: HttpRequest, job: Job) -> JobShape:
    return JobShape(
        id=job.pk,
        state=job.state,  # type: ignore[arg-type]
        progress=job.progress,
        message=job.message,
        draft=(job.result or {}).get("draft"),
        url=request.build_absolute_uri(reverse("api:job", args=[job.pk])),
    )


def upload_shape(request: HttpRequest, arrival: Arrival, chains: list[Chain]) -> UploadShape:
    return UploadShape(
        id=arrival.pk,
        state="failed" if arrival.is_failed else arrival.state,  # type: ignore[arg-type]
        chains=[chain_shape(request, chain) for chain in chains],
        percent=arrival.percent if arrival.is_running else 100,
        error=arrival.sentence if arrival.is_failed else "",
    )
