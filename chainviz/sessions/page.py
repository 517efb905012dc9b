"""The page that fixes a session for resuming: shows the difference, writes it back where the file lies on this machine, and
puts the backup back. A chain that was uploaded through the browser has no file here: its fixed file is a download."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import content_disposition_header, urlencode
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.api.chain import Chain as FileChain
from chainviz.api.chain import Result
from chainviz.chains.access import chain_for
from chainviz.chains.diff.address import asked_of, with_query
from chainviz.chains.diff.folds import asks_to_unfold
from chainviz.chains.diff.page import DiffView
from chainviz.chains.explorer.views.chain import version_subject
from chainviz.chains.exports.choices import Export
from chainviz.chains.exports.lock import require_unlocked
from chainviz.chains.models import Chain, LocalFile
from chainviz.core.documents.compressed import holds_more
from chainviz.core.errors import ChainError, Refused
from chainviz.core.providers import PROVIDERS, get_provider
from chainviz.core.providers.contract import Provider
from chainviz.sessions.backups import backups_of, content_of, restore, write_back
from chainviz.sessions.difference import MOST_CHAINS, Differences, together
from chainviz.sessions.fix import FixedChain, FixedSession, fix_session
from chainviz.web.responses import see_other

T = TypeVar("T")
MOST_BYTES = 20_000_000
"""A larger session is fixed on the command line: nobody waits that long for a page."""


@dataclass(frozen=True)
class FixPage:
    """What the template shows."""

    chain: Chain
    session: Path | None
    """Where the file lies; None for one that was uploaded."""
    provider: Provider | None
    """That a person chose; None: the one the session talks to."""
    fixed: FixedSession[DiffView] | None
    error: str = ""

    @property
    def providers(self) -> list[tuple[str, str]]:
        return [(each.name, each.label) for each in PROVIDERS]

    @property
    def chains(self) -> Sequence[FixedChain[DiffView]]:
        return self.fixed.chains[:MOST_CHAINS] if self.fixed else ()

    @property
    def diff(self) -> DiffView:
        """What the bar above the changes needs: how many there are in all, and the other layout."""
        views = [each.difference for each in self.chains]
        return views[0] if len(views) == 1 else together(views)

    @property
    def chains_left(self) -> int:
        return max(0, len(self.fixed.chains) - MOST_CHAINS) if self.fixed else 0

    @property
    def seen(self) -> str:
        """Names the content that the page shows the difference of."""
        return _digest(self.fixed.old) if self.fixed else ""

    @property
    def spoken(self) -> str:
        return self.fixed.chains[0].provider.label if self.fixed and self.fixed.chains else ""

    @property
    def query(self) -> str:
        return f"?{urlencode({'provider': self.provider.name})}" if self.provider else ""

    @cached_property
    def backups(self) -> list[str]:
        """The newest first."""
        try:
            return [each.name for each in reversed(backups_of(self.session))] if self.session else []
        except OSError:
            return []


@requires("export", to_post="files")
@require_http_methods(["GET", "HEAD", "POST"])
def fix_page(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    session = _session_of(request, chain)
    error = ""
    if request.method == "POST":
        if session is None:
            raise Http404("This chain has no file on this machine.")
        try:
            messages.success(request, _done(request, chain, session))
            return see_other(_address(request, chain))
        except ChainError as refused:
            error = str(refused)
    if not error and asks_to_unfold(request, asked_of(request)):
        return _unfolded(request, chain, session)
    page = _page(request, chain, session, error)
    return render(request, "sessions/fix.html", {"page": page}, status=422 if error else 200)


@requires("export")
@require_safe
def fixed_file(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    require_unlocked(chain, None)
    session = _session_of(request, chain)
    try:
        fixed = _fixed(request, chain, session, _nothing)
    except ChainError as refused:
        page = FixPage(chain, session, _provider(request), None, str(refused))
        return render(request, "sessions/fix.html", {"page": page}, status=422)
    name = session.name if session and session.is_file() else chain.file_name
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'",
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
    }
    return HttpResponse(fixed.new, content_type="application/octet-stream", headers=headers)


def _session_of(request: HttpRequest, chain: Chain) -> Path | None:
    """Files of this machine are offered only to the person who started the server on it."""
    if settings.CHAINVIZ.mode != "local" or not member_of(request).may("files"):
        return None
    file = LocalFile.objects.filter(chain=chain).first()
    return Path(file.path) if file else None


def _done(request: HttpRequest, chain: Chain, session: Path) -> str:
    """Writes the session; returns what was done."""
    if request.POST.get("act") == "restore":
        backup, before = restore(session)
        if before is None:
            return f"The session is already what {backup.name} holds."
        return f"Restored from {backup.name}. What the session was until now is {before.name}."
    fixed = _fixed(request, chain, session, _nothing)
    if request.POST.get("seen") != _digest(fixed.old):
        raise Refused(f"{session.name} changed after you opened this page. Check the changes again.")
    if not fixed.is_changed:
        raise Refused("Nothing to fix.")
    return f"Fixed. The backup is {write_back(session, fixed.old, fixed.new).name}."


def _page(request: HttpRequest, chain: Chain, session: Path | None, error: str) -> FixPage:
    try:
        show = Differences(request, _address(request, chain)).view
        return FixPage(chain, session, _provider(request), _fixed(request, chain, session, show), error)
    except ChainError as refused:
        return FixPage(chain, session, None, None, error or str(refused))


def _unfolded(request: HttpRequest, chain: Chain, session: Path | None) -> HttpResponse:
    try:
        fixed = _fixed(request, chain, session, Differences(request, _address(request, chain)).unfolded)
    except ChainError as refused:
        raise Http404(str(refused)) from None
    found = [each.difference for each in fixed.chains if each.difference is not None]
    if not found:
        raise Http404
    return found[0]


def _address(request: HttpRequest, chain: Chain) -> str:
    provider = _provider(request)
    return with_query(reverse("fix_session", args=[chain.pk]), provider=provider.name if provider else "")


def _nothing(before: FileChain, result: Result) -> None:
    """Shows no difference."""


def _fixed(
    request: HttpRequest, chain: Chain, session: Path | None, show: Callable[[FileChain, Result], T]
) -> FixedSession[T]:
    content = content_of(session) if session else b"".join(_uploaded(request, chain))
    if len(content) > MOST_BYTES or (session and session.is_file() and holds_more(session, MOST_BYTES)):
        where = session or chain.file_name
        raise Refused(f"This session is larger than 20 MB. Fix it on the command line: chainviz fix {where}")
    return fix_session(content, session.name if session else chain.file_name, show, provider=_provider(request))


def _uploaded(request: HttpRequest, chain: Chain) -> Iterator[bytes]:
    """The file with the newest versions of its chains."""
    export = Export.to(version_subject(request, chain.pk), "")
    return export.whole_file() if export.is_part else export.chain()


def _provider(request: HttpRequest) -> Provider | None:
    name = request.GET.get("provider", "")
    return get_provider(name) if any(each.name == name for each in PROVIDERS) else None


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
