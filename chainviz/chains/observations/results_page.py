"""Everything the observations page shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports.downloads import require_subject_unlocked
from chainviz.chains.observations.cards import MOST_CARDS, Contents, ResultWindow, find_results, window_of
from chainviz.chains.observations.filters import ORDERS, Facets, Filter, chosen, facets_of, filter_in
from chainviz.chains.observations.index_job import (
    index_of,
    is_long,
    is_too_large,
    read_index,
    reading_job,
    start_reading,
    text_options_in,
    text_page,
)
from chainviz.chains.render.parts import host_of, picture
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.observations.index import Medium, MediumRow, ObservationIndex, described
from chainviz.core.pictures import Picture, pictures_in
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.formatting import byte_text
from chainviz.web.http import page_or_fragment, wants_fragment

MOST_SUSPECTS = 20


@dataclass(frozen=True, slots=True)
class SuspectView:
    place: str
    url: str
    names: tuple[tuple[str, str], ...]
    """Each name, and the address that makes it count as a tool."""


@dataclass(frozen=True, slots=True)
class Results:
    """The window and the way to its neighbours."""

    window: ResultWindow
    total: int | None
    """The number of wanted results, or None if words are searched and not all results are searched yet."""
    start: int
    next_url: str
    previous_url: str
    orders: tuple[tuple[str, str, bool], ...]
    """For each order: its address, its words, and whether it is the current one."""
    is_narrow: bool
    searched_all: bool = True

    @property
    def first(self) -> int:
        return self.start + 1

    @property
    def last(self) -> int:
        return self.start + self.window.shown


@dataclass(frozen=True, slots=True)
class ObservationsPage:
    wanted: Filter
    facets: Facets
    results: Results
    media: MediaList
    suspects: tuple[SuspectView, ...]
    suspects_left: int
    address: str
    convert_url: str


def address_of(subject: Subject) -> str:
    return f"{subject.base_url}observations"


def observations_page(subject: Subject, index: ObservationIndex, wanted: Filter) -> ObservationsPage:
    return ObservationsPage(
        wanted=wanted,
        facets=facets_of(index, wanted),
        results=results_of(subject, index, wanted),
        media=media_list(subject, index, 0, BESIDE),
        suspects=tuple(_suspects(subject, index, wanted)),
        suspects_left=max(0, len(index.suspects) - MOST_SUSPECTS),
        address=address_of(subject),
        convert_url=subject.change_url("drafts:operation", "observations"),
    )


def results_of(subject: Subject, index: ObservationIndex, wanted: Filter) -> Results:
    numbers = chosen(index, wanted)
    start = _start(subject, index, wanted, numbers)
    if wanted.words:
        return _search_results(subject, index, wanted, numbers)
    window = window_of(subject, index, numbers[start : start + MOST_CARDS], wanted.order)
    end = start + window.shown
    return Results(
        window=window,
        total=len(numbers),
        start=start,
        next_url=_at(subject, wanted, end) if end < len(numbers) else "",
        previous_url=_at(subject, wanted, max(0, start - MOST_CARDS)) if start else "",
        orders=tuple((_at(subject, wanted, 0, order=name), label, name == wanted.order) for name, label in ORDERS.items()),
        is_narrow=wanted.is_narrow,
    )


def _search_results(subject: Subject, index: ObservationIndex, wanted: Filter, numbers: Sequence[int]) -> Results:
    """Return the results with the words, always in chain order; `start` is the first result that is searched."""
    numbers = sorted(number for number in numbers if number >= wanted.start)
    found = find_results(subject.stored, index, numbers, wanted.words, MOST_CARDS)
    window = window_of(subject, index, found.numbers, "call")
    rest = found.numbers[window.shown :]
    following = rest[0] if rest else found.next
    is_all = not wanted.start and following is None
    return Results(
        window=window,
        total=window.shown if is_all else None,
        start=0,
        next_url="" if following is None else _at(subject, wanted, following),
        previous_url=_at(subject, wanted, 0) if wanted.start else "",
        orders=(),
        is_narrow=True,
        searched_all=following is None,
    )


def _start(subject: Subject, index: ObservationIndex, wanted: Filter, numbers: Sequence[int]) -> int:
    """Return the index of the first result to show: the requested one, or the first in or behind a node."""
    if not wanted.around:
        return min(wanted.start, max(0, len(numbers) - 1))
    message = subject.stored.span(parse_path(wanted.around)).start
    groups, messages = index.results.column("group"), index.groups.column("message")
    places = enumerate(numbers)
    return next((at for at, number in places if messages[groups[number]] >= message), 0)


def _at(subject: Subject, wanted: Filter, start: int, **changes: object) -> str:
    return f"{address_of(subject)}?{wanted.query(start=start, **changes)}"


def _suspects(subject: Subject, index: ObservationIndex, wanted: Filter) -> list[SuspectView]:
    views = []
    for suspect in islice(index.suspects, MOST_SUSPECTS):
        path = subject.stored.outline.path_at(suspect.message)
        names = tuple((marks(one_line(name, 60)), _at(subject, wanted, 0, names=(*wanted.names, name))) for name in suspect.names[:5])
        place = path.number
        views.append(SuspectView(place, f"{subject.base_url}at/{path}#{path.dom_id}", names))
    return views


# The addresses of a chain's tool results: the page with its filter, its media, and results written as one text.


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def observations(request: HttpRequest, subject: Subject) -> HttpResponse:
    wanted = filter_in(request.GET)
    index = _index(request, subject, wanted)
    if isinstance(index, HttpResponse):
        return index
    if wants_fragment(request):
        context = {"subject": subject, "results": results_of(subject, index, wanted), "address": address_of(subject)}
        response = render(request, "chains/observations/_results.html", context)
        response["Vary"] = "HX-Request"
        return response
    page = observations_page(subject, index, wanted)
    return render(request, "chains/observations/observations.html", {"subject": subject, "page": page})


@requires("read")
@require_http_methods(["GET", "HEAD", "POST"])
def media(request: HttpRequest, subject: Subject) -> HttpResponse:
    wanted = filter_in(request.GET)
    index = _index(request, subject, wanted)
    if isinstance(index, HttpResponse):
        return index
    found = media_list(subject, index, wanted.start, ON_PAGE)
    context = {"subject": subject, "media": found, "address": address_of(subject)}
    return render(request, "chains/observations/media.html", context)


@requires("read")
@require_safe
def as_text(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Show the results of a pair as one text; `as=file` downloads it."""
    path = parse_path(where)
    subject.stored.span(path)
    options = text_options_in(request.GET)
    context: dict[str, object] = {"subject": subject, "address": request.path, "options": options, "path": path}
    if is_too_large(subject, path):
        return render(request, "chains/observations/too_large.html", context)
    page = text_page(subject, path, options)
    if request.GET.get("as") == "file":
        require_subject_unlocked(subject)
        headers = {"Content-Disposition": f'attachment; filename="{path.node}.txt"'}
        content = page.result.text.encode("utf-8", "surrogatepass")
        return HttpResponse(content, content_type="text/plain; charset=utf-8", headers=headers)
    context["page"] = page
    return page_or_fragment(request, "chains/observations/as_text.html", "chains/observations/_as_text.html", context)


def _index(request: HttpRequest, subject: Subject, wanted: Filter) -> ObservationIndex | HttpResponse:
    """Return the index of this content, or the page with its progress."""
    if not is_long(subject.stored):
        return read_index(subject.stored, wanted.names)
    job = reading_job(subject, wanted.names, person_of(request))
    here = f"{request.path}?{wanted.query(start=wanted.start)}"
    if request.method == "POST":
        if request.POST.get("act") == "stop":
            lease.cancel(job)
        elif job.is_finished and job.state != Job.State.DONE:
            start_reading(subject, wanted.names, person_of(request))
        return redirect(here)
    if job.state == Job.State.DONE:
        return HttpResponse(status=204, headers={"HX-Refresh": "true"}) if "reading" in request.GET else index_of(job)
    context = {"subject": subject, "job": job, "here": here}
    return page_or_fragment(request, "chains/observations/reading.html", "chains/observations/_reading.html", context)


BESIDE, ON_PAGE = 8, 60
"""The number of rows in the list beside the results, and on a separate page."""


@dataclass(frozen=True, slots=True)
class MediumView:
    name: str
    of: str
    is_tool: bool
    place: str
    facts: str
    url: str
    thumbnail: str
    """The address of the image; "" if it is not shown."""
    is_remote: bool


@dataclass(frozen=True, slots=True)
class MediaList:
    rows: tuple[MediumView, ...]
    total: int
    start: int
    next: int | None


def media_list(subject: Subject, index: ObservationIndex, start: int, count: int) -> MediaList:
    numbers = range(min(start, len(index.media)), min(start + count, len(index.media)))
    rows = [index.media[number] for number in numbers]
    contents = Contents(subject.stored, index, [])
    contents.add(subject.stored, {row.message for row in rows})
    views = tuple(_view(subject, index, contents, row) for row in rows)
    following = numbers.stop if numbers.stop < len(index.media) else None
    return MediaList(views, len(index.media), numbers.start, following)


def _view(subject: Subject, index: ObservationIndex, contents: Contents, row: MediumRow) -> MediumView:
    node = subject.stored.outline.path_at(row.message)
    path = Path(node.section, node.pair, node.message, row.part)
    part = contents.part(row.message, row.part)
    found = _picture(pictures_in(part), row.at) if part is not None else None
    is_in_result = part is not None and pictures_in(part) != (part,)
    medium = Medium(row.message, row.part, row.at, "")
    medium = described(medium, found) if found is not None else medium
    shape = subject.stored.rows(row.message, row.message + 1)[0].shape
    shown = picture(found) if found is not None else None
    address = f"{subject.base_url}image/{path}" + (f"?media={row.at}" if is_in_result else "")
    return MediumView(
        name=marks(one_line(host_of(medium.url) or medium.mime or "No type", 60)),
        of=marks(one_line(index.tools[row.tool], 60)) if row.tool >= 0 else ROLE_NAMES.get(shape.role, shape.role),
        is_tool=row.tool >= 0,
        place=path.number,
        facts=_facts(medium),
        url=f"{subject.base_url}at/{path}#{path.dom_id}",
        thumbnail=address if shown else "",
        is_remote=bool(medium.url),
    )


def _picture(pictures: Sequence[Picture], place: int) -> Picture | None:
    return pictures[place] if place < len(pictures) else None


def _facts(medium: Medium) -> str:
    if medium.url:
        return "remote · not loaded"
    sides = [f"{medium.width:,} × {medium.height:,}"] if medium.width else []
    return " · ".join([*sides, byte_text(medium.size)])
