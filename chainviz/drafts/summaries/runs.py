"""Change runs of summaries: begin one, correct, decline or rewrite a piece, apply the run. All writes start here.

A piece changes its state only by compare-and-swap, so that workers and people never overwrite each other. After a change of a text, the
plan is made again, because thresholds apply to actual sizes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.module_loading import import_string

from chainviz.accounts.models import person_of
from chainviz.chains.access import chain_for, version_of
from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations.execute import execute
from chainviz.core.operations.summarize import SUMMARIZE, Piece, Plan, SummarizeOptions, Unchanged, losses
from chainviz.core.operations.summarize.facts import KINDS
from chainviz.core.operations.summarize.folding import plan
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.proposal import context_for, proposal_of
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.drafts.target import Target
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
"""The name of the job that writes summaries."""


NOT_ALLOWED = "Your team's rules do not allow it; an owner can change them under Team → Rules."


def endpoint() -> Endpoint:
    """Return the model of the installation, for estimates. `endpoint_for` decides whether a team may use it."""
    return Endpoint.configured(settings.CHAINVIZ)


def endpoint_for(chain: Chain) -> Endpoint:
    """Return the model for a chain. If the rules of its team allow no model, it is one that refuses every request."""
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
    """Return the summaries of this content that nobody has used yet, or None."""
    return SummaryRun.objects.filter(author=target.person, snapshot=target.stored.snapshot.pk, taken_at=None).first()


def stored_of(run: SummaryRun) -> StoredChain:
    return StoredChain(Snapshot.objects.get(pk=run.snapshot))


def options_of(run: SummaryRun) -> SummarizeOptions:
    return SummarizeOptions.model_validate(run.options)


def texts_of(run: SummaryRun) -> dict[str, str | Unchanged]:
    texts: dict[str, str | Unchanged] = {}
    for key, state, text, cause in run.pieces.values_list("key", "state", "text", "cause"):
        if state == State.READY:
            texts[key] = text
        elif state == State.DECLINED:
            texts[key] = Unchanged(LEFT_ALONE)
        elif state == State.FAILED:
            texts[key] = Unchanged(cause)
    return texts


def plan_of(run: SummaryRun, stored: StoredChain | None = None) -> Plan:
    """Return the plan with all texts that exist."""
    return plan(stored or stored_of(run), options_of(run), texts_of(run))


def renew(run: SummaryRun, stored: StoredChain | None = None) -> Plan:
    """Make the plan again, and update the pieces that it changes."""
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
        run=run, key=piece.key, first=str(piece.first), last=str(piece.last), reason=piece.reason, size=piece.size, estimate=piece.estimate
    )


def begin(target: Target, options: SummarizeOptions, writer: str) -> SummaryRun:
    """Begin a run. Removes earlier runs for the same content. Raises Refused if nothing would be folded."""
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
    """Return the unfinished jobs of a run."""
    wanted = {run.job_id, *run.pieces.values_list("job", flat=True)}
    found = Job.objects.filter(pk__in=[job for job in wanted if job is not None], state__in=UNFINISHED)
    return set(found.values_list("pk", flat=True))


def release(held: QuerySet[SummaryPiece], cause: str = "") -> None:
    """Release pieces that nobody writes any more. Pieces with an earlier text keep it; others have failed, or wait for the next attempt."""
    idle = {"job": None, "progress": 0, "stage": "", "cause": cause}
    held.exclude(text="").update(state=State.READY, **idle)
    held.update(state=State.FAILED if cause else State.WAITING, **idle)


def _let_go(run: SummaryRun, active: set[int]) -> None:
    """Release the pieces that a finished job still claims."""
    release(run.pieces.filter(state=State.WRITING).exclude(job__in=active))
    release(run.pieces.filter(state=State.WAITING).exclude(job=None).exclude(job__in=active))


@transaction.atomic
def write_rest(run: SummaryRun) -> None:
    """Start a job that writes all waiting pieces. Failed pieces are written only when somebody asks."""
    active = jobs_of(run)
    if run.job_id in active:
        return
    _let_go(run, active)
    run.job = start_job(WRITE, owner=run.author, max_attempts=ATTEMPTS, run=run.pk)
    run.save(update_fields=["job"])


@transaction.atomic
def write_failed(run: SummaryRun) -> None:
    """Write all failed pieces again, together with those that are not written yet."""
    if run.job_id in jobs_of(run):
        return
    run.pieces.filter(state=State.FAILED, in_plan=True).update(state=State.WAITING, job=None, cause="", progress=0, stage="")
    write_rest(run)


def stop(run: SummaryRun) -> None:
    """Stop writing. Finished summaries stay."""
    for job in Job.objects.filter(pk__in=jobs_of(run)):
        cancel(job)


@transaction.atomic
def write_again(piece: SummaryPiece, hint: str = "") -> None:
    """Start a job that writes one piece again. The new text replaces the old one when it is complete."""
    if piece.run.writer == MANUAL:
        raise Refused("These summaries are written by hand.")
    _let_go(piece.run, jobs_of(piece.run))
    idle = Q(state__in=(State.READY, State.FAILED, State.DECLINED)) | Q(state=State.WAITING, job=None)
    wish = storable(hint.strip())[:MOST_HINT]
    changed = SummaryPiece.objects.filter(idle, pk=piece.pk).update(state=State.WAITING, hint=wish, cause="", progress=0, stage="")
    if not changed:
        raise Refused("This summary is already being written.")
    job = start_job(WRITE, owner=piece.run.author, max_attempts=ATTEMPTS, run=piece.run_id, piece=piece.pk)
    SummaryPiece.objects.filter(pk=piece.pk).update(job=job)


def decline(piece: SummaryPiece) -> None:
    """Leave the piece unchanged, and stop a writer that works on it."""
    SummaryPiece.objects.filter(pk=piece.pk).update(state=State.DECLINED, job=None, progress=0, stage="", after=-1, left="")
    renew(piece.run)


def bring_back(piece: SummaryPiece) -> None:
    """Restore a declined piece with its earlier text; without one, it waits for a text."""
    state = State.READY if piece.text else State.WAITING
    SummaryPiece.objects.filter(pk=piece.pk, state=State.DECLINED).update(state=state, job=None)
    renew(piece.run)


def put_text(piece: SummaryPiece, text: str) -> None:
    """Save a text that a person wrote."""
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
    """Add a lost fact, or all known ones of a kind, to the current text of a piece."""
    lost = [each for of, each, _ in piece.losses.get("lost", []) if of == kind and fact in ("", each)]
    if not lost or piece.state != State.READY:
        raise Refused("This is already in the summary.")
    put_text(piece, with_facts(text, kind, lost))


def target_of_run(run: SummaryRun) -> Target:
    draft = run.draft if run.draft and run.draft.saved_as is None and run.draft.discarded_at is None else None
    return Target(run.chain, version_of(run.chain, run.base), draft, stored_of(run), run.author)


def take(run: SummaryRun) -> Draft:
    """Apply all finished summaries as one step of a draft. Raises MovedOn if they were made for other content."""
    target, options = target_of_run(run), options_of(run)
    context = replace(context_for(target.stored), summaries=texts_of(run))
    outcome = execute(SUMMARIZE.name, options, target.stored, context)
    if not outcome.changes:
        raise Refused("No summary is ready yet.")
    # the report also lists pieces that stay, because the person decided about them
    outcome = replace(outcome, warnings=tuple(run.warnings))
    with services.add_step(target, proposal_of(target, SUMMARIZE, options, outcome)) as draft:
        pass
    stop(run)
    run.taken_at = timezone.now()
    run.save(update_fields=["taken_at"])
    return draft


@transaction.atomic
def discard(run: SummaryRun) -> None:
    stop(run)
    run.delete()


# The loss report of one summary, which is stored beside its text, and adding lost facts to the text.


MOST_KEPT = 50
"""The most lost facts of each kind in a report. It also has the number of all."""


def losses_of(piece: Piece, summary: str) -> dict[str, Any]:
    """Return the losses of a summary, read from the folded messages: {"shares": [[kind, found, kept]], "lost": [[kind, text, path]],
    "complete"}."""
    material = piece.read()
    report = losses(material.messages or material.humans, summary, material.places)
    counts: dict[str, int] = {}
    lost = []
    for loss in report.losses:
        counts[loss.kind] = counts.get(loss.kind, 0) + 1
        if counts[loss.kind] <= MOST_KEPT:
            lost.append([loss.kind, loss.text, str(loss.path or "")])
    shares = [[share.kind, share.found, share.kept] for share in report.shares]
    return {"shares": shares, "lost": lost, "complete": report.complete}


def with_facts(text: str, kind: str, facts: list[str]) -> str:
    """Return the summary with lost facts at its end, one line for each kind, in the same place as the extractive writer's facts."""
    label = KINDS[kind]  # type: ignore[index]
    heading = f"{label[0].upper()}{label[1:]}:"
    lines = text.rstrip().split("\n")
    for place, line in enumerate(lines):
        if line.casefold().startswith(f"{heading} ".casefold()):
            lines[place] = ", ".join([line.rstrip(), *facts])
            return "\n".join(lines)
    return "\n".join([*lines, f"{heading} {', '.join(facts)}"]).lstrip("\n")
