"""The page of a run: how far the whole is, a card for each piece that needs a look, and one group of the others.

Reads rows, plans nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode
from zlib import crc32

from django.urls import reverse

from chainviz.chains.diff.changes_page import Measure, measures
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.core.operations.summarize.facts import KINDS
from chainviz.core.usage.model_catalog import estimated_tokens
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.drafts.summaries.plan_outline import RULES, counted_cost, range_text
from chainviz.drafts.summaries.runs import BY_HAND, MANUAL, endpoint_for, jobs_of, target_of_run
from chainviz.drafts.summaries.summary_choices import SETTINGS
from chainviz.drafts.target import Target
from chainviz.jobs.models import Job
from chainviz.llm import writer_named
from chainviz.web.formatting import byte_text, for_field

State = SummaryPiece.State
SHOWN = 100
"""The number of pieces on a page."""
READ_AT_ONCE = 12
"""The number of pieces up to which all texts are shown; with more, each text is loaded on request."""
LOOKS = {
    "waiting": ("quiet", "clock", "waiting"),
    "writing": ("open", "spinner", "writing"),
    "stopped": ("quiet", "pending", "not written"),
    "ready": ("ok", "ok", "ready"),
    "larger": ("problem", "problem", "too large"),
    "failed": ("problem", "problem", "failed"),
    "declined": ("quiet", "close", "left as it is"),
}
"""The state, icon and word of a piece."""
UNSIZED = "unsized"
"""A ready piece that the plan has not counted yet."""
EDITED = "edited"
"""A ready piece whose text a person wrote or changed."""
CARDS = ("failed", "larger", "declined", EDITED)
"""Marks of the pieces that have their own card above the group."""
STOPPING = "Stopping; finished summaries are kept"


@dataclass(frozen=True, slots=True)
class LostFact:
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class KindOfLoss:
    kind: str
    label: str
    found: int
    kept: int
    percent: int
    lost: tuple[LostFact, ...]
    more: int

    @property
    def opens(self) -> bool:
        """Few losses are read at once; counters never need to be."""
        return 0 < self.missing < 12 and self.kind != "counter"

    @property
    def missing(self) -> int:
        return self.found - self.kept


@dataclass(frozen=True, slots=True)
class PieceView:
    pk: int
    dom: str
    number: str
    title: str
    rule: str
    reason: str
    looks: str
    mark: str
    """The value that a poll compares: the look of the piece, whether a person edited it, and if it is closed, whether
    its new size is known."""
    state: str
    icon: str
    word: str
    detail: str
    stage: str
    is_ready: bool
    has_body: bool
    """True if its text is on the page; otherwise it is loaded on request."""
    by_writer: bool
    """True if a writer other than the person can be used."""
    takes_hints: bool
    cause: str
    text: str
    rows: int
    author: str
    hint: str
    losses: tuple[KindOfLoss, ...]
    lost_text: str
    complete: bool
    href: str
    prompt_href: str
    keep_key: str
    edition: int
    """The number of purges of the chain: a text that was typed before a purge may contain a purged value."""
    error: str = ""
    """The reason why its text was refused; `text` is then the refused text."""

    @property
    def is_card(self) -> bool:
        return self.mark in CARDS


@dataclass(frozen=True, slots=True)
class RunPage:
    chain: Chain
    run: SummaryRun
    pieces: tuple[PieceView, ...]
    """The pieces with a card, then those of the group, each in chain order."""
    group_text: str
    """The content of the group in the whole run; "" if it is empty."""
    is_group_open: bool
    percent: int
    first: int
    next_first: int
    more: int
    measures: tuple[Measure, ...]
    is_writing: bool
    is_stopping: bool
    can_go_on: bool
    retry_text: str
    """The label of the button that writes all failed texts again; empty if there are none."""
    head: str
    ready: int
    left: int
    take_text: str
    left_text: str
    writer: str
    explorer: str
    settings_href: str
    source_words: str
    warnings: tuple[str, ...]
    trouble: str
    time_left: str
    """The estimated time until the last text is written; "" if nothing is known about it."""
    used: str
    """Tokens and price as the model's server counted them; "" if it did not."""


def run_page(run: SummaryRun, first: int = 0, opened: Collection[int] = ()) -> RunPage:
    """Return the page of a run. `opened` contains the pieces that show their texts in any case."""
    target = target_of_run(run)
    active = jobs_of(run)
    awaited = is_awaited(run, active)
    pieces = sorted(run.pieces.filter(in_plan=True).defer("text", "losses"), key=_place)
    looks_by_piece = {row.pk: looks_of(row, active, awaited) for row in pieces}
    grouped = [row for row in pieces if _mark(row, looks_by_piece[row.pk]) not in CARDS]
    rows = [row for row in pieces if _mark(row, looks_by_piece[row.pk]) in CARDS] + grouped
    looks = Counter(looks_by_piece.values())
    is_stopping = bool(active) and not Job.objects.filter(pk__in=active, cancel_requested=False).exists()
    ready, left = looks["ready"], len(rows) - looks["ready"]
    shown = rows[first : first + SHOWN]
    bodies = {row.pk for row in shown if len(rows) <= READ_AT_ONCE or row.pk in opened}
    return RunPage(
        chain=run.chain,
        run=run,
        pieces=tuple(piece_view(run, target, row, active, has_body=row.pk in bodies) for row in shown),
        group_text=_group_text(grouped, looks_by_piece),
        is_group_open=len(rows) <= READ_AT_ONCE or bool(first or opened) or run.writer == MANUAL or (not active and rows == grouped),
        percent=_percent(rows, looks_by_piece),
        first=first,
        next_first=first + SHOWN if len(rows) > first + SHOWN else 0,
        more=max(0, len(rows) - first - SHOWN),
        measures=run_measures(run, rows),
        is_writing=bool(active),
        is_stopping=is_stopping,
        can_go_on=not active and bool(looks["stopped"]) and run.writer != MANUAL,
        retry_text=_retry_text(looks["failed"]) if not active and run.writer != MANUAL else "",
        head=STOPPING if is_stopping else _head(len(rows), ready, bool(active), run.writer),
        ready=ready,
        left=left,
        take_text=_take_text(ready),
        left_text=_unchanged_text(left, looks),
        writer=writer_named(run.writer, endpoint_for(run.chain)).label,
        explorer=target.explorer,
        settings_href=settings_href(run, target),
        source_words=target.words,
        warnings=tuple(run.warnings),
        trouble=_trouble(run, active),
        time_left=time_left(rows, looks_by_piece) if active else "",
        used=counted_cost(row.usage for row in rows),
    )


def _take_text(ready: int) -> str:
    return "Preview the summaries" if not ready else "Preview 1 summary" if ready == 1 else f"Preview {ready:,} summaries"


def _retry_text(failed: int) -> str:
    return "" if not failed else "Try the failed one again" if failed == 1 else f"Try the {failed:,} failed again"


def _unchanged_text(number: int, looks: Counter[str]) -> str:
    if not number:
        return ""
    why = ", ".join(f"{looks[each]:,} {LOOKS[each][2]}" for each in ("failed", "larger") if looks[each])
    stays = f"{count_text(number, 'piece')} {'stays as it is' if number == 1 else 'stay as they are'}"
    return f"{stays} ({why})" if why else stays


def _trouble(run: SummaryRun, active: set[int]) -> str:
    """Return the reason why the job failed; "" if it did not."""
    job = run.job
    return job.message if job is not None and not active and job.state in ("failed", "interrupted") else ""


def settings_href(run: SummaryRun, target: Target) -> str:
    chosen = {name: value for name, value in run.options.items() if value is not False}
    words = {SETTINGS: "1", **chosen, "writer": run.writer}
    address = reverse("drafts:operation", args=[run.chain_id, "summarize"])
    return f"{address}{target.query}&{urlencode(words)}"


def _mark(row: SummaryPiece, looks: str) -> str:
    return EDITED if looks == "ready" and BY_HAND in row.author else looks


def _percent(rows: list[SummaryPiece], looks: dict[int, str]) -> int:
    done = (row.progress if looks[row.pk] in ("waiting", "writing") else 1.0 for row in rows)
    return round(100 * sum(done) / max(1, len(rows)))


def time_left(rows: Sequence[SummaryPiece], looks: Mapping[int, str]) -> str:
    """Return the time left in words, from the mean time of the texts that are written and the number written at once."""
    times = [row.seconds for row in rows if row.seconds]
    ahead = sum(1 - row.progress for row in rows if looks[row.pk] in ("waiting", "writing"))
    if not times or not ahead:
        return ""
    at_once = max(1, sum(looks[row.pk] == "writing" for row in rows))
    minutes = round(sum(times) / len(times) * ahead / at_once / 60)
    return f"about {count_text(minutes, 'minute')} left" if minutes else "less than a minute left"


def _group_text(rows: list[SummaryPiece], looks: dict[int, str]) -> str:
    numbers = Counter(looks[row.pk] for row in rows)
    states = ", ".join(f"{numbers[each]:,} {word}" for each, (_, _, word) in LOOKS.items() if numbers[each])
    return states and f"{states} · {byte_text(sum(row.size for row in rows))} → {byte_text(sum(row.expected for row in rows))}"


def _place(row: SummaryPiece) -> tuple[int, int, str]:
    path = parse_path(row.first)
    return path.section, path.pair or 0, row.key


def _head(all: int, ready: int, is_writing: bool, writer: str) -> str:
    if is_writing:
        return f"Writing summaries: {ready:,} of {all:,} ready"
    if ready == all:
        return "The summary is ready" if all == 1 else f"All {all:,} summaries are ready"
    return f"{ready:,} of {count_text(all, 'summary').replace('summarys', 'summaries')} {'written' if writer == MANUAL else 'ready'}"


def run_measures(run: SummaryRun, rows: list[SummaryPiece]) -> tuple[Measure, ...]:
    after = run.size - sum(row.size - row.expected for row in rows)
    return measures(
        [
            ("Bytes, expected", run.size, after, "bytes"),
            ("Tokens, estimated", estimated_tokens(run.size), estimated_tokens(after), "tokens"),
        ]
    )


def is_awaited(run: SummaryRun, active: set[int]) -> bool:
    """Return True if all waiting pieces are going to be written, and not just a piece that somebody asked for alone."""
    job = run.job if active else None
    return job is not None and (job.pk in active or job.state == Job.State.DONE)


def looks_of(row: SummaryPiece, active: set[int], awaited: bool) -> str:
    if row.state == State.READY:
        return "larger" if row.left else "ready"
    if row.state == State.WRITING:
        return "writing" if row.job_id in active else "stopped"
    if row.state == State.WAITING:
        return "waiting" if awaited or row.job_id in active else "stopped"
    return row.state


def piece_view(run: SummaryRun, target: Target, row: SummaryPiece, active: set[int], *, has_body: bool = True) -> PieceView:
    looks = looks_of(row, active, is_awaited(run, active))
    state, icon, word = LOOKS[looks]
    first, last = parse_path(row.first), parse_path(row.last)
    text = row.text if has_body else ""
    losses = _losses(row, target) if has_body and looks in ("ready", "larger") else ()
    is_ready = looks == "ready"
    return PieceView(
        pk=row.pk,
        dom=f"piece-{row.pk}",
        number=range_text(first, last),
        title=_title(row, first, last),
        rule=RULES[row.key.partition(":")[0]],  # type: ignore[index]
        reason=row.reason,
        looks=looks,
        mark=UNSIZED if looks == "ready" and row.after < 0 and not has_body else _mark(row, looks),
        state=state,
        icon=icon,
        word=word,
        detail=_detail(row, looks),
        stage=row.stage,
        is_ready=is_ready,
        has_body=has_body,
        by_writer=run.writer != MANUAL,
        takes_hints=run.writer == "openai",
        cause=row.left if looks == "larger" else row.cause,
        text=for_field(text),
        rows=min(12, max(4, text.count("\n") + 1 + len(text) // 110)),
        author=f"written by {row.author}" if row.author else "",
        hint=row.hint,
        losses=losses,
        lost_text=_lost_text(losses),
        complete=not has_body or bool(row.losses.get("complete", True)),
        href=f"{target.explorer}at/{first}#{first.dom_id}",
        prompt_href=reverse("drafts:summary_prompt", args=[run.chain_id, run.pk, row.pk]),
        keep_key=f"{run.chain_id}:summary:{row.pk}:{crc32(text.encode('utf-8', 'surrogatepass'))}",
        edition=target.stored.snapshot.history.edition,
    )


def _title(row: SummaryPiece, first: Path, last: Path) -> str:
    if first.pair is None or last.pair is None:
        words = f"Sections {first.section} to {last.section}"
        return f"Questions of s{words[1:]}" if row.key.startswith("qa-human") else words
    pairs = last.pair - first.pair + 1
    return f"Section {first.section} · {count_text(pairs, 'pair')}" if pairs > 1 else f"Pair {first.section}.{first.pair}"


def _detail(row: SummaryPiece, looks: str) -> str:
    if looks == "ready":
        is_told = row.seconds is not None and row.seconds >= 0.05 and row.author and BY_HAND not in row.author
        took = f" in {row.seconds:.1f} s" if is_told else ""
        return f"{byte_text(row.size)} → {byte_text(row.after) if row.after >= 0 else '…'}{took}"
    if looks in ("larger", "failed", "declined"):
        return f"{byte_text(row.size)} {'stay' if row.size != 1 else 'stays'} as they are"
    return f"{byte_text(row.size)} → ≈ {byte_text(row.estimate)}"


def _losses(row: SummaryPiece, target: Target) -> tuple[KindOfLoss, ...]:
    lost: dict[str, list[LostFact]] = {}
    for kind, text, path in row.losses.get("lost", []):
        href = f"{target.explorer}at/{path}#{parse_path(path).node.dom_id}" if path else ""
        lost.setdefault(kind, []).append(LostFact(text, href))
    return tuple(
        KindOfLoss(
            kind,
            KINDS[kind],
            found,
            kept,
            100 * kept // max(found, 1),
            tuple(lost.get(kind, ())),
            max(0, found - kept - len(lost.get(kind, ()))),
        )
        for kind, found, kept in sorted(row.losses.get("shares", []), key=lambda share: list(KINDS).index(share[0]))
    )


def _lost_text(losses: tuple[KindOfLoss, ...]) -> str:
    lost = [count_text(each.missing, each.label.removesuffix("s")) for each in losses if each.missing]
    return f"Lost: {', '.join(lost)}" if lost else "No tracked facts were lost"
