"""Error pages, and the health checks of load balancers. A page says what happened and what to do next, and never quotes content."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from chainviz.store.errors import is_disk_full


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    return redirect(static("icons/favicon.svg"))


TEXT = "text/plain; charset=utf-8"


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. It does not query the database, so that a slow database does not restart the server."""
    return HttpResponse("ok\n", content_type=TEXT)


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """The database answers and its tables are up to date; 503 with the reason where not."""
    try:
        executor = MigrationExecutor(connection)
        waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return HttpResponse("the database does not answer\n", content_type=TEXT, status=503)
    if waiting:
        return HttpResponse("the tables are not up to date\n", content_type=TEXT, status=503)
    return HttpResponse("ok\n", content_type=TEXT)


log = logging.getLogger(__name__)
NOT_TYPED = {"csrfmiddlewaretoken", "seen", "act", "role", "shown", "declined"}
"""Fields of forms that nobody fills in."""
LARGEST_FORM = 2_000_000


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        return too_large(request)
    return render(request, "errors/400.html", status=400)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", {"typed": sent_texts(request)}, status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "errors/403.html", {"form_expired": True, "typed": sent_texts(request)}, status=403)


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/404.html", {"typed": sent_texts(request)}, status=404)


def wrong_method(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/405.html", status=405)


def too_large(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/413.html", status=413)


def too_busy(request: HttpRequest) -> HttpResponse:
    answer = render(request, "errors/503.html", status=503)
    answer["Retry-After"] = "30"
    return answer


def sent_texts(request: HttpRequest, largest: int = LARGEST_FORM) -> list[tuple[str, str]]:
    """Return the texts of a refused request, like `typed_texts`. Its body may not have been read yet: a large file is
    not read for this."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if request.resolver_match is None or not length.isdigit() or int(length) > largest:
        return []
    try:
        return [(name, text) for name, text in typed_texts(request) if "password" not in name]
    except (MultiPartParserError, SuspiciousOperation):
        return []


def typed_texts(request: HttpRequest) -> Iterator[tuple[str, str]]:
    """Return the name and the text of every field that a person may have typed, where the form could be read."""
    try:
        sent = list(request.POST.lists())
    except OSError:
        return
    for name, values in sent:
        if name not in NOT_TYPED and not name.endswith("-role"):
            yield from ((name, value) for value in values if value.strip() and len(value) > 1)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500. Django calls this while it handles the exception."""
    try:
        if is_disk_full(sys.exc_info()[1]):
            return render(request, "errors/507.html", {"typed": list(typed_texts(request))}, status=507)
        return render(request, "errors/500.html", status=500)
    except Exception:
        # What broke the page may break every page; the headers and one sentence must still arrive.
        log.exception("the page for errors failed too")
        return HttpResponse("chainviz made a mistake; its log says more.\n", content_type="text/plain", status=500)
