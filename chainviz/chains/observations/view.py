"""The addresses of a chain's tool results: the page with its filter, its media, and results written as one text."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports.lock import require_subject_unlocked
from chainviz.chains.observations.as_text import is_too_large, text_options_in, text_page
from chainviz.chains.observations.filters import Filter, filter_in
from chainviz.chains.observations.index_job import index_of, is_long, read_index, reading_job, start_reading
from chainviz.chains.observations.media import ON_PAGE, media_list
from chainviz.chains.observations.page import address_of, observations_page, results_of
from chainviz.core.chain.paths import parse_path
from chainviz.core.observations.index import ObservationIndex
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import page_or_fragment, wants_fragment


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
    """The results of a pair as one text; `as=file` downloads it."""
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
    """The index of this content, or how far its reading is."""
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
    return page_or_fragment(
        request, "chains/observations/reading.html", "chains/observations/_reading.html", context
    )


