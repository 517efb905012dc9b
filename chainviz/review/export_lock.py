"""The export lock: where the rules of a team ask for it, content leaves only after its version was signed off.

`locked_reason` is the one function that decides, for pages, downloads, share links, command line and API alike. The rule
of a chain in the library is meant: local mode has no rules.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from chainviz.chains.exports.view import ExportLocked
from chainviz.chains.models import Chain
from chainviz.review.models import SignOff, rules_of
from chainviz.store.models import History
from chainviz.web.middleware import Middleware


def locked_reason(chain: Chain, version: int | None) -> str:
    """Return the reason why this content may not be exported; empty if it may. `version`: None for content that is not
    exactly a version."""
    if settings.CHAINVIZ.mode != "team" or not rules_of(chain.team_id).locks_export:
        return ""
    if version is None:
        return "Only a signed-off version can be exported; this is not exactly one."
    if is_signed_off(chain, version):
        return ""
    return f"Version {version} is not signed off. Only a signed-off version can be exported."


def is_signed_off(chain: Chain, version: int) -> bool:
    """Return True if the version is signed off. A purge changes the content, so earlier sign-offs no longer count."""
    edition = History.objects.filter(pk=chain.history).values("edition")
    found = SignOff.objects.sign_offs().filter(team=chain.team_id, chain_key=chain.pk, version=version)
    return found.filter(edition__in=edition).exists()


class ExportLockMiddleware(Middleware):
    """Answers ExportLocked, whichever view raises it."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, ExportLocked):
            return None
        context = {"chain": exception.chain, "reason": str(exception)}
        return render(request, "review/export_locked.html", context, status=403)
