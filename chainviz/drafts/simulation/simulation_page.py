"""The simulation page: which lines, the chart of every turn's request, and what each strategy has lost at a chosen turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.permissions import requires
from chainviz.chains.exports.downloads import SharedPage, SharedTable, share_page
from chainviz.chains.render.visible_text import one_line
from chainviz.core.errors import ChainError, OptionsError
from chainviz.core.operations.compact import parse_strategy, print_strategy
from chainviz.core.operations.contract import Context
from chainviz.drafts.operations.compact.tree import fitting, node_of
from chainviz.drafts.operations.presets import presets_of
from chainviz.drafts.simulation import run
from chainviz.drafts.simulation.chart import Chart, Lanes
from chainviz.drafts.simulation.run import Chosen, LineRan, LostRow, SimulationRan, Unit, run_simulation
from chainviz.drafts.state.what_if import first_window, window_choices
from chainviz.drafts.target import Target, target_of
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.formatting import byte_text, csv_lines
from chainviz.web.http import page_or_fragment, see_other, small_number

EXAMPLES = (
    ("Message limit 50", {"type": "message_limit", "max_messages": 50}),
    ("Token limit 8,000", {"type": "token_limit", "max_tokens": 8_000}),
)
"""The example strategies."""
HALF = 50
MOST_STRATEGY = 20_000
MOST_NAMED = 2
"""The most turns that are listed at which a strategy fired."""
UNITS: tuple[Unit, ...] = ("tokens", "bytes", "messages")


@dataclass(frozen=True, slots=True)
class View:
    """The display settings of the result."""

    window: int
    unit: Unit
    turn: int | None
    """The turn from 1, or None for the last."""


@dataclass(frozen=True, slots=True)
class LineSummary:
    """A line of the simulation in the table below the chart."""

    line: LineRan
    largest: str
    largest_turn: int
    total: str
    over: int
    """The number of requests that exceed the context window."""
    fired: str
    at_turn: str
    lost: LostRow
    lost_share: int
    """The reduction at the chosen turn compared with no compaction, in percent."""


@dataclass(frozen=True)
class SimulationPage:
    target: Target
    chosen: Chosen
    view: View
    ran: SimulationRan | None
    job: Job | None = None
    error: str = ""

    @property
    def chain(self) -> Any:
        return self.target.chain

    @property
    def path(self) -> str:
        return reverse("drafts:simulation", args=[self.target.chain.pk])

    @property
    def address(self) -> str:
        """The address of this simulation, to share: it contains everything but the turn."""
        return f"{self.path}{self.target.query}&{urlencode(self._query)}"

    def units(self) -> Iterator[tuple[Unit, str]]:
        """Yield each unit with its address."""
        turn = f"&turn={self.view.turn}" if self.view.turn else ""
        for unit in UNITS:
            yield unit, f"{self.path}{self.target.query}&{urlencode({**self._query, 'unit': unit})}{turn}"

    @property
    def _query(self) -> dict[str, Any]:
        job = {"job": self.job.pk} if self.job else {}
        lines = {name: 1 for name in ("summarize", "redact") if getattr(self.chosen, name)}
        return {"a": self.chosen.a, "b": self.chosen.b, **lines, "shown": 1, "window": self.view.window, "unit": self.view.unit, **job}

    @property
    def is_long(self) -> bool:
        return len(self.target.stored) > run.MESSAGES_AT_ONCE

    @property
    def edit_address(self) -> str:
        address = reverse("drafts:operation", args=[self.target.chain.pk, "compact"]) + self.target.query
        return f"{address}&{urlencode({'strategy': self.chosen.a})}" if self.chosen.a else address

    @property
    def strategies(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the name and choices of each of the two fields."""
        presets = presets_of(self.target.person, "compact")
        saved = [(preset.name, print_strategy(parse_strategy(preset.options["strategy"]))) for preset in presets]
        known = [("None", ""), *((name, json.dumps(value)) for name, value in examples_for(self.target)), *saved]
        return [(key, _with(known, getattr(self.chosen, key))) for key in ("a", "b")]

    @property
    def windows(self) -> list[tuple[int, str]]:
        return window_choices(self.target.context_window, self.view.window)

    @cached_property
    def turn(self) -> int:
        """The chosen one, from 0."""
        turns = self.ran.turns if self.ran else 0
        return max(0, min(self.view.turn or turns, turns) - 1)

    @cached_property
    def chart(self) -> Chart | None:
        if self.ran is None or not self.ran.turns:
            return None
        return Chart(self.ran, self.view.unit, self.view.window, self.turn)

    @cached_property
    def lanes(self) -> Lanes:
        assert self.chart is not None
        return Lanes(self.chart)

    @property
    def headline(self) -> str:
        """A sentence on whether the strategies keep every request within the context window; "" if there is nothing to
        compare."""
        lines = [line for line in self.ran.lines if line.is_strategy] if self.ran else []
        if not lines or not self.view.window:
            return ""
        fit = [line.name for line in lines if not line.turns_over(self.view.window)]
        if len(fit) == len(lines):
            return f"{'Both strategies fit' if len(lines) > 1 else f'{fit[0]} fits'} the context window"
        if not fit:
            none = "Neither strategy fits" if len(lines) > 1 else f"{lines[0].name} does not fit"
            return f"{none} the context window"
        return f"Only {fit[0]} fits the context window"

    @property
    def strategies_ran(self) -> list[LineSummary]:
        return [each for each in self.summaries if each.line.is_strategy]

    @cached_property
    def summaries(self) -> tuple[LineSummary, ...]:
        return tuple(self._summaries())

    def _summaries(self) -> Iterator[LineSummary]:
        if self.ran is None or self.chart is None:
            return
        plain = self.chart.values[self.ran.lines[0].key][self.turn]
        for line in self.ran.lines:
            values = self.chart.values[line.key]
            largest = max(values)
            share = 100 - round(100 * values[self.turn] / plain) if plain else 0
            yield LineSummary(
                line,
                self._text(largest),
                values.index(largest) + 1,
                self._text(sum(values)),
                len(line.turns_over(self.view.window)),
                _fired_words([turn + 1 for turn in line.fired]),
                self._text(values[self.turn]),
                line.lost_at(self.turn),
                share,
            )

    def rows(self) -> Iterator[tuple[str, list[tuple[str, int]]]]:
        """Yield each bucket of turns: its name, and for each line the largest request and the number of messages
        removed after it."""
        assert self.ran is not None and self.chart is not None
        for place, bucket in enumerate(self.chart.buckets):
            values = (self._text(self.chart.value(line, bucket)) for line in self.ran.lines)
            removed = (self.chart.removed[line.key][place] for line in self.ran.lines)
            yield bucket.name, list(zip(values, removed, strict=True))

    def _text(self, value: int) -> str:
        return byte_text(value) if self.view.unit == "bytes" else f"{value:,}"


def examples_for(target: Target) -> tuple[tuple[str, Any], ...]:
    """Return the example strategies, by label. The first fits the window of the recorded model if that is known."""
    window = target.context_window
    return (*((("Half of the window", fitting(window.tokens, HALF)),) if window and window.tokens else ()), *EXAMPLES)


def _fired_words(turns: Sequence[int]) -> str:
    if len(turns) > MOST_NAMED:
        return f"{len(turns):,} times, first after turn {turns[0]:,}"
    return f"after turn {' and '.join(f'{turn:,}' for turn in turns)}" if turns else "never"


def _with(known: list[tuple[str, str]], value: str) -> list[tuple[str, str]]:
    return known if any(value == each for _, each in known) else [*known, (_short(value), value)]


def _short(value: str) -> str:
    """Name a strategy of the person's own in the list."""
    node = node_of(json.loads(value))
    return one_line(f"{node.label}: {node.said}", 60)


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def simulation(request: HttpRequest, chain_id: int) -> HttpResponse:
    target = target_of(request, chain_id)
    job = _job(request, target)
    if request.method == "POST":
        return _post(request, target, job)
    view = _view(request.GET, target)
    if job is not None:
        chosen = Chosen.model_validate(job.args["chosen"])
        ran = SimulationRan.model_validate(job.result) if job.state == Job.State.DONE else None
        return _answer(request, SimulationPage(target, chosen, view, ran, job, job.message if job.is_finished and not ran else ""))
    try:
        chosen = _chosen(request.GET, target)
    except OptionsError as refused:
        return _answer(request, SimulationPage(target, Chosen(), view, None, error=str(refused)))
    page = SimulationPage(target, chosen, view, None)
    if page.is_long:
        return _answer(request, page)
    try:
        return _answer(request, SimulationPage(target, chosen, view, run_simulation(target.stored, chosen, Context())))
    except ChainError as refused:
        return _answer(request, SimulationPage(target, chosen, view, None, error=str(refused)))


def _post(request: HttpRequest, target: Target, job: Job | None) -> HttpResponse:
    """Start the job of a long chain, or stop it."""
    view = _view(request.POST, target)
    if job is not None and request.POST.get("act") == "stop":
        lease.cancel(job)
        return see_other(SimulationPage(target, Chosen.model_validate(job.args["chosen"]), view, None, job).address)
    try:
        chosen = _chosen(request.POST, target)
    except OptionsError as refused:
        return _answer(request, SimulationPage(target, Chosen(), view, None, error=str(refused)))
    job = run.start(target, chosen) if SimulationPage(target, chosen, view, None).is_long else None
    return see_other(SimulationPage(target, chosen, view, None, job).address)


def _job(request: HttpRequest, target: Target) -> Job | None:
    number = small_number(request.GET.get("job", ""))
    job = run.find(target, number) if number else None
    if number and job is None:
        raise Http404
    return job


def _chosen(given: QueryDict, target: Target) -> Chosen:
    """Raise OptionsError for an invalid strategy."""
    usual = {key: json.dumps(value) for key, (_, value) in zip("ab", examples_for(target), strict=False)}
    found = {key: given.get(key, usual[key])[:MOST_STRATEGY].strip() for key in usual}
    checked = {key: print_strategy(parse_strategy(text)) if text else "" for key, text in found.items()}
    is_first = not given.get("shown")
    lines = {name: is_first or name in given for name in ("summarize", "redact")}
    return Chosen.model_validate({**checked, **lines})


def _view(given: QueryDict, target: Target) -> View:
    window = small_number(given.get("window", ""))
    unit = next((unit for unit in UNITS if unit == given.get("unit")), UNITS[0])
    return View(first_window(target.context_window) if window is None else window, unit, small_number(given.get("turn", "")))


def _answer(request: HttpRequest, page: SimulationPage) -> HttpResponse:
    if request.GET.get("as") == "csv" and page.ran is not None:
        return _csv(page.ran)
    if request.GET.get("as") == "html" and page.chart is not None:
        return share_page(request, [(page.chain, None if page.target.draft else page.target.version.number)], _shared(page))
    names = ("drafts/simulation/simulation.html", "drafts/simulation/_result.html")
    return page_or_fragment(request, *names, {"page": page}, status=422 if page.error and page.job is None else 200)


def _shared(page: SimulationPage) -> SharedPage:
    """Return the largest request, the total and the turns that fired of each strategy, without the chain's words."""
    head = ("", "Largest request", "In turn", "All requests", "Over the window", "Compacts")
    rows = [(each.line.name, each.largest, f"{each.largest_turn:,}", each.total, f"{each.over:,}", each.fired) for each in page.summaries]
    lead = f"Sizes in {page.view.unit}. {page.headline}.".replace(" .", "")
    contains = ("The title of the chain", "Sizes of requests for each strategy, and when it compacts")
    table = SharedTable("Strategies", head, rows)
    return SharedPage("simulation.html", f"Simulation: {page.chain.title}", lead, contains, (table,))


def _csv(ran: SimulationRan) -> HttpResponse:
    """Return every turn and line as CSV, in bytes."""
    rows = ([turn + 1, *(line.sizes[turn] for line in ran.lines)] for turn in range(ran.turns))
    text = "".join(csv_lines(["turn", *(line.name for line in ran.lines)], rows))
    headers = {"Content-Disposition": 'attachment; filename="simulation.csv"'}
    return HttpResponse(text, content_type="text/csv; charset=utf-8", headers=headers)
