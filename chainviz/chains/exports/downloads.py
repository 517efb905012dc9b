"""Downloads: the chain or its whole file, in its own format or in another, the upload as it was, and a result to post in an issue.

The page shows what a scan for secrets found, and what another format would lose before it is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header
from django.utils.module_loading import import_string
from django.views.decorators.http import require_http_methods

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.audit import has_purge
from chainviz.chains.explorer.actions import Situation
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports import FORMS
from chainviz.chains.exports.documents import END, DocumentContent, begin_html
from chainviz.chains.exports.export import Export, matching_formats
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import safe
from chainviz.chains.secrets.export_scan import scan_before_export, start_scans, stop_scans
from chainviz.chains.titles import title_in
from chainviz.chains.verdicts import verdict_view
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.groups import Side
from chainviz.core.errors import Refused
from chainviz.core.formats import format_label
from chainviz.core.secrets.scan import scan_text
from chainviz.store.models import Upload
from chainviz.store.transfer import exports
from chainviz.web.formatting import byte_text
from chainviz.web.http import see_other, typed_words, wants_fragment

MOST_CHANGES = 200
TITLES = "The titles of the chains"
NOT_SHARED = ("What messages say: texts, reasoning, arguments and results of tools", "Names of files, and everything around the messages")


@dataclass(frozen=True, slots=True)
class SharedTable:
    title: str
    head: Sequence[str]
    rows: Iterable[Sequence[str]]


@dataclass(frozen=True, slots=True)
class SharedPage:
    file_name: str
    title: str
    lead: str
    contains: Sequence[str]
    tables: Sequence[SharedTable] = field(default_factory=tuple)


def share_page(request: HttpRequest, contents: Sequence[tuple[Chain, int | None]], page: SharedPage) -> HttpResponse:
    """Answer with the page as a download. Raises ExportLocked or PermissionDenied if a chain and version may not leave."""
    if "export" not in member_of(request).permissions:
        raise PermissionDenied
    for chain, version in contents:
        require_unlocked(chain, version)
    headers = {"Content-Disposition": f'attachment; filename="{page.file_name}"'}
    return HttpResponse("".join(_html(page)), content_type="text/html; charset=utf-8", headers=headers)


def changes_table(diff: ChainDiff) -> SharedTable:
    """Return every change with its kind, places and sizes; of many changes the first ones, and a row with the number of
    the others."""
    changes = diff.changes
    rows = [(str(each.kind), _place(each.old), _place(each.new), _size(each.old), _size(each.new)) for each in changes[:MOST_CHANGES]]
    if len(changes) > MOST_CHANGES:
        rows.append((count_text(len(changes) - MOST_CHANGES, "more change"), "", "", "", ""))
    return SharedTable("Changes", ("Change", "Before", "After", "Size before", "Size after"), rows)


def _place(side: Side) -> str:
    if side.first is None or side.last is None:
        return ""
    first, last = side.first.number, side.last.number
    return first if first == last else f"{first}–{last}"


def _size(side: Side) -> str:
    return f"{count_text(side.measure.messages, 'message')}, {byte_text(side.measure.size)}" if side.first else ""


class _Words:
    """Escape words, and mask whatever looks like a secret in them."""

    def __init__(self) -> None:
        self.masked = 0

    def html(self, text: str) -> str:
        for found in reversed(scan_text(text)):
            text = f"{text[: found.start]}[{found.rule}]{text[found.end :]}"
            self.masked += 1
        return safe(text)


def _html(page: SharedPage) -> Iterable[str]:
    words = _Words()
    yield begin_html(words.html(page.title))
    yield f"<p>{words.html(page.lead)}</p>\n"
    for table in page.tables:
        head = "".join(f"<th>{words.html(each)}</th>" for each in table.head)
        rows = "".join("<tr>" + "".join(f"<td>{words.html(each)}</td>" for each in row) + "</tr>\n" for row in table.rows)
        written = f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
        yield f'<section class="facts" tabindex="0">\n<h2>{words.html(table.title)}</h2>\n{written}\n</section>\n'
    yield f'<div class="held">\n{_list("In this page", page.contains)}{_list("Not in this page", NOT_SHARED)}</div>\n'
    masked = f"{count_text(words.masked, 'possible secret')} masked." if words.masked else "No secrets found in this page."
    yield f'<p class="muted">{masked} Made with chainviz on {timezone.now():%d %B %Y}; no scripts, loads nothing.</p>\n{END}'


def _list(title: str, items: Sequence[str]) -> str:
    return f"<section><h2>{title}</h2>\n<ul>{''.join(f'<li>{safe(each)}</li>' for each in items)}</ul></section>\n"


MOST_TYPED = 60


@requires("export")
@require_http_methods(["GET", "HEAD", "POST"])
def export(request: HttpRequest, subject: Subject) -> HttpResponseBase:
    """Export. Without `scope` show the page of exports; its form starts or stops the scans."""
    if request.method == "POST":
        upload = _to_scan(Export.to(subject, ""))
        (stop_scans if request.POST.get("act") == "stop" else start_scans)(subject, upload, person_of(request))
        return see_other(request.get_full_path())
    scope = request.GET.get("scope", "")
    if not scope:
        return _page(request, subject)
    try:
        chosen = Export.to(subject, request.GET.get("to", ""))
        if scope == "file" and not chosen.is_part:
            scope = "chain"  # the chain's document is all there is
        if scope in ("chain", "file"):
            return written(chosen, scope)
        _require_unlocked(chosen, scope)
    except Refused as error:
        return _page(request, subject, str(error))
    form = next((form for form in FORMS if form.scope == scope), None)
    if form is not None:
        title = title_in(subject.chain, subject.snapshot)
        told = DocumentContent(title, f"{subject.title}, {format_label(subject.snapshot.format)}", subject.stored)
        name = f"{PurePath(subject.chain.file_name or 'chain').stem} {subject.title.lower()}{form.suffix}"
        return _download(form.write(told), name)
    if scope == "original" and chosen.upload is not None:
        return _download(exports.original(chosen.upload), subject.chain.file_name)
    raise Http404("There is nothing of that kind to export.")


def _require_unlocked(chosen: Export, scope: str) -> None:
    """Check the export lock. The whole file, and the upload of several chains, contain more than the version that was
    signed off."""
    chain, version = chosen.subject.chain, chosen.subject.version
    if scope == "original":
        require_unlocked(chain, None if chosen.is_part else 1)
    else:
        require_unlocked(chain, None if scope == "file" else version)


def _page(request: HttpRequest, subject: Subject, error: str = "") -> HttpResponse:
    own, asked = Export.to(subject, ""), typed_words(request.GET.get("to", ""), MOST_TYPED)
    found = matching_formats(asked)
    target = Export(subject, found[0]) if len(found) == 1 and found[0] is not own.format else None
    context = {"subject": subject, "export": own, "target": target, "asked": asked, "found": found}
    context["locked"] = locked_reason(subject.chain, subject.version)
    if request.htmx.target == "conversion":  # type: ignore[attr-defined]
        return _varying(render(request, "chains/exports/_conversion.html", context))
    upload = _to_scan(own)
    told = scan_before_export(subject, upload, person_of(request))
    here = request.get_full_path()
    if wants_fragment(request) and not told.waits:
        return HttpResponse(status=204, headers={"HX-Redirect": here})
    context |= {"upload": upload, "error": error, "forms": FORMS, "told": told, "here": here, "is_purged": has_purge(subject.chain)}
    situation = Situation(subject)
    context["situation"] = situation
    context["verdict"] = verdict_view(situation.verdicts[situation.provider]) if situation.provider else None
    name = "chains/exports/_export_scan.html" if wants_fragment(request) else "chains/exports/export.html"
    return _varying(render(request, name, context, status=422 if error else 200))


def _varying(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _to_scan(chosen: Export) -> Upload | None:
    """Return the upload, or None if the content is its first version and complete."""
    is_same = chosen.subject.version == 1 and not chosen.is_part
    return None if is_same else chosen.upload


def written(chosen: Export, scope: str) -> HttpResponseBase:
    """Return the chain or the whole file as a download. Raises Refused or ExportLocked."""
    _require_unlocked(chosen, scope)
    if scope == "file":
        return _download(chosen.whole_file(), chosen.file_name("file"))
    return _download(chosen.chain(), chosen.file_name(chosen.subject.title))


def _download(content: Iterator[bytes], name: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(content, content_type="application/octet-stream")
    response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


# A team may keep content from leaving as a file: every view that sends content as a file asks here first. What the
# rule is, the review decides; settings.EXPORT_LOCK names its function.


class ExportLocked(Exception):
    """Raised if the content may not be exported; the text gives the reason."""

    def __init__(self, chain: Chain, reason: str) -> None:
        super().__init__(reason)
        self.chain = chain


def locked_reason(chain: Chain, version: int | None) -> str:
    """Return the reason why this content may not be exported; empty if it may. `version`: None for content that is not
    exactly a version, such as a draft or a file with other chains in it."""
    return str(import_string(settings.EXPORT_LOCK)(chain, version))


def require_unlocked(chain: Chain, version: int | None) -> None:
    """Raise ExportLocked."""
    reason = locked_reason(chain, version)
    if reason:
        raise ExportLocked(chain, reason)


def require_subject_unlocked(subject: Subject) -> None:
    require_unlocked(subject.chain, subject.version)
