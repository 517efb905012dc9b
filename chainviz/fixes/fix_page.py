"""The page that fixes a session so that it can be resumed. It shows the difference, writes the session back to its file or database on this
machine, and restores the backup. A chain that was uploaded through the browser has no session here, so its fixed file is a download.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.api.chain import Chain as FileChain
from chainviz.api.chain import Result
from chainviz.chains.access import chain_for
from chainviz.chains.diff.address import read_diff_query
from chainviz.chains.diff.changes_page import DiffView
from chainviz.chains.diff.groups import asks_to_unfold
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.downloads import require_unlocked
from chainviz.chains.exports.export import Export
from chainviz.chains.models import Chain, LocalFile
from chainviz.chains.verdicts import provider_of
from chainviz.core.databases.contract import Database
from chainviz.core.errors import ChainError, Refused
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.operations import operation_named
from chainviz.core.operations.execute import read_options
from chainviz.core.operations.repair.fixes import CHOICES
from chainviz.core.providers.contract import Provider
from chainviz.drafts import services
from chainviz.drafts.operations.run import changing, is_long
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import target_of_version
from chainviz.fixes.difference import MOST_CHAINS, Differences, together
from chainviz.fixes.doctor import digest_of
from chainviz.fixes.error_page import LONGEST, PastedFix, pasted_fix
from chainviz.fixes.fix import FixedChain, FixedSession, Target, repair_options
from chainviz.fixes.stored_session import HowToRead, StoredSession, fix_content, stored_session
from chainviz.web.http import see_other

NOTE = "Fixed for resuming"


def save_version(request: HttpRequest, chain: Chain, asked: Target) -> int:
    """Save the fix and return the number of the new version. Raises Refused if the person may not save, or has a draft of the chain."""
    person = person_of(request)
    if not member_of(request).may("save"):
        raise Refused("Your role does not allow new versions.")
    begun = services.open_draft(chain, person, chain.version)
    if begun is not None and steps_of(begun).all:
        raise Refused("You have an open draft of this version; save or discard it first.")
    target = target_of_version(chain, chain.version, person)
    if is_long(target.stored):
        raise Refused("This chain is long; fix it on the page Repair, which works in the background.")
    repair = operation_named("repair")
    assert repair is not None
    options = read_options(repair, repair_options(asked.provider or provider_of(target.stored), asked.only))
    with changing(target, repair, options) as draft:
        pass
    with transaction.atomic():
        return services.save(draft, note=NOTE, by=person).number


T = TypeVar("T")
MOST_BYTES = 20_000_000
"""The largest session, in bytes, that is fixed on a page. Larger ones take too long and are fixed on the command line."""


@dataclass(frozen=True)
class FixPage:
    """The values of the template."""

    chain: Chain
    session: StoredSession | None
    """The session in its agent's store; None for an uploaded chain."""
    target: Target
    fixed: FixedSession[DiffView] | None
    error: str = ""
    pasted: PastedFix | None = None
    """The API's error that led to the page."""

    @property
    def providers(self) -> list[tuple[str, str]]:
        return [(each.name, each.label) for each in PROVIDERS]

    @property
    def chains(self) -> Sequence[FixedChain[DiffView]]:
        return self.fixed.chains[:MOST_CHAINS] if self.fixed else ()

    @property
    def diff(self) -> DiffView:
        """The values of the bar above the changes: their total number, and the link to the other layout."""
        views = [each.difference for each in self.chains]
        return views[0] if len(views) == 1 else together(views)

    @property
    def chains_left(self) -> int:
        return max(0, len(self.fixed.chains) - MOST_CHAINS) if self.fixed else 0

    @property
    def seen(self) -> str:
        """Identifies the content whose difference the page shows."""
        return digest_of(self.fixed.old) if self.fixed else ""

    @property
    def spoken(self) -> str:
        return self.fixed.chains[0].provider.label if self.fixed and self.fixed.chains else ""

    @property
    def provider(self) -> Provider | None:
        """The provider that a person chose or whose error was pasted; None for the session's own."""
        return self.target.provider

    query: str = ""
    """The query of the page's address, with the provider, the fix and the error."""

    @cached_property
    def backups(self) -> list[str]:
        """The backups, newest first."""
        try:
            return [each.name for each in reversed(self.session.backups())] if self.session else []
        except OSError:
            return []

    @property
    def database(self) -> Database | None:
        return self.session.database if self.session else None

    @property
    def can_write(self) -> bool:
        return self.session is not None and not self.session.read_only


@requires("export", to_post="files")
@require_http_methods(["GET", "HEAD", "POST"])
def fix_page(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    session = _session_of(request, chain)
    error = ""
    if request.method == "POST":
        try:
            target = _target(request, chain)
            if request.POST.get("act") == "version":
                return see_other("chains:version", chain.pk, save_version(request, chain, target))
            if session is None:
                raise Http404("This chain has no file on this machine.")
            messages.success(request, _done(request, chain, session, target))
            return see_other(_address(request, chain, target))
        except ChainError as refused:
            error = str(refused)
    if not error and asks_to_unfold(request, read_diff_query(request)):
        return _unfolded(request, chain, session)
    page = _page(request, chain, session, error)
    return render(request, "sessions/fix.html", {"page": page}, status=422 if error else 200)


@requires("export")
@require_safe
def fixed_file(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    require_unlocked(chain, None)
    session = _session_of(request, chain)
    target = _target(request, chain)
    try:
        fixed = _fixed(request, chain, session, target, _nothing)
    except ChainError as refused:
        page = FixPage(chain, session, target, None, str(refused))
        return render(request, "sessions/fix.html", {"page": page}, status=422)
    name = session.name if session and not session.is_folder else chain.file_name
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
    }
    return HttpResponse(fixed.new, content_type="application/octet-stream", headers=headers)


def _session_of(request: HttpRequest, chain: Chain) -> StoredSession | None:
    """Return the session on this machine that a chain came from; None unless the person runs a local server and may use its files."""
    if settings.CHAINVIZ.mode != "local" or not member_of(request).may("files"):
        return None
    file = LocalFile.objects.filter(chain=chain).first()
    return stored_session(file.path) if file else None


def _done(request: HttpRequest, chain: Chain, session: StoredSession, target: Target) -> str:
    """Write the session. Return a sentence that says what was done."""
    if request.POST.get("act") == "restore":
        backup, before = session.restore()
        if before is None:
            return f"The session is already what {backup.name} holds."
        return f"Restored from {backup.name}. What the session was until now is {before.name}."
    fixed = _fixed(request, chain, session, target, _nothing)
    if request.POST.get("seen") != digest_of(fixed.old):
        raise Refused(f"{session.name} changed after you opened this page. Check the changes again.")
    if not fixed.is_changed:
        raise Refused("Nothing to fix.")
    return f"Fixed. The backup is {session.write(fixed.old, fixed.new).name}."


def _page(request: HttpRequest, chain: Chain, session: StoredSession | None, error: str) -> FixPage:
    pasted = _pasted(request, chain)
    target = _target(request, chain, pasted)
    fixed: FixedSession[DiffView] | None = None
    try:
        fixed = _fixed_with_view(request, chain, session, target)
        if pasted and pasted.fixes and not fixed.is_changed and "fix" not in request.GET:
            target = replace(target, only=pasted.fixes[0].name)
            fixed = _fixed_with_view(request, chain, session, target)
    except ChainError as refused:
        error = error or str(refused)
    return FixPage(chain, session, target, fixed, error, pasted, _query(request, target))


def _fixed_with_view(request: HttpRequest, chain: Chain, session: StoredSession | None, target: Target) -> FixedSession[DiffView]:
    return _fixed(request, chain, session, target, Differences(request, _address(request, chain, target)).view)


def _unfolded(request: HttpRequest, chain: Chain, session: StoredSession | None) -> HttpResponse:
    target = _target(request, chain)
    try:
        fixed = _fixed(request, chain, session, target, Differences(request, _address(request, chain, target)).unfolded)
    except ChainError as refused:
        raise Http404(str(refused)) from None
    found = [each.difference for each in fixed.chains if each.difference is not None]
    if not found:
        raise Http404
    return found[0]


def _address(request: HttpRequest, chain: Chain, target: Target) -> str:
    return f"{reverse('fix_session', args=[chain.pk])}{_query(request, target)}"


def _query(request: HttpRequest, target: Target) -> str:
    provider = target.provider.name if target.provider else ""
    values = {"provider": provider, "fix": target.only, "error": request.GET.get("error", "")[:LONGEST]}
    return f"?{urlencode(found)}" if (found := {name: value for name, value in values.items() if value}) else ""


def _target(request: HttpRequest, chain: Chain, pasted: PastedFix | None = None) -> Target:
    """Return what the address asks for. Without a provider it is the one whose error was pasted."""
    only, asked = request.GET.get("fix", ""), request.GET.get("provider", "")
    provider = get_provider(asked) if any(each.name == asked for each in PROVIDERS) else None
    if provider is None and not asked:
        pasted = pasted or _pasted(request, chain)
        provider = pasted.provider if pasted else None
    return Target(provider, only if only in CHOICES else "")


def _pasted(request: HttpRequest, chain: Chain) -> PastedFix | None:
    text = request.GET.get("error", "")[:LONGEST].strip()
    return pasted_fix(version_subject(request, chain.pk), text) if text else None


def _nothing(before: FileChain, result: Result) -> None:
    """Compute no difference, for callers that only write the session."""


def _fixed(
    request: HttpRequest, chain: Chain, session: StoredSession | None, target: Target, show: Callable[[FileChain, Result], T]
) -> FixedSession[T]:
    name, where = (session.name, session.address) if session else (chain.file_name, chain.file_name)
    is_large = session is not None and session.holds_more(MOST_BYTES)
    content = b"" if is_large else session.read() if session else b"".join(_uploaded(request, chain))
    if is_large or len(content) > MOST_BYTES:
        raise Refused(f"This session is larger than 20 MB. Fix it on the command line: chainviz fix {where}")
    return fix_content(content, name, show, HowToRead(target=target, database=session.database if session else None))


def _uploaded(request: HttpRequest, chain: Chain) -> Iterator[bytes]:
    """Return the file with the newest versions of its chains."""
    export = Export.to(version_subject(request, chain.pk), "")
    return export.whole_file() if export.is_part else export.chain()
