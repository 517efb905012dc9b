"""The library and its chains: lists, trees, problems, comparisons and exports."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.api.json_objects import comparison_object, problem_object
from chainviz.chains.access import chain_for
from chainviz.chains.diff.compare import compare
from chainviz.chains.diff.runs import compare_runs, facts_of, subject_named
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.downloads import written
from chainviz.chains.exports.export import Export
from chainviz.chains.library.filter import notices, read_filter
from chainviz.chains.library.listing import fitting
from chainviz.chains.library.search import ChainHits, hits_of, not_indexed
from chainviz.chains.models import Chain
from chainviz.core.diff import ChainDiff
from chainviz.core.diff.runs import are_runs
from chainviz.core.errors import Refused
from chainviz.core.formats.vendors import get_provider
from chainviz.core.providers.check import verdict_from
from chainviz.http_api.shapes import (
    LARGEST,
    MOST,
    REFUSALS,
    ChainList,
    ChainQuery,
    ChainShape,
    Comparison,
    Error,
    ExportQuery,
    FoundShape,
    HitShape,
    OffsetQuery,
    PageQuery,
    PlaceQuery,
    ProblemQuery,
    Problems,
    ProblemShape,
    RowShape,
    Tree,
    VersionList,
    chain_shape,
    unread_shapes,
    version_shape,
)
from chainviz.store.content.codec import unpack
from chainviz.store.models import Version
from chainviz.store.query.problems import ProblemFilter, problems
from chainviz.store.query.windows import WindowRow, window
from chainviz.store.transfer.document_context import envelope_of

router = Router(tags=["chains"])
VERSION = "/chains/{int:chain_id}/versions/{int:number}"
BYTES = {
    "responses": {
        200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    }
}  # fmt: skip


@router.get("/chains", response={200: ChainList, REFUSALS: Error})
@requires("read")
def chains(request: HttpRequest, asked: Query[ChainQuery]) -> ChainList:
    """The chains in the library that match the filter, newest first."""
    wanted = read_filter(asked.model_dump(exclude={"before", "limit"}))
    if said := notices(wanted):
        raise Refused(" ".join(said))
    mine = Chain.objects.visible_to(member_of(request)).in_library()
    found = fitting(mine, wanted, member_of(request)).order_by("-pk")
    page, following = _page(found if asked.before is None else found.filter(pk__lt=asked.before), asked.limit)
    hits = hits_of(page, wanted.terms)
    return ChainList(
        chains=[_hit_shape(request, chain, hits.get(chain.pk)) for chain in page],
        next=following and page[-1].pk,
        not_indexed=not_indexed(mine).count() if wanted.terms else 0,
    )


def _hit_shape(request: HttpRequest, chain: Chain, hits: ChainHits | None) -> FoundShape:
    shown = [
        HitShape(path=hit.path, text="".join(words for words, _ in hit.pieces), url=request.build_absolute_uri(hit.url))
        for hit in (hits.shown if hits else ())
    ]
    return FoundShape(**chain_shape(request, chain).model_dump(), hits=shown)


@router.get("/chains/{int:chain_id}", response={200: ChainShape, REFUSALS: Error})
@requires("read")
def chain(request: HttpRequest, chain_id: int) -> ChainShape:
    """One chain."""
    return chain_shape(request, chain_for(request, chain_id))


@router.get("/chains/{int:chain_id}/versions", response={200: VersionList, REFUSALS: Error})
@requires("read")
def versions(request: HttpRequest, chain_id: int, asked: Query[PageQuery]) -> VersionList:
    """The versions of a chain, newest first."""
    found = chain_for(request, chain_id)
    rows = Version.objects.filter(history=found.history).select_related("snapshot").order_by("-number")
    page, following = _page(rows if asked.before is None else rows.filter(number__lt=asked.before), asked.limit)
    shown = [version_shape(request, found, version) for version in page]
    return VersionList(versions=shown, next=following and page[-1].number)


def _page(rows: QuerySet, limit: int) -> tuple[list, bool | None]:  # type: ignore[type-arg]
    """Returns the first rows, and True where more follow, else None."""
    found = list(rows[: limit + 1])
    return found[:limit], len(found) > limit or None


@router.get(f"{VERSION}/tree", response={200: Tree, REFUSALS: Error})
@requires("read")
def tree(request: HttpRequest, chain_id: int, number: int, asked: Query[PlaceQuery]) -> Tree:
    """Sections, header messages and body pairs as a flat list, in order."""
    subject = version_subject(request, chain_id, _number(number))
    page = window(subject.stored, asked.path, count=asked.limit)
    snapshot = subject.snapshot
    rows = [_row(request, subject, row) for row in page.rows]
    following = str(page.down) if page.down else None
    return Tree(format=snapshot.format, messages=snapshot.messages, size=snapshot.size, rows=rows, next=following)


def _row(request: HttpRequest, subject: Subject, row: WindowRow) -> RowShape:
    if row.kind == "run":
        raise AssertionError("The rows of the API are never folded.")
    return RowShape(
        kind=row.kind,
        path=str(row.path),
        messages=row.messages,
        size=row.size,
        type=row.type or None,
        valid=row.valid and not row.invalid,
        url=request.build_absolute_uri(f"{subject.base_url}at/{row.path}"),
    )


@router.get(f"{VERSION}/problems", response={200: Problems, REFUSALS: Error})
@requires("read")
def chain_problems(request: HttpRequest, chain_id: int, number: int, asked: Query[ProblemQuery]) -> Problems:
    """The problems of a version: structure problems, or what a provider's API would reject."""
    name = get_provider(asked.provider.replace("-", "_")).name if asked.provider else ""
    subject = version_subject(request, chain_id, _number(number))
    page = problems(subject.stored, asked.path, asked.limit, ProblemFilter(name))
    counts = unpack(subject.outline.verdicts).get(name, ())
    return Problems(
        verdict=verdict_from(counts).state if name else "",
        total=page.total,
        problems=[ProblemShape(**problem_object(problem)) for problem in page.problems],
        unread=unread_shapes(envelope_of(subject.snapshot).unread),
        next=str(page.next) if page.next else None,
    )


@router.get("/chains/{int:chain_id}/diff/{int:before}..{int:after}", response={200: Comparison, REFUSALS: Error})
@requires("compare")
def diff(request: HttpRequest, chain_id: int, before: int, after: int, asked: Query[OffsetQuery]) -> Comparison:
    """The changes between two versions, as `chainviz diff --json` prints them."""
    old, new = (version_subject(request, chain_id, _number(number)) for number in (before, after))
    return _comparison(compare(old.stored, new.stored), old, new, asked.offset)


@router.get("/compare/{str:one}/{str:other}", response={200: Comparison, REFUSALS: Error})
@requires("compare")
def compare_chains(request: HttpRequest, one: str, other: str, asked: Query[OffsetQuery]) -> Comparison:
    """The differences between any two chains, such as two runs of one task, as `chainviz diff --json` prints them.

    `12` is the newest version of chain 12, `12.3` its version 3.
    """
    old, new = subject_named(request, one), subject_named(request, other)
    return _comparison(compare_runs(old.stored, new.stored), old, new, asked.offset)


def _comparison(found: ChainDiff, old: Subject, new: Subject, offset: int) -> Comparison:
    """A page of its changes."""
    said = comparison_object(found, facts_of(old), facts_of(new), are_runs=are_runs(old.stored, new.stored))
    rest = said["changes"][offset:]
    following = offset + MOST if len(rest) > MOST else None
    return Comparison(**{**said, "changes": rest[:MOST]}, next=following)


@router.get(f"{VERSION}/export", response={REFUSALS: Error}, openapi_extra=BYTES)
@requires("export")
def export(request: HttpRequest, chain_id: int, number: int, asked: Query[ExportQuery]) -> HttpResponseBase:
    """The bytes of a version, in its own format or in another."""
    chosen = Export.to(version_subject(request, chain_id, _number(number)), asked.to)
    return written(chosen, asked.scope if chosen.is_part else "chain")


def _number(number: int) -> int:
    """`version_subject` takes 0 for the newest."""
    return number or LARGEST
