"""The views of the explorer: a whole page with a window of rows, a fragment of rows, and the views of one node.

Those of a node are its open row, the next piece of a part, an image, its source, and what a summary replaced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.explorer.inspector import node_page
from chainviz.chains.explorer.overview import OVERVIEW
from chainviz.chains.explorer.page import comment_address, edit_url_of, explorer_page, repair_url_of
from chainviz.chains.explorer.rendered_window import (
    WindowPage,
    body_html,
    draw_window,
    notes_in,
    open_rows,
    outline_folds,
    outline_page,
    read_window,
    reading_of,
    span_of,
)
from chainviz.chains.explorer.row_views import Drawing, draw_once, row_notes
from chainviz.chains.explorer.subject import Subject, ViewState, read_view
from chainviz.chains.explorer.summarized_nodes import replaced_page
from chainviz.chains.exports.downloads import require_subject_unlocked
from chainviz.chains.render.node import StepQuery
from chainviz.chains.render.parts import between_html, display_text, more_html, picture
from chainviz.chains.render.text_marks import Stretch, TextMark, in_layout, mark_text, stretch
from chainviz.chains.render.visible_text import safe
from chainviz.chains.secrets.export_scan import SecretNotice, before_source
from chainviz.core.chain.messages import Binary, Image, Part, ToolResult
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.documents.json.long_values import length_of, part_of
from chainviz.core.errors import PathError
from chainviz.core.review import part_text
from chainviz.store.content.chain import StoredChain
from chainviz.store.lineage import replacement_of
from chainviz.store.models import Version
from chainviz.store.prepared_query import PreparedQuery
from chainviz.store.query.search_pattern import Needle
from chainviz.web.http import small_number, url_or_nothing, wants_fragment


def version_subject(request: HttpRequest, chain_id: int, number: int | None = None) -> Subject:
    """Return version `number` of a chain that the person may see, or its newest version."""
    chain = chain_for(request, chain_id)
    number = number or chain.version
    found = _versions(chain.history, number)
    if not found:
        raise Http404("The chain has no such version.")
    version = found[0]
    base_url = reverse("chains:version", args=[chain.pk, number])
    return Subject(
        chain,
        version.snapshot,
        f"Version {number}",
        base_url,
        f"v={number}",
        number == chain.version,
        number,
        permissions=member_of(request).permissions,
        person=person_of(request),
        edition=getattr(version, "edition", None),
        overview=getattr(version, "overview", None),
    )


SNAPSHOT_COLUMNS = [
    f"snapshot__{name}"
    for name in (
        "history", "parent", "key", "format", "template", "messages", "sections", "pairs", "size", "stored", "operation", "digest",
        "outline__rules", "outline__listing", "outline__errors", "outline__warnings", "outline__verdicts", "outline__charts",
    )
]  # fmt: skip
"""Fields of a snapshot that the explorer does not read, because pieces, options and reports may be long."""
_versions = PreparedQuery(
    lambda history, number: (
        Version.objects.filter(history=history, number=number)
        .select_related("snapshot__outline")
        .only("number", "history_id", *SNAPSHOT_COLUMNS)
        .annotate(overview=OVERVIEW.column("snapshot"), edition=F("history__edition"))
    )
)


@requires("read")
@require_safe
def explorer(request: HttpRequest, subject: Subject) -> HttpResponse:
    return _page(request, explorer_page(subject, read_view(request.GET)))


@requires("read")
@require_safe
def newest(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Show the newest version of a chain."""
    return explorer(request, version_subject(request, chain_id))


@requires("read")
@require_safe
def at(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where)
    subject.stored.span(path)
    return _page(request, explorer_page(subject, read_view(request.GET), at=path))


@requires("read")
@require_safe
def rows(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Return a window by path and direction; for a browser without JavaScript, the whole page with that window."""
    view: ViewState = read_view(request.GET)
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, view, read_window(subject.stored, request.GET, view.folds)))

    def draw() -> Drawing[WindowPage]:
        reading = reading_of(subject, view, repair_url_of(subject))
        return draw_window(subject, view, reading, read_window(subject.stored, request.GET, view.folds))

    asked = tuple(request.GET.get(name) for name in ("n", "near", "around", "from", "dir"))
    return _fragment(request, "chains/explorer/_window.html", {"window": draw_once(subject, ("rows", view, asked), draw)})


@requires("read")
@require_safe
def outline(request: HttpRequest, subject: Subject) -> HttpResponse:
    view = read_view(request.GET)
    section = small_number(request.GET.get("section", "").removeprefix("s")) or 1
    found = read_window(subject.stored, request.GET, outline_folds(subject.stored, view, section))
    if not wants_fragment(request):
        return _page(request, explorer_page(subject, view, found))
    page = outline_page(subject, found, notes_in(subject, span_of(open_rows(found))))
    return _fragment(request, "chains/explorer/_outline.html", {"window": page})


def _page(request: HttpRequest, page: object) -> HttpResponse:
    return _fragment(request, "chains/explorer/explorer.html", {"page": page})


def _fragment(request: HttpRequest, template: str, context: dict[str, object]) -> HttpResponse:
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def no_node(request: HttpRequest, subject: Subject, sentence: str, where: str) -> HttpResponse:
    """Return the page. `where` is the path in the address."""
    page = {
        "chain": subject.chain,
        "title": subject.title,
        "sentence": sentence,
        "chain_url": subject.base_url,
        "section": _section(subject, where),
        "versions_url": url_or_nothing("chains:versions", subject.chain.pk),
    }
    return render(request, "chains/explorer/no_node.html", {"page": page}, status=404)


def _section(subject: Subject, where: str) -> Path | None:
    try:
        section = Path(parse_path(where).section)
        subject.stored.span(section)
    except PathError:
        return None
    return section


@requires("read")
@require_safe
def inspect(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where)
    template = "chains/explorer/_inspector.html" if wants_fragment(request) else "chains/explorer/node.html"
    edit_url = edit_url_of(subject, path.node)
    context = {"subject": subject, "path": path, "node": node_page(subject, path), "edit_url": edit_url}
    response = render(request, template, context)
    response["Vary"] = "HX-Request"
    return response


LONGEST = 1_000
"""The most characters of a searched text, and of the line that is shown before it."""


def place_of(request: HttpRequest, name: str = "from") -> int:
    return small_number(request.GET.get(name, "")) or 0


@requires("read")
@require_safe
def node(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Show an open row. `from` is the start of the next piece, `until` its end, and `part` a part that must be shown."""
    path = parse_path(where).node
    if path.pair is None:
        subject.stored.span(path)
        return redirect(f"{subject.base_url}at/{path}#{path.dom_id}")
    view = read_view(request.GET)
    part = request.GET.get("part", "")
    asked = StepQuery(place_of(request), place_of(request, "until") or None, parse_path(part) if part else None)

    def draw() -> Drawing[str]:
        span = subject.stored.span(path)
        notes = row_notes(subject, span.start, span.stop)
        reading = replace(reading_of(subject, view, repair_url_of(subject)), marks=notes.marks)
        html = body_html(subject.stored, reading, path, asked)
        below = "" if asked.start else notes.below.get(path, "")
        box = f'<div class="node-body"{" data-step" if asked.start else ""}>{html}{below}</div>'
        return Drawing(box, span, notes, len(box))

    return _answer(request, subject, path, draw_once(subject, ("node", view, path, asked), draw))


@requires("read")
@require_safe
def part(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Show a part of a message from character `from` to at most `until`; with `find`, around the next match of a text."""
    path = parse_path(where)
    found = _part(subject, path, begun=True)
    view = read_view(request.GET)
    text, is_laid_out = display_text(found, view.as_written)
    start, until = place_of(request), place_of(request, "until") or length_of(text)
    place = _place_of_text(request, text, start)
    reading = replace(reading_of(subject, view), marks=_marks(subject, path))
    between = between_html(reading, path, start, place)
    shown = stretch(text, place, until)
    more = more_html(reading, path, shown, until if until < length_of(text) else None)
    marks = reading.marks_in(path, part_text(found))
    if is_laid_out:
        marks = in_layout(marks, part_text(found))
    return _answer(request, subject, path, _step_html(shown, more, between, marks))


def _marks(subject: Subject, path: Path) -> Mapping[Path, Sequence[TextMark]]:
    span = subject.stored.span(Path(path.section, path.pair, path.message))
    return row_notes(subject, span.start, span.stop).marks


LINES_BEFORE = 3


def _place_of_text(request: HttpRequest, text: str, start: int) -> int:
    """Return a position a few lines before the next match; `start` if the match is near, or there is none."""
    wanted = request.GET.get("find", "")[:LONGEST]
    place = Needle(wanted, bool(request.GET.get("case"))).find_in(text, start) if wanted else -1
    if place < 0:
        return start
    first = max(start, place - LINES_BEFORE * LONGEST)
    before = part_of(text, first, place)
    line = len(before)
    for _ in range(LINES_BEFORE):
        line = max(before.rfind("\n", 0, max(0, line - 1)) + 1, line - LONGEST)
    return first + line


@requires("read")
@require_safe
def image(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Serve an embedded image with its actual media type."""
    found = _part(subject, parse_path(where))
    if isinstance(found, ToolResult):
        number = place_of(request, "media")
        if number >= len(found.media):
            raise Http404("There is no such image.")
        found = found.media[number]
    shown = picture(found) if isinstance(found, Image | Binary) else None
    if shown is None:
        raise Http404("There is no image in that place.")
    response = HttpResponse(shown.content, content_type=shown.mime)
    response["Content-Disposition"] = "inline"
    return response


@requires("read")
@require_safe
def raw(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    """Show the source of a node's messages; with `as=file`, download it byte for byte."""
    path = parse_path(where)
    text = source_text(subject.stored, path)
    if request.GET.get("as") == "file":
        require_subject_unlocked(subject)
        return source_file(text, f"{path}.json")
    shown = stretch(text, place_of(request))
    more = more_html(reading_of(subject, read_view(request.GET)), path, shown).replace("/part/", "/raw/")
    return _answer(request, subject, path, _step_html(shown, more), before_source(subject, text))


def _step_html(shown: Stretch, more: str, before: str = "", marks: Sequence[TextMark] = ()) -> str:
    fades = " fades" if shown.left else ""
    code = f'<pre class="code{fades}" tabindex="0" hx-disable>{safe(shown.text)}</pre>'
    return f"<div data-step>{before}{mark_text(code, shown, marks)}{more}</div>"


def _part(subject: Subject, path: Path, *, begun: bool = False) -> Part:
    if path.part is None:
        raise Http404("This path names no part.")
    span = subject.stored.span(Path(path.section, path.pair, path.message))
    rows = subject.stored.rows(span.start, span.start + 1)
    if path.part >= len(rows[0].shape.parts):
        raise Http404("There is no such part.")
    if begun:
        return subject.stored.bodies.parts(rows[0], range(path.part, path.part + 1))[0]
    return subject.stored.bodies.messages(rows)[0].parts[path.part]


def _answer(request: HttpRequest, subject: Subject, path: Path, box: str, held: SecretNotice | None = None) -> HttpResponse:
    """Return the response with the source. `held` is a warning about secrets before the download, for the page of the source."""
    if wants_fragment(request):
        response = HttpResponse(box)
    else:
        context = {
            "subject": subject,
            "path": path,
            "node": node_page(subject, path),
            "box": mark_safe(box),  # escaped above
            "edit_url": edit_url_of(subject, path.node),
            "comment_url": comment_address(subject).replace("PATH", str(path.node)),
            "held": held,
        }
        response = render(request, "chains/explorer/node.html", context)
    response["Vary"] = "HX-Request"
    return response


def source_text(chain: StoredChain, path: Path) -> str:
    """Return one unit unchanged, several as a JSON list. A part has the source of its message."""
    whole = Path(path.section, path.pair, path.message)
    units: dict[tuple[int, int, str], str] = {}
    span = chain.span(whole)
    for source in chain.bodies.sources(chain.rows(span.start, span.stop)):
        for fragment in source:
            # several messages may share a unit, which is shown once
            units.setdefault((fragment.ordinal, fragment.start, fragment.text), fragment.text)
    texts = list(units.values())
    return texts[0] if len(texts) == 1 else "[\n" + ",\n".join(texts) + "\n]"


def source_file(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text.encode("utf-8", "surrogateescape"), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@requires("read")
@require_safe
def replaced(request: HttpRequest, subject: Subject, where: str) -> HttpResponse:
    path = parse_path(where).node
    found = replacement_of(subject.stored, path)
    if found is None:
        raise Http404("This node replaced nothing.")
    start = request.GET.get("from", "")
    address = f"{subject.base_url}replaced/{path}"
    page = replaced_page(subject.chain, found, address, parse_path(start).node if start else None)
    template = "chains/explorer/_replaced.html" if wants_fragment(request) else "chains/explorer/replaced.html"
    response = render(request, template, {"subject": subject, "path": path, "page": page})
    response["Vary"] = "HX-Request"
    return response
