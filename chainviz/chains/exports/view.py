"""Downloads: the chain or its whole file, in its own format or in another, and the upload as it was.

The page tells first what a scan for secrets found; all links lead to it. The downloads' own addresses need no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.audit.records import was_purged
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports import FORMS
from chainviz.chains.exports.choices import Export
from chainviz.chains.exports.lock import locked_reason, require_unlocked
from chainviz.chains.exports.walk import Told
from chainviz.chains.secrets.export_scan import start_scans, stop_scans, told_before
from chainviz.chains.titles import title_in
from chainviz.core.errors import Refused
from chainviz.core.formats import format_label
from chainviz.store.models import Upload
from chainviz.store.transfer import exports
from chainviz.web.htmx import wants_fragment
from chainviz.web.responses import see_other


@requires("export")
@require_http_methods(["GET", "HEAD", "POST"])
def export(request: HttpRequest, subject: Subject) -> HttpResponseBase:
    """Without `scope` the page that offers what there is; a form of it starts or stops the scans."""
    if request.method == "POST":
        upload = _to_scan(Export.to(subject, ""))
        (stop_scans if request.POST.get("act") == "stop" else start_scans)(subject, upload, person_of(request))
        return see_other(request.get_full_path())
    scope = request.GET.get("scope", "")
    try:
        chosen = Export.to(subject, request.GET.get("to", ""))
        if scope == "file" and not chosen.is_part:
            scope = "chain"  # the chain's document is all there is
        if scope in ("chain", "file"):
            return written(chosen, scope)
        if scope:
            _require_unlocked(chosen, scope)
    except Refused as error:
        return _page(request, Export.to(subject, ""), str(error))
    form = next((form for form in FORMS if form.scope == scope), None)
    if form is not None:
        title = title_in(subject.chain, subject.snapshot)
        told = Told(title, f"{subject.title}, {format_label(subject.snapshot.format)}", subject.stored)
        name = f"{PurePath(subject.chain.file_name or 'chain').stem} {subject.title.lower()}{form.suffix}"
        return _download((piece.encode("utf-8", "replace") for piece in form.write(told)), name)
    if scope == "original" and chosen.upload is not None:
        return _download(exports.original(chosen.upload), subject.chain.file_name)
    if scope:
        raise Http404("There is nothing of that kind to export.")
    return _page(request, chosen)


def _require_unlocked(chosen: Export, scope: str) -> None:
    """The whole file, and the upload of several chains, hold more than the version that was signed off."""
    chain, version = chosen.subject.chain, chosen.subject.version
    if scope == "original":
        require_unlocked(chain, None if chosen.is_part else 1)
    else:
        require_unlocked(chain, None if scope == "file" else version)


def _page(request: HttpRequest, chosen: Export, error: str = "") -> HttpResponse:
    told = told_before(chosen.subject, _to_scan(chosen), person_of(request))
    here = request.get_full_path()
    if wants_fragment(request) and not told.waits:
        return HttpResponse(status=204, headers={"HX-Redirect": here})
    context = {
        "subject": chosen.subject,
        "export": chosen,
        "error": error,
        "forms": FORMS,
        "told": told,
        "here": here,
        "is_purged": was_purged(chosen.subject.chain),
        "locked": locked_reason(chosen.subject.chain, chosen.subject.version),
    }
    name = "chains/exports/_export_scan.html" if wants_fragment(request) else "chains/exports/export.html"
    response = render(request, name, context, status=422 if error else 200)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _to_scan(chosen: Export) -> Upload | None:
    """The upload, unless it is no more than this content and a little around it."""
    is_same = chosen.subject.version == 1 and not chosen.is_part
    return None if is_same else chosen.upload


def written(chosen: Export, scope: str) -> HttpResponseBase:
    """The chain or the whole file, as a download. Raises Refused, and ExportLocked."""
    _require_unlocked(chosen, scope)
    if scope == "file":
        return _download(chosen.whole_file(), chosen.file_name("file"))
    return _download(chosen.chain(), chosen.file_name(chosen.subject.title))


def _download(content: Iterator[bytes], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(content, content_type="application/octet-stream")
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response
