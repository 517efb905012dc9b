"""All addresses. Each app owns its own list; the pages for errors belong to web."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from chainviz.accounts.permissions import requires
from chainviz.fixes import error_page as errors
from chainviz.fixes import fix_page as sessions
from chainviz.fixes import many_page as many
from chainviz.http_api.metrics import metrics
from chainviz.mcp.team import mcp
from chainviz.purge import purge_page as purge
from chainviz.purge.purge_page import purge_of_run
from chainviz.web.errors import favicon, healthz, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("chainviz.chains.urls")),
    path("", include("chainviz.drafts.urls")),
    path("", include("chainviz.review.urls")),
    path("bulk/", include("chainviz.bulk.urls")),
    path("recipes/", include("chainviz.recipes.urls")),
    path("help/", include("chainviz.help.urls")),
    path("c/<int:chain_id>/purge/", purge.purge_page, name="purge"),
    path("bulk/<int:bulk_id>/purge/", purge_of_run, name="purge_of_run"),
    path("fix/", many.fix_sessions, name="fix_sessions"),
    path("error/", errors.error_page, name="error"),
    path("c/<int:chain_id>/fix/", sessions.fix_page, name="fix_session"),
    path("c/<int:chain_id>/fix/file", sessions.fixed_file, name="fixed_session"),
    path("", include("chainviz.accounts.urls")),
    path("team/webhooks/", include("chainviz.webhooks.webhook_pages")),
    path("api/v1/", include("chainviz.http_api.api")),
    path("mcp", mcp, name="mcp"),
    path("metrics", metrics, name="metrics"),
    path("healthz", requires("public")(healthz)),
    path("readyz", requires("public")(readyz)),
    path("favicon.ico", requires("public")(favicon)),
]

handler400 = "chainviz.web.errors.bad_request"
handler403 = "chainviz.web.errors.permission_denied"
handler404 = "chainviz.web.errors.page_not_found"
handler500 = "chainviz.web.errors.server_error"
