"""Upload views. A request may carry several files; each is imported, offered for a choice of chains, or refused on its own, and stays
in the tray until the person dismisses it.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from chainviz.accounts.audit import note, recorded_together
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains import services
from chainviz.chains.access import arrival_for
from chainviz.chains.models import Arrival, Chain
from chainviz.chains.uploads import arrivals, staging
from chainviz.chains.uploads.imports import file_notes, format_in
from chainviz.chains.uploads.tray import TrayLine, repeats_of, tray_of
from chainviz.core.documents.packed_files import is_archive, members
from chainviz.core.errors import DocumentError
from chainviz.core.formats import format_label
from chainviz.web.formatting import day_text
from chainviz.web.http import see_other, wants_fragment

State = Arrival.State

NAMED = 4
"""The most files of an archive that a message names."""
MOST_NAMED = 200
"""Chains that an address can name."""


@requires("upload")
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    return answer_upload(request, receive_files(request))


def receive_files(request: HttpRequest) -> list[Arrival]:
    """Take in the files and the pasted text of a request."""
    format = format_in(request.POST)
    return [arrival for file in _files(request) for arrival in _received(request, file, format)]


def answer_upload(request: HttpRequest, received: Sequence[Arrival]) -> HttpResponse:
    return _answer(request, received[0]) if len(received) == 1 else _answer_to_many(request, received)


def _received(request: HttpRequest, file: UploadedFile[bytes], format: str) -> Sequence[Arrival]:
    """Take in a file, or each file of a ZIP archive; a message names files that are not transcripts."""
    member = member_of(request)
    if file.file is None or not is_archive(file.file):
        return [arrivals.receive(member, file, format=format)]
    found = list[Arrival]()
    try:
        for each in members(file.file, settings.CHAINVIZ.max_upload_mb * 1_000_000):
            found.append(arrivals.receive(member, UploadedFile(each.file, each.name, size=each.size), format=format))
    except DocumentError as error:
        return [*found, arrivals.receive_refused(member, file, error)]
    failed = [arrival for arrival in found if arrival.is_failed]
    if len(failed) == len(found):
        return found
    if failed:
        names = ", ".join(arrival.name for arrival in failed[:NAMED])
        more = f" and {len(failed) - NAMED:,} more" if len(failed) > NAMED else ""
        messages.warning(request, f"{file.name}: {names}{more} hold no transcript and were left out.")
    for arrival in failed:
        arrivals.forget(arrival)
    return [arrival for arrival in found if arrival not in failed]


def _answer_to_many(request: HttpRequest, received: Sequence[Arrival]) -> HttpResponse:
    if not wants_fragment(request):
        return see_other("chains:library")
    if "among" not in request.POST:
        return HttpResponse(status=204, headers={"HX-Redirect": reverse("chains:library")})
    answer = HttpResponse(b"".join(_line(request, arrival).content for arrival in received))
    answer["HX-Trigger"] = "chain:added"
    return answer


def _files(request: HttpRequest) -> list[UploadedFile[bytes]]:
    files = [file for file in request.FILES.getlist("file") if isinstance(file, UploadedFile)]
    pasted = request.POST.get("text", "")
    if pasted.strip():
        name = f"Pasted {timezone.now():%d %b %H.%M}.json"
        files.append(SimpleUploadedFile(name, pasted.encode("utf-8", "surrogatepass"), "application/json"))
    return files


def _answer(request: HttpRequest, arrival: Arrival) -> HttpResponse:
    """Answer an upload. A single file redirects to the next page; among many it is a row with its result."""
    if wants_fragment(request) and "among" in request.POST:
        return _line(request, arrival)
    next_page = _next_page(request, arrival)
    if next_page is None:
        return _line(request, arrival) if wants_fragment(request) else _page(request, arrival, status=422)
    if not wants_fragment(request):
        return see_other(next_page)
    return HttpResponse(status=204, headers={"HX-Redirect": next_page})


def _next_page(request: HttpRequest, arrival: Arrival) -> str | None:
    if arrival.state == State.CHOOSING:
        return reverse("chains:pick", args=[arrival.pk])
    if arrival.is_running:
        return None if wants_fragment(request) else reverse("chains:arrival", args=[arrival.pk])
    chain = arrival.chain
    if arrival.is_failed or (chain is not None and chain.is_in_bin):
        return None
    if chain is not None and arrival.state == State.KNOWN:
        messages.success(request, _known(arrival, chain))
    elif chain is not None:
        _tell_oddities(request, chain)
    arrivals.forget(arrival)
    return reverse("chains:chain", args=[chain.pk]) if chain is not None else reverse("chains:library")


def _tell_oddities(request: HttpRequest, chain: Chain) -> None:
    """Show a short form of the notes about the file that are on the page of problems."""
    notes = file_notes(chain)
    if notes:
        more = f" {len(notes) - 1} more on the problems page." if len(notes) > 1 else ""
        messages.warning(request, f"About the file: {notes[0]}{more}")


def _known(arrival: Arrival, chain: Chain) -> str:
    uploaded = day_text(chain.created_at, timezone.now())
    said = f"{arrival.name} is already uploaded: on {uploaded}, now at version {chain.version}."
    if arrival.format in ("", chain.format):
        return said
    return f"{said} It was read as {format_label(chain.format)}; delete it permanently to read it as another format."


def _line(request: HttpRequest, arrival: Arrival) -> HttpResponse:
    status = 422 if arrival.is_failed else 200
    here = request.htmx.current_url_abs_path  # type: ignore[attr-defined]
    context = {"line": TrayLine(arrival), "is_open": here == reverse("chains:arrival", args=[arrival.pk])}
    response = render(request, "chains/uploads/_line.html", context, status=status)
    if arrival.state == State.DONE:
        response["HX-Trigger"] = "chain:added"
    if not arrival.is_running:
        response["HX-Trigger-After-Swap"] = "tray:changed"
    return response


@requires("upload")
@require_safe
def arrival(request: HttpRequest, arrival_id: int) -> HttpResponse:
    found = arrival_for(request, arrival_id)
    if wants_fragment(request):
        if found.state == State.DONE and request.htmx.current_url_abs_path == request.path:  # type: ignore[attr-defined]
            return HttpResponseClientRedirect(request.path)
        response = _line(request, found)
        response.status_code = 200
        return response
    if found.state == State.DONE and found.chain is not None:
        _tell_oddities(request, found.chain)
        return see_other("chains:chain", found.chain.pk)
    if found.state == State.DONE:
        return see_other(f"{reverse('chains:library')}?added={found.pk}")
    return _page(request, found)


def _page(request: HttpRequest, arrival: Arrival, status: int = 200) -> HttpResponse:
    """Show the page of one file, with the text if it was pasted, so that it can be corrected."""
    typed = {"typed": request.POST.get("text", ""), "format": request.POST.get("format", "")}
    context = {"arrival": arrival, "line": TrayLine(arrival), **typed}
    return render(request, "chains/uploads/arrival.html", context, status=status)


@requires("upload")
@require_safe
def tray(request: HttpRequest) -> HttpResponse:
    """Show the lines of the tray for a page that polls for changes."""
    return _tray(request)


@requires("upload")
@require_POST
def retry_failed(request: HttpRequest) -> HttpResponse:
    for each in Arrival.objects.visible_to(member_of(request)).select_related("job", "chain"):
        if each.can_retry:
            arrivals.retry(each)
    response = _tray(request)
    response["HX-Trigger"] = "chain:added"
    return response


@requires("upload")
@require_POST
def dismiss_all(request: HttpRequest) -> HttpResponse:
    """Dismiss everything except files that are still being imported."""
    for each in Arrival.objects.visible_to(member_of(request)).select_related("job"):
        if not each.is_running:
            arrivals.forget(each)
    return _tray(request)


def _tray(request: HttpRequest) -> HttpResponse:
    if not wants_fragment(request):
        return see_other("chains:library")
    return render(request, "chains/uploads/_tray_lines.html", {"tray": tray_of(member_of(request))})


@requires("bin")
@require_POST
@recorded_together
def undo_added(request: HttpRequest, arrival_id: int) -> HttpResponse:
    """Put the chains that a file became into the bin."""
    found = arrival_for(request, arrival_id)
    moved = services.to_bin(Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=found.added))
    note(request, chains=moved)
    arrivals.forget(found)
    if len(moved) > MOST_NAMED:
        messages.success(request, f"{len(moved):,} chains are in the bin.")
        return see_other("chains:library")
    return see_other(f"{reverse('chains:library')}?binned={'.'.join(map(str, moved))}")


@requires("upload")
@require_safe
def original(request: HttpRequest, arrival_id: int) -> HttpResponseBase:
    """Return the uploaded bytes while they wait."""
    found = arrival_for(request, arrival_id)
    if not staging.is_there(found.waiting):
        raise Http404
    response = FileResponse(staging.path_of(found.waiting).open("rb"), as_attachment=True, filename=found.name)
    response.headers["Content-Type"] = "application/octet-stream"
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


@requires("upload")
@require_POST
def forget(request: HttpRequest, arrival_id: int) -> HttpResponse:
    """Remove the file, and those in the same line of the tray."""
    for each in repeats_of(member_of(request), arrival_for(request, arrival_id)):
        arrivals.forget(each)
    return HttpResponse("") if wants_fragment(request) else see_other("chains:library")


@requires("upload")
@require_POST
def keep(request: HttpRequest, arrival_id: int) -> HttpResponse:
    """Take a file that failed after all: as raw text, the messages before the fault, a state with a problem, or once more."""
    found = arrival_for(request, arrival_id)
    how = request.POST.get("how", "")
    if not found.waiting or how not in {"text", "salvage", "state", "again"}:
        return see_other("chains:library")
    if how == "again":
        arrivals.retry(found, format_in(request.POST))
    else:
        arrivals.take_in(found, {"as": how})
    return _line(request, found) if how == "again" and wants_fragment(request) else _answer(request, found)
