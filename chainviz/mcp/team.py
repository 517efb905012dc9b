"""The library of /mcp: a team's chains, with the rights of the token that the request carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, HttpRequest
from pydantic import ValidationError

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import Permission, scope_of
from chainviz.api.chain import Chain, load
from chainviz.api.tree_text import report_line
from chainviz.chains.diff.runs import subject_named
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.exports.choices import Export
from chainviz.chains.exports.view import ExportLocked, require_subject_unlocked
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError, Refused
from chainviz.http_api.chains import chains
from chainviz.http_api.drafts import run_operation
from chainviz.http_api.shapes import ChainQuery, FoundShape, OperationCall
from chainviz.mcp.library import Fix, Search, Sessions

MOST = 64 * 2**20
"""The most content bytes of a chain that a tool opens."""


@dataclass
class TeamLibrary:
    """The chains of a team. A number such as 12 names a chain, 12.3 its version 3."""

    request: HttpRequest
    opened: list[str] = field(default_factory=list)
    """The addresses whose content was sent or changed, for the audit log."""

    def sessions(self, search: Search) -> Sessions:
        if search.project:
            raise OptionsError("A team server knows no folders; search for words in titles and texts instead.")
        try:
            query = ChainQuery.model_validate({"q": search.words, "format": search.agent.replace("-", "_"), "limit": search.limit})
        except ValidationError as error:
            raise OptionsError(str(error.errors()[0]["msg"])) from None
        page = chains(self.request, query)
        lines = [_line(each) for each in page.chains]
        return Sessions(lines, "More chains match; search for something narrower." if page.next else "")

    def chains(self, address: str) -> Sequence[Chain]:
        return [self._chain(self._subject(address, "export"))]

    def fix(self, address: str, write: bool) -> Fix:
        subject = self._subject(address, "export")
        chain = self._chain(subject)
        options = {"goal": chain.provider, "resumes": True}
        made = chain.run("repair", options)
        lines = (*map(report_line, made.report), *made.warnings)
        if made.chain is chain:
            return Fix(lines, "Errors remain that no fix removes." if lines else "Nothing to fix: its API accepts it.")
        if write:
            return Fix(lines, self.save(address, 1, "repair", options))
        return Fix(lines, "Checked only: these fixes would make it valid. Nothing was written.")

    def save(self, address: str, number: int, operation: str, options: Mapping[str, Any]) -> str:
        subject = self._subject(address, "save")
        call = OperationCall.model_validate({"options": dict(options), "version": subject.version})
        made = run_operation(self.request, subject.chain.pk, operation, call).value
        return f"Kept as a draft that the person can save: {made.url}"

    def _subject(self, address: str, permission: Permission) -> Subject:
        if not member_of(self.request).may(permission):
            raise Refused(f"This tool needs a token with the scope “{scope_of(permission)}” and a role that allows it.")
        subject = subject_named(self.request, address)
        self.opened.append(address)
        return subject

    def _chain(self, subject: Subject) -> Chain:
        require_subject_unlocked(subject)
        if subject.snapshot.size > MOST:
            raise Refused(f"This chain has {subject.snapshot.size:,} bytes; tools open chains up to {MOST:,}. Open its page instead.")
        (chain,) = load(b"".join(Export.to(subject, "").chain()), subject.snapshot.format)
        return chain


def _line(chain: FoundShape) -> str:
    hits = "".join(f"  | {hit.path}: {hit.text}" for hit in chain.hits[:2])
    return f"{chain.id}.{chain.version}  {chain.format}  {count_text(chain.messages, 'message')}  {chain.title}{hits}"


def refusing(call: Callable[[], str]) -> str:
    """Run a tool; what the web application would answer with a page becomes a sentence. Raises ChainError."""
    try:
        return call()
    except Http404:
        raise Refused("There is no chain with this number and version, or you have no access.") from None
    except ExportLocked as locked:
        raise Refused(str(locked)) from None
