"""Who may use each address: a row per address, beside what the views state themselves.

A row is the lowest role that may look and the lowest that may send the form; one word where they are the same.
`public` is for everybody, `account` for whoever is signed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

CALL = '{"text": "Hm", "kind": "tag", "value": "seen", "verdict": "comment", "people": [1], "reason": "Hm"}'
"""The members that every call of the API accepts."""

EXPLORER = [
    "version",
    "at",
    "rows",
    "outline",
    "node",
    "part",
    "image",
    "raw",
    "inspect",
    "replaced",
    "find",
    "goto",
    "chain_palette",
    "problems",
    "problem_step",
    "bytes",
    "observations",
    "observation_media",
    "observation_text",
    "parse",
    "export",
]
DRAFT_PAGES = "draft undo redo discard restore save conflict rebase branch"
SUMMARY_PAGES = "summaries summaries_status summaries_do summary summary_do summary_prompt"

API = {
    "viewer": "chains chain versions tree chain_problems diff compare_chains export operations threads thread labels "
    "export_labels export_comments rules review verdicts sign_offs",
    "commenter": "give_verdict new_thread reply_to_thread resolve_thread edit_comment delete_comment set_label remove_label",
    "editor": "request_review close_request dismiss_verdict sign_off "
    "upload upload_state run_operation drafts draft draft_conflicts rebase_draft save_draft undo_step discard_draft job",
}

ROWS: dict[str, str] = {
    "healthz": "public",
    "readyz": "public",
    "metrics": "public",
    "api:page": "public",
    "api:openapi": "public",
    "help:index": "public",
    "help:page": "public",
    **{f"api:{name}": role for role, names in API.items() for name in names.split()},
    "favicon.ico": "public",
    "accounts:sign_in": "public",
    "accounts:oidc": "public",
    "accounts:oidc_callback": "public",
    "accounts:join": "public",
    "accounts:sign_out": "account",
    "accounts:account": "account",
    "accounts:choose_team": "account",
    "accounts:tokens": "viewer",
    "accounts:revoke_token": "viewer",
    "accounts:team": "viewer",
    "accounts:audit": "owner",
    "accounts:audit_export": "owner",
    "accounts:invite": "owner",
    "accounts:revoke": "owner",
    "accounts:member": "owner",
    "webhooks:webhooks": "owner",
    "webhooks:webhook": "owner",
    "chains:library": "viewer",
    "chains:columns": "viewer",
    "chains:palette": "viewer",
    "chains:refresh_library": "viewer",
    "chains:new_rows": "viewer",
    "chains:save_filter": "viewer",
    "chains:saved_filter": "viewer",
    "chains:filter_counts": "viewer",
    "chains:secrets": "viewer editor",
    "chains:parse": "viewer",
    "chains:samples": "editor",
    "chains:tour": "editor",
    "chains:welcome": "owner",
    "chains:overview": "viewer",
    **{f"chains:{name}": "editor" for name in ["upload", "arrival", "original", "forget", "keep", "pick"]},
    **{f"chains:{name}": "editor" for name in ["tray", "retry_failed", "dismiss_all", "undo_added"]},
    **{f"chains:{name}": "editor" for name in ["bin", "to_bin", "from_bin"]},
    "chains:delete": "owner",
    "chains:shared": "public",
    **{f"chains:{name}": "owner" for name in ["shares", "share", "revoke_share"]},
    "chains:chain": "viewer",
    **{f"chains:{name}": "viewer" for name in EXPLORER},
    **{f"drafts:explore_{name}": "viewer" for name in EXPLORER},
    **{f"chains:{name}": "viewer" for name in ["diff", "versions", "compare", "report", "compare_two", "compare_chosen"]},
    **{f"chains:{name}": "editor" for name in ["restore", "branch", "rename"]},
    **{f"chains:{name}": "owner" for name in ["audit", "audit_entry", "audit_decisions"]},
    **{f"drafts:{name}": "editor" for name in f"earlier restore_text edit prompt operation recipe repair {DRAFT_PAGES}".split()},
    **{f"drafts:{name}": "editor" for name in SUMMARY_PAGES.split()},
    "drafts:state": "viewer",
    "drafts:simulation": "viewer",
    "drafts:state_step": "editor",
    "drafts:state_document": "viewer",
    "drafts:state_import": "editor",
    "review:threads": "viewer",
    "review:thread": "viewer commenter",
    "review:comment": "viewer",
    **{f"review:{name}": "commenter" for name in ["new_thread", "edit_comment", "delete_comment", "pending", "mentions"]},
    "review:suggestions": "editor",
    "review:review": "viewer",
    "review:viewed": "viewer",
    "review:panel": "viewer",
    "review:thread_step": "viewer",
    "review:verdict": "commenter",
    "review:request": "editor",
    "review:dismiss": "editor",
    "review:search_secrets": "viewer",
    "review:rules": "viewer owner",
    "review:labels": "viewer commenter",
    "review:unlabel": "commenter",
    "review:labels_export": "viewer",
    "review:comments_export": "viewer",
    **{f"review:{name}": "viewer" for name in ["inbox", "inbox_count", "read_all", "mail", "open_notice", "mute", "presence", "activity"]},
    **{f"review:{name}": "viewer" for name in ["record", "certify", "certificate"]},
    "review:sign_off": "editor",
    **{f"recipes:{name}": "viewer editor" for name in ["home", "recipe", "new_list", "word_list"]},
    "recipes:step": "editor",
    "recipes:download": "viewer",
    **{f"bulk:{name}": "viewer" for name in ["runs", "run", "download"]},
    **{f"chains:{name}": "owner" for name in ["folders", "add_folder", "remove_folder", "open_file", "refresh_folder", "follow"]},
    **{f"chains:{name}": "owner" for name in ["session", "open_session", "reading"]},
    "chains:filter_fields": "viewer",
    "chains:keep": "editor",
    "purge": "owner",
    "purge_of_run": "owner",
    "mcp": "viewer",
    "fix_session": "viewer owner",
    "fix_sessions": "owner",
    "error": "viewer editor",
    "fixed_session": "viewer",
}  # fmt: skip

PERSONAL = {"notice_id", "draft_id", "run_id", "arrival_id", "token_id", "job_id", "bulk_id", "filter_id"}
"""Parts of an address that name something only its author sees."""


def addresses(patterns: list[Any] | None = None, before: str = "/", space: str = "") -> Iterator[tuple[str, str, Any]]:
    """Returns name, route and view of each address of the application."""
    for each in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from addresses(each.url_patterns, route, f"{each.namespace}:" if each.namespace else space)
        elif isinstance(each, URLPattern):
            yield space + (each.name or str(each.pattern)), route, each.callback
