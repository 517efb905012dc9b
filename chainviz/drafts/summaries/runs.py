"""What a person does with summaries: begin, correct, decline, have them written again, take them. All writes start here.

A piece changes hands only by compare-and-swap on its state, so that neither two workers nor a worker and a person
overwrite each other. After a change of a text the plan is made again, because thresholds apply to real sizes.
"""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.module_loading import import_string

from chainviz.accounts.models import person_of
from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations.execute import execute
from chainviz.core.operations.summarize import SUMMARIZE, Left, Piece, Plan, SummarizeOptions
from chainviz.core.operations.summarize.planning.choose import plan
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.context import context_for
from chainviz.drafts.operations.proposal import proposal_of
from chainviz.drafts.summaries.loss_report import losses_of, with_facts
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.drafts.target import Target, version_of
from chainviz.jobs.lease import cancel, storable
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job
from chainviz.llm import Endpoint
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Snapshot

State = SummaryPiece.State
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)
LEFT_ALONE = "You chose to leave it as it is."
MANUAL = "manual"
BY_HAND = "you"
MOST_TEXT = 1_000_000
MOST_HINT = 1_000
ATTEMPTS = 5
WRITE = "write-summaries"
"""Workers that may die in the middle of a run before it is given up."""


NOT_ALLOWED = "Your team's rules do not allow it; an owner can change them under Team → Rules."


def endpoint() -> Endpoint:
    """The model of the installation, to estimate with: whether a team may ask it, `endpoint_for` says."""
    return Endpoint.configured(settings.CHAINVIZ)


def endpoint_for(chain: Chain) -> Endpoint:
    """The model that may be asked about a chain; one that refuses where the rules of its team do not allow any."""
    configured = endpoint()
    if configured.problem or import_string(settings.WRITERS_ALLOWED)(chain.team_id):
        return configured
    return Endpoint(refusal=NOT_ALLOWED)


def run_for(request: HttpRequest, chain_id: int, run_id: int) -> SummaryRun:
    chain = chain_for(request, chain_id)
    run = get_object_or_404(SummaryRun.objects.visible_to(person_of(request)).filter(chain=chain), pk=run_id)
    if not Snapshot.objects.filter(pk=run.snapshot, history=chain.history).exists():
        raise Http404
    return run


def open_run(target: Target) -> SummaryRun | None:
    """Summaries of this content that nobody has taken yet."""
    return SummaryRun.objects.filter(author=target.person, snapshot=target.stored.snapshot.pk, taken_at=None).first()


def stored_of(run: SummaryRun) -> StoredChain:
    return StoredChain(Snapshot.objects.get(pk=run.snapshot))


def options_of(run: SummaryRun) -> SummarizeOptions:
    return SummarizeOptions.model_validate(run.options)


def texts_of(run: SummaryRun) -> dict[str, str | Left]:
    texts: dict[str, str | Left] = {}
    for key, state, text, cause in run.pieces.values_list("key", "state", "text", "cause"):
        if state == State.READY:
            texts[key] = text
        elif state == State.DECLINED:
            texts[key] = Left(LEFT_ALONE)
        elif state == State.FAILED:
            texts[key] = Left(cause)
    return texts


def plan_of(run: SummaryRun, stored: StoredChain | None = None) -> Plan:
    """With all texts there are."""
    return plan(stored or stored_of(run), options_of(run), texts_of(run))


def renew(run: SummaryRun, stored: StoredChain | None = None) -> Plan:
    """Plans again and writes into the pieces what that changes."""
    planned = plan_of(run, stored)
    known = {piece.key: piece for piece in run.pieces.all()}
    made = [_row(run, piece) for piece in planned.pieces if piece.key not in known]
    SummaryPiece.objects.bulk_create(made, ignore_conflicts=True)
    for piece in planned.pieces:
        row = known.pop(piece.key, None)
        left = piece.left if row is not None and row.state == State.READY else ""
        values = {"after": piece.after, "left": left, "in_plan": True, "reason": piece.reason}
        if row is not None and any(getattr(row, name) != value for name, value in values.items()):
            SummaryPiece.objects.filter(pk=row.pk).update(**values)
    gone = [row.pk for row in known.values() if row.in_plan]
    SummaryPiece.objects.filter(pk__in=gone).update(in_plan=False)
    if list(planned.warnings) != run.warnings:
        run.warnings = list(planned.warnings)
        run.save(update_fields=["warnings"])
    return planned


def _row(run: SummaryRun, piece: Piece) -> SummaryPiece:
    return SummaryPiece(
        run=run,
        key=piece.key,
        first=str(piece.first),
        last=str(piece.last),
        reason=piece.reason,
        size=piece.size,
        estimate=piece.estimate,
    )


def begin(target: Target, options: SummarizeOptions, writer: str) -> SummaryRun:
    """Refused where nothing would be folded. Earlier summaries of the same content go."""
    planned = plan(target.stored, options)
    if not planned.pieces:
        raise Refused("These settings summarize nothing.")
    with transaction.atomic():
        old = SummaryRun.objects.filter(author=target.person).filter(
            Q(snapshot=target.stored.snapshot.pk) | Q(chain=target.chain, taken_at__isnull=False)
        )
        for each in old:
            stop(each)
        old.delete()
        run = SummaryRun.objects.create(
            chain=target.chain,
            author=target.person,
            draft=target.draft,
            base=target.version.number,
            snapshot=target.stored.snapshot.pk,
            size=planned.size_before,
            options=options.model_dump(),
            writer=writer,
            warnings=list(planned.warnings),
        )
        SummaryPiece.objects.bulk_create([_row(run, piece) for piece in planned.pieces])
        if writer != MANUAL:
            write_rest(run)
    return run


def jobs_of(run: SummaryRun) -> set[int]:
    """Jobs that still write for it."""
    wanted = {run.job_id, *run.pieces.values_list("job", flat=True)}
    found = Job.objects.filter(pk__in=[job for job in wanted if job is not None], state__in=UNFINISHED)
    return set(found.values_list("pk", flat=True))


def release(held: QuerySet[SummaryPiece], cause: str = "") -> None:
    """Nobody writes these pieces any more: those with an earlier text keep it, others failed, or wait for the next attempt."""
    idle = {"job": None, "progress": 0, "stage": "", "cause": cause}
    held.exclude(text="").update(state=State.READY, **idle)
    held.update(state=State.FAILED if cause else State.WAITING, **idle)


def _let_go(run: SummaryRun, active: set[int]) -> None:
    """Pieces in the hands of a job that has ended."""
    release(run.pieces.filter(state=State.WRITING).exclude(job__in=active))
    release(run.pieces.filter(state=State.WAITING).exclude(job=None).exclude(job__in=active))


@transaction.atomic
def write_rest(run: SummaryRun) -> None:
    """Has everything written that is not: those that failed stay as they are until somebody asks for them."""
    active = jobs_of(run)
    if run.job_id in active:
        return
    _let_go(run, active)
    run.job = start_job(WRITE, owner=run.author, max_attempts=ATTEMPTS, run=run.pk)
    run.save(update_fields=["job"])


@transaction.atomic
def write_failed(run: SummaryRun) -> None:
    """All that failed once more, together with what is not written yet."""
    if run.job_id in jobs_of(run):
        return
    run.pieces.filter(state=State.FAILED, in_plan=True).update(
        state=State.WAITING, job=None, cause="", progress=0, stage=""
    )
    write_rest(run)


def stop(run: SummaryRun) -> None:
    """What is finished stays."""
    for job in Job.objects.filter(pk__in=jobs_of(run)):
        cancel(job)


@transaction.atomic
def write_again(piece: SummaryPiece, hint: str = "") -> None:
    """One piece alone, by the run's writer; the new text replaces the old one when it is complete."""
    if piece.run.writer == MANUAL:
        raise Refused("These summaries are written by hand.")
    _let_go(piece.run, jobs_of(piece.run))
    idle = Q(state__in=(State.READY, State.FAILED, State.DECLINED)) | Q(state=State.WAITING, job=None)
    wish = storable(hint.strip())[:MOST_HINT]
    changed = SummaryPiece.objects.filter(idle, pk=piece.pk).update(
        state=State.WAITING, hint=wish, cause="", progress=0, stage=""
    )
    if not changed:
        raise Refused("This summary is already being written.")
    job = start_job(WRITE, owner=piece.run.author, max_attempts=ATTEMPTS, run=piece.run_id, piece=piece.pk)
    SummaryPiece.objects.filter(pk=piece.pk).update(job=job)


def decline(piece: SummaryPiece) -> None:
    """The piece stays as it is; a writer that is at work on it is stopped."""
    SummaryPiece.objects.filter(pk=piece.pk).update(
        state=State.DECLINED, job=None, progress=0, stage="", after=-1, left=""
    )
    renew(piece.run)


def bring_back(piece: SummaryPiece) -> None:
    """A declined piece has its text again, or waits for one."""
    state = State.READY if piece.text else State.WAITING
    SummaryPiece.objects.filter(pk=piece.pk, state=State.DECLINED).update(state=state, job=None)
    renew(piece.run)


def put_text(piece: SummaryPiece, text: str) -> None:
    """The person's own text."""
    if not text.strip():
        raise Refused("The summary is empty. Write something, or leave the piece as it is.")
    if len(text) > MOST_TEXT:
        raise Refused(f"A summary has at most {MOST_TEXT:,} characters; this one has {len(text):,}.")
    stored = stored_of(piece.run)
    planned = plan_of(piece.run, stored)
    found = next((each for each in planned.pieces if each.key == piece.key), None)
    author = piece.author if text == piece.text else _edited(piece)
    SummaryPiece.objects.filter(pk=piece.pk).update(
        state=State.READY,
        text=text,
        author=author,
        losses=losses_of(found, text) if found is not None else piece.losses,
        cause="",
        job=None,
    )
    renew(piece.run, stored)


def _edited(piece: SummaryPiece) -> str:
    if not piece.author or piece.author == BY_HAND:
        return BY_HAND
    return piece.author if piece.author.endswith(", edited by you") else f"{piece.author}, edited by you"


def add_facts(piece: SummaryPiece, text: str, kind: str, fact: str = "") -> None:
    """A lost fact, or all known ones of a kind, go back into the text, which may have been changed meanwhile."""
    lost = [each for of, each, _ in piece.losses.get("lost", []) if of == kind and fact in ("", each)]
    if not lost or piece.state != State.READY:
        raise Refused("This is already in the summary.")
    put_text(piece, with_facts(text, kind, lost))


def target_of_run(run: SummaryRun) -> Target:
    draft = run.draft if run.draft and run.draft.saved_as is None and run.draft.discarded_at is None else None
    return Target(run.chain, version_of(run.chain, run.base), draft, stored_of(run), run.author)


def take(run: SummaryRun) -> Draft:
    """The summaries that are ready become one step of a draft. MovedOn where the draft is not what they were made for."""
    target, options = target_of_run(run), options_of(run)
    context = replace(context_for(target.stored), summaries=texts_of(run))
    outcome = execute(SUMMARIZE.name, options, target.stored, context)
    if not outcome.changes:
        raise Refused("No summary is ready yet.")
    # pieces that stay are in the report; the person decided about them
    outcome = replace(outcome, warnings=tuple(run.warnings))
    with services.taking(target, proposal_of(target, SUMMARIZE, options, outcome)) as draft:
        pass
    stop(run)
    run.taken_at = timezone.now()
    run.save(update_fields=["taken_at"])
    return draft


@transaction.atomic
def discard(run: SummaryRun) -> None:
    stop(run)
    run.delete()
