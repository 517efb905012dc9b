"""The table of actions for a chain. The explorer's menus and the command palette are built from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.conf import settings

from chainviz.chains.access import version_of
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.library.agents import agent_of_format
from chainviz.chains.models import Chain
from chainviz.chains.secrets.export_scan import purge_address
from chainviz.chains.verdicts import MOST_READ, next_call_errors, unsent_errors, verdicts_by_provider
from chainviz.core.chain.messages import Message
from chainviz.core.counts import count_text
from chainviz.core.formats import WRITTEN, get_format, read_only
from chainviz.core.lost import Branch, Lost, describe_lost, lost_on_resume
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Operation
from chainviz.core.providers.check import Verdict
from chainviz.core.providers.contract import Provider
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.content.codec import unpack
from chainviz.store.derived import DerivedKind
from chainviz.store.outline.measures import unpack_charts
from chainviz.web.formatting import byte_text, token_text
from chainviz.web.http import url_or_nothing

LOST_ON_RESUME = DerivedKind("lost-on-resume", 1)
_ASIDE = ("/branch", "/sidechain")
"""The beginnings of the pointers of other chains than the main one: branches that a rewind left, and sub-agents."""
GROUPS = {"fix": "Fix", "shorten": "Shorten", "clean": "Clean", "export": "Convert and export", "review": "Review"}
OTHER_GROUP = "shorten"
"""The menu of operations that this table does not list."""


@dataclass(frozen=True)
class Situation:
    """The content, with the facts that its actions depend on."""

    subject: Subject

    @property
    def provider(self) -> Provider:
        """The provider that the chain's next call goes to."""
        return self.subject.provider

    @cached_property
    def _all_verdicts(self) -> dict[Provider, Verdict]:
        return verdicts_by_provider(unpack(self.subject.outline.verdicts))

    @cached_property
    def verdicts(self) -> dict[Provider, Verdict]:
        """The verdict of each provider. In an agent's session, the chain's own provider judges only what is still sent."""
        own = self._all_verdicts[self.provider]
        errors = next_call_errors(self.subject.stored, self.provider, own.errors)
        return {**self._all_verdicts, self.provider: replace(own, errors=errors)}

    @property
    def is_session(self) -> bool:
        """Whether an agent wrote the file and can resume it. In that case, some messages are not sent with the next call."""
        return bool(agent_of_format(self.subject.snapshot.format))

    @property
    def unsent_problems(self) -> int:
        """The number of errors for the chain's own provider in messages that the agent no longer sends."""
        if not self.is_session:
            return 0
        return unsent_errors(self._all_verdicts[self.provider], self.verdicts[self.provider])

    @cached_property
    def lost(self) -> list[str]:
        """A sentence for each kind of content that the agent does not send again when it resumes the session."""
        snapshot = self.subject.snapshot
        if not self.is_session or snapshot.size > MOST_READ:
            return []
        branches = self._branches()
        keys = ",".join(str(branch.pk) for branch in branches)
        rows = LOST_ON_RESUME.get(snapshot, lambda: _lost_messages(self.subject.stored, branches), keys)
        return [describe_lost(Lost(*row)) for row in rows]

    def _branches(self) -> list[Chain]:
        """Return the chains of the library that are branches of this session, as far as their size allows to read them."""
        chain = self.subject.chain
        if chain.pointer.startswith(_ASIDE):
            return []
        beside = Chain.objects.filter(team=chain.team_id, sha256=chain.sha256, pointer__startswith=_ASIDE[0], is_branch=False)
        return list(beside.filter(size__lte=MOST_READ).order_by("pk"))

    @property
    def structure_problems(self) -> int:
        return self.subject.outline.errors + self.subject.outline.warnings

    @cached_property
    def problems(self) -> int:
        """The number of errors for the chain's own provider."""
        return self.verdicts[self.provider].errors

    @property
    def is_read_only(self) -> bool:
        return bool(read_only(self.subject.snapshot.format))

    def change_url(self, name: str, *args: object) -> str:
        return "" if self.is_read_only else self.subject.change_url(name, *args)


def _lost_messages(chain: StoredChain, branches: Iterable[Chain]) -> list[Lost]:
    beside = (Branch(each.part or each.title, _messages(chain_of(version_of(each, 1).snapshot))) for each in branches)
    return list(lost_on_resume(get_format(chain.format), _messages(chain), beside))


def _messages(chain: StoredChain) -> list[Message]:
    return list(chain.slice(0, len(chain)))


@dataclass(frozen=True, slots=True)
class Action:
    """One line of a menu or of the palette."""

    name: str
    group: str
    label: str
    icon: str
    url: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    group: str
    icon: str
    label: Callable[[Situation], str]
    url: Callable[[Situation], str]
    """Return the address of an action; "" if it is not possible, or the person may not use it."""
    hint: Callable[[Situation], str] = field(default=lambda situation: "")


def _operation_url(name: str) -> Callable[[Situation], str]:
    return lambda situation: situation.change_url("drafts:operation", name)


def _convert_url(situation: Situation) -> str:
    return situation.subject.change_url("drafts:operation", "convert")


def _repair_label(situation: Situation) -> str:
    if situation.is_session:
        return "Fix all messages"
    return f"Fix {count_text(situation.problems, 'problem')}" if situation.problems else "Fix problems"


def _repair_hint(situation: Situation) -> str:
    if situation.is_session:
        return "also those that the agent no longer sends"
    name = situation.provider.speaker
    return f"so that {name} accepts the next call" if situation.problems else f"nothing to fix for {name}"


def _repair_url(situation: Situation) -> str:
    """Return the hint for repairs. In a session without other problems, the only repair is to fix the session."""
    is_offered = not situation.is_session or situation.unsent_problems or situation.structure_problems
    return situation.change_url("drafts:operation", "repair") if is_offered else ""


def _session_url(situation: Situation) -> str:
    chain = situation.subject.chain
    is_offered = bool(situation.structure_problems or situation.problems) or situation.is_session or hasattr(chain, "local_file")
    return url_or_nothing("fix_session", chain.pk) if is_offered and situation.subject.version is not None else ""


def _results_hint(situation: Situation) -> str:
    tools = unpack_charts(situation.subject.outline.charts).tools.values()
    results, size = (sum(tool[place] for tool in tools) for place in (2, 3))
    return f"{count_text(results, 'result')}, {byte_text(size)} of {byte_text(situation.subject.snapshot.size)}"


def _state_url(situation: Situation) -> str:
    url = url_or_nothing("drafts:state", situation.subject.chain.pk)
    return f"{url}?{situation.subject.edit_query}" if url else ""


def _purge_url(situation: Situation) -> str:
    return purge_address(situation.subject) if situation.subject.version is not None else ""


def _review_url(name: str) -> Callable[[Situation], str]:
    def url(situation: Situation) -> str:
        subject = situation.subject
        if name == "review" and settings.CHAINVIZ.mode == "local":
            return ""  # there is nobody to review it, and no such page
        found = url_or_nothing(f"review:{name}", subject.chain.pk) if subject.version is not None else ""
        return f"{found}?v={subject.version}" if found and name == "review" and not subject.is_head else found

    return url


def _words(text: str) -> Callable[[Situation], str]:
    return lambda situation: text


ENTRIES = (
    Entry("fix-session", "fix", "fix-file", _words("Fix the session file"), _session_url,
          _words("write the fix back, then resume the session")),
    Entry("repair", "fix", "repaired", _repair_label, _repair_url, _repair_hint),
    Entry("recipe", "fix", "recipe", _words("Run a recipe"), lambda situation: situation.change_url("drafts:recipe"),
          _words("steps you saved, one after another")),
    Entry("redact", "shorten", "redacted", _words("Redact tool results"), _operation_url("redact"), _results_hint),
    Entry("summarize", "shorten", "summary", _words("Summarize sections"), _operation_url("summarize"),
          lambda situation: count_text(situation.subject.snapshot.sections, "section")),
    Entry("compact", "shorten", "compact", _words("Compact to the window"), _operation_url("compact"),
          lambda situation: f"{token_text(situation.subject.snapshot.size)} tokens (estimate)"),
    Entry("state", "shorten", "state", _words("What the next call sends"), _state_url, _words("kept and sent, message by message")),
    Entry("mask", "clean", "mask", _words("Mask secrets"), _operation_url("mask"), _words("keys, tokens, names and addresses")),
    Entry("purge", "clean", "purge", _words("Purge values"), _purge_url, _words("remove for good, from every version")),
    Entry("export", "export", "export", _words("Download, copy or share"), lambda situation: f"{situation.subject.base_url}export",
          _words("file, page, Markdown, fine-tuning")),
    Entry("convert", "export", "convert", _words("Convert"), _convert_url,
          _words(f"to one of {len(WRITTEN)} formats, losses shown first")),
    Entry("results", "export", "tool", _words("Tool results"), lambda situation: f"{situation.subject.base_url}observations",
          _words("read, filter and convert them")),
    Entry("review", "review", "review", _words("Review"), _review_url("review")),
    Entry("threads", "review", "comment", _words("Threads"), _review_url("threads")),
    Entry("labels", "review", "tag", _words("Labels"), _review_url("labels")),
)  # fmt: skip
NAMED = frozenset(entry.name for entry in ENTRIES) | {"edit", "observations"}
"""Operations that need no generated entry: they have their own, or begin at a node or on the page of tool results."""


def _other(operation: Operation[Any]) -> Entry:
    name = operation.name
    return Entry(name, OTHER_GROUP, operation.badge.icon, _words(operation.label), _operation_url(name))


def actions_of(situation: Situation) -> Iterator[Action]:
    """Yield the actions that the person can take, in the order of the menus."""
    entries = (*ENTRIES, *(_other(operation) for operation in OPERATIONS if operation.name not in NAMED))
    for group in GROUPS:
        for entry in entries:
            url = entry.url(situation) if entry.group == group else ""
            if url:
                yield Action(entry.name, group, entry.label(situation), entry.icon, url, entry.hint(situation))


def main_action(situation: Situation, actions: tuple[Action, ...]) -> Action | None:
    """Return the suggested next step: to fix problems, or to export or convert the chain if it has none or cannot be changed."""
    by_name = {action.name: action for action in actions}
    fix = by_name.get("fix-session" if situation.is_session else "repair") or by_name.get("repair")
    if situation.problems and fix is not None:
        return Action("repair", "fix", f"Fix {count_text(situation.problems, 'problem')}", "repaired", fix.url)
    if situation.is_read_only and "convert" in by_name:
        return Action("convert", "export", "Convert", "convert", by_name["convert"].url)
    return Action("export", "export", "Export", "export", by_name["export"].url) if "export" in by_name else None
