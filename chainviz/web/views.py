"""Addresses outside of pages: the health checks of load balancers and process managers, and the icon that browsers ask for."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe


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
