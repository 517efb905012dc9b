"""The help page of each page of the product."""

from __future__ import annotations

from collections.abc import Mapping

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from chainviz.help.pages import Page, all_pages

OF_NAMESPACES: Mapping[str, str] = {
    "chains": "start", "drafts": "explorer", "review": "team", "bulk": "redaction", "recipes": "redaction", "accounts": "team",
    "api": "api", "webhooks": "webhooks",
}  # fmt: skip
OF_VIEWS: Mapping[str, str] = {
    **dict.fromkeys(("chain", "version", "at", "versions", "compare", "diff", "report", "bytes", "raw", "compare_chosen", "compare_two"),
                    "explorer"),
    **dict.fromkeys(("observations", "parse", "simulation", "state", "state_import", "state_step"), "state"),
    **dict.fromkeys(("export", "shares", "share", "secrets", "purge", "purge_of_run", "certify", "certificate"), "redaction"),
    **dict.fromkeys(("fix_session", "fix_sessions", "error", "fixed_session", "problems"), "fix"),
    **dict.fromkeys(("summaries", "summary", "summary_prompt"), "summaries"),
    "tokens": "api",
}  # fmt: skip
"""Pages that differ from the others of their namespace."""
OF_OPERATIONS: Mapping[str, str] = {
    "repair": "fix", "summarize": "summaries", "redact": "redaction", "mask": "redaction", "convert": "formats",
    "compact": "state", "observations": "state",
}  # fmt: skip


def help_page_of(namespace: str, view: str, operation: str = "") -> str:
    """Return the name of the help page for a view; "" if only the index fits."""
    return OF_OPERATIONS.get(operation) or OF_VIEWS.get(view) or OF_NAMESPACES.get(namespace, "")


def help_page(request: HttpRequest) -> Mapping[str, object]:
    """Give templates `help_page`: the page that the `?` of this request leads to, or None. Read only where it is shown."""

    def read() -> Page | None:
        match = request.resolver_match
        name = help_page_of(match.namespace, match.url_name or "", match.kwargs.get("name", "")) if match else ""
        return all_pages().get(name)

    return {"help_page": SimpleLazyObject(read)}
