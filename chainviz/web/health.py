"""For load balancers and process managers: whether the process answers, and whether it can serve pages."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

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
