"""The job that writes the pieces of a run, a few at a time. Each text is stored as soon as it is complete.

The job can be killed at any moment. A worker that takes over writes only the missing pieces: pieces are claimed one by one, and late
texts of a dead attempt are dropped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, Q, QuerySet

from chainviz.core.operations.summarize import Piece, Plan, Summary, SummaryRequest, Writer
from chainviz.core.usage.recorded import TokenUsage
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.drafts.summaries.runs import endpoint_for, losses_of, release, renew, stored_of
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext
from chainviz.llm import Watch, Written, write_all, writer_named
from chainviz.store.models import Snapshot

State = SummaryPiece.State
READ_AT_ONCE = 16_000_000
"""The most bytes of folded messages in memory for one round."""
LOOK_SECONDS = 0.3
"""The seconds between two checks of the database, to report progress and to see whether somebody stopped the job."""


def write_pieces(context: JobContext, run: int, piece: int | None = None) -> int:
    """Write all waiting pieces, or only one piece. Return the number of written pieces."""
    found = SummaryRun.objects.filter(pk=run).select_related("chain").first()
    if found is None or not Snapshot.objects.filter(pk=found.snapshot).exists():
        return 0
    work = _Work(context, found, piece)
    try:
        return work.write()
    finally:
        work.let_go()


@dataclass(frozen=True, slots=True)
class _Stoppable:
    """A writer whose pieces can be stopped one by one."""

    writer: Writer
    stopped: set[str]
    begun: dict[str, float]

    @property
    def name(self) -> str:
        return self.writer.name

    @property
    def label(self) -> str:
        return self.writer.label

    def write(
        self,
        request: SummaryRequest,
        *,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[float, str], None] = lambda done, text: None,
    ) -> str | Summary:
        self.begun[request.key] = time.monotonic()
        return self.writer.write(request, cancelled=lambda: cancelled() or request.key in self.stopped, progress=progress)


@dataclass
class _Work:
    context: JobContext
    run: SummaryRun
    only: int | None
    written: int = 0
    looked: float = 0.0
    over: bool = False
    told: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.endpoint = endpoint_for(self.run.chain)
        self.writer = writer_named(self.run.writer, self.endpoint)
        self.stored = stored_of(self.run)
        # pieces that a dead attempt of this job had claimed
        self._own().exclude(claim=self.job.attempts).filter(state=State.WRITING).update(state=State.WAITING, progress=0, stage="")

    @property
    def job(self) -> Job:
        return self.context.job

    def _own(self) -> QuerySet[SummaryPiece]:
        return SummaryPiece.objects.filter(run=self.run, job=self.job)

    def _claimed(self) -> QuerySet[SummaryPiece]:
        """Return the pieces that this attempt has claimed and nobody has released."""
        return self._own().filter(state=State.WRITING, claim=self.job.attempts)

    def write(self) -> int:
        while not self.over and SummaryRun.objects.filter(pk=self.run.pk).exists():
            planned = renew(self.run, self.stored)
            mine = self._claim(planned)
            if mine:
                self._write(planned, mine)
            elif not self._goes_on():
                return self.written
        raise Cancelled

    def _goes_on(self) -> bool:
        """Return True after a job for one piece if the job for all pieces is done, so that pieces which depend on it are written too."""
        alone, self.only = self.only, None
        if alone is None or self.run.job_id is None:
            return False
        return Job.objects.filter(pk=self.run.job_id, state=Job.State.DONE).exists()

    def let_go(self) -> None:
        """Release the other pieces after a cancel or a fault, until somebody asks for them."""
        release(self._claimed())
        self._own().filter(state=State.WAITING).update(job=None)

    def _claim(self, planned: Plan) -> list[Piece]:
        """Claim the next pieces, no more than can be started soon."""
        rows = {row.key: row for row in SummaryPiece.objects.filter(run=self.run, state=State.WAITING)}
        mine: list[Piece] = []
        size = 0
        for piece in planned.pieces:
            row = rows.get(piece.key)
            if row is None or (self.only is not None and row.pk != self.only) or not self._may_begin(planned, piece):
                continue
            size += piece.size
            if mine and (size > READ_AT_ONCE or len(mine) >= 2 * self.endpoint.concurrency):
                break
            free = Q(job=None) | Q(job=self.job)
            mine += [piece] * SummaryPiece.objects.filter(free, pk=row.pk, state=State.WAITING).update(
                state=State.WRITING, job=self.job, claim=self.job.attempts, attempts=F("attempts") + 1, progress=0, stage=""
            )
        return mine

    def _may_begin(self, planned: Plan, piece: Piece) -> bool:
        """Return True if the piece can be written now: later texts cannot make it unnecessary, or a person asked for it."""
        unwritten = [each.stage for each in planned.pieces if each.after < 0 and not each.left]
        return self.only is not None or piece.stage == min(unwritten, default=piece.stage)

    def _write(self, planned: Plan, mine: Sequence[Piece]) -> None:
        pieces = {piece.key: piece for piece in mine}
        hints = dict(self._claimed().values_list("key", "hint"))
        requests = [planned.request(piece).with_hint(hints.get(piece.key, "")) for piece in mine]
        stopped: set[str] = set()
        begun: dict[str, float] = {}

        def cancelled() -> bool:
            if time.monotonic() - self.looked >= LOOK_SECONDS:
                self.looked = time.monotonic()
                self.over = self.context.is_cancelled()
                stopped.update(pieces.keys() - set(self._claimed().values_list("key", flat=True)))
            return self.over

        def store(written: Written) -> None:
            began = begun.get(written.request.key, time.monotonic())
            self._store(pieces[written.request.key], written, time.monotonic() - began)

        write_all(
            requests,
            _Stoppable(self.writer, stopped, begun),
            concurrency=self.endpoint.concurrency,
            watch=Watch(cancelled, store, self._tell),
        )

    def _tell(self, request: SummaryRequest, done: float, stage: str) -> None:
        now = time.monotonic()
        if now - self.told.get(request.key, 0.0) >= LOOK_SECONDS:
            self.told[request.key] = now
            self._claimed().filter(key=request.key).update(progress=done, stage=storable(stage)[:200])

    def _store(self, piece: Piece, written: Written, seconds: float) -> None:
        held = self._claimed().filter(key=piece.key)
        if written.state == "cancelled":
            release(held)
        elif written.state == "failed":
            release(held, cause=storable(written.cause))
        else:
            self.written += held.update(
                state=State.READY,
                text=written.text,
                losses=losses_of(piece, written.text),
                author=self.writer.label[:200],
                seconds=seconds,
                cause="",
                job=None,
                progress=1,
                stage="",
                usage=self._counted(held, written),
            )

    def _counted(self, held: QuerySet[SummaryPiece], written: Written) -> dict[str, Any]:
        """Return the usage with that of earlier attempts of the piece."""
        before: dict[str, Any] = held.values_list("usage", flat=True).first() or {}
        if written.usage is None:
            return before
        total = TokenUsage(*before.get("tokens", ())) + written.usage
        return {"model": self.endpoint.model, "tokens": list(total)}
