"""The explorer's page: the chain's numbers, its verdicts and what can be done with it, around a window of rows."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.inspector import NodePage, earlier_address, node_page
from chainviz.chains.explorer.minimap import minimap_blocks
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.view_state import KINDS, ViewState
from chainviz.chains.explorer.windows import WindowPage, around, reading_of, window_page
from chainviz.chains.models import Chain
from chainviz.chains.render.minimap import minimap_svg
from chainviz.chains.render.numbers import count_text, share_text
from chainviz.core.chain.paths import Path
from chainviz.core.formats import FORMATS
from chainviz.core.operations import OPERATIONS
from chainviz.core.providers import PROVIDERS
from chainviz.store.content.codec import unpack
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.query.windows import Window
from chainviz.web.formatting.token_estimate import token_text
from chainviz.web.query_params import url_or_nothing


@dataclass(frozen=True, slots=True)
class Action:
    label: str
    icon: str
    url: str
    count: int = 0
    downloads: bool = False


@dataclass(frozen=True, slots=True)
class VerdictChip:
    name: str
    label: str
    state: str
    icon: str
    text: str


@dataclass(frozen=True)
class ExplorerPage:
    """Everything the template needs; it computes nothing."""

    chain: Chain
    number: int | None
    """Of the version; None for a draft."""
    draft_id: int | None
    heading: str
    chain_title: str
    title: str
    base_url: str
    is_head: bool
    head_url: str
    versions_url: str
    edit_address: str
    first_edit_url: str
    """Where an empty chain gets its first message."""
    earlier_address: str
    format_label: str
    problems: int
    problems_text: str
    verdicts: tuple[VerdictChip, ...]
    size: int
    tokens: str
    messages_text: str
    actions: tuple[Action, ...]
    bytes_line: str
    minimap: SafeString
    window: WindowPage
    inspector: NodePage | None
    current: str
    text: str
    kinds: tuple[tuple[str, str], ...] = KINDS


def explorer_page(subject: Subject, view: ViewState, found: Window | None = None, at: Path | None = None) -> ExplorerPage:
    """`found`: the window somebody asked for; `at`: the node in its sight, which is open."""
    chain, snapshot = subject.stored, subject.snapshot
    current = at.node if at is not None else None
    if at is not None:
        view = view.with_open(at)
    if found is None:
        found = around(chain, current or Path(1), view.folds)
    repair_url = repair_url_of(subject)
    problems = _problem_count(subject)
    return ExplorerPage(
        chain=subject.chain,
        number=subject.version,
        draft_id=subject.draft_id,
        heading=f"{subject.chain.title} · {subject.title}",
        chain_title=subject.chain.title,
        title=subject.title,
        base_url=subject.base_url,
        is_head=subject.is_head,
        head_url=url_or_nothing("chains:chain", subject.chain.pk),
        versions_url=url_or_nothing("chains:versions", subject.chain.pk),
        edit_address=edit_address(subject),
        first_edit_url=edit_url_of(subject, Path(1)),
        earlier_address=earlier_address(subject, "PATH"),
        format_label=format_label(snapshot.format),
        problems=problems,
        problems_text=count_text(problems, "problem"),
        verdicts=_verdicts(subject),
        size=snapshot.size,
        tokens=token_text(snapshot.size),
        messages_text=count_text(snapshot.messages, "message"),
        actions=_actions(subject, repair_url, problems),
        bytes_line=_bytes_line(subject),
        minimap=mark_safe(minimap_svg(minimap_blocks(chain, _body_role(subject)), subject.base_url)),  # escaped by the renderer
        window=window_page(subject, view, reading_of(subject, view, repair_url), found),
        inspector=node_page(subject, current) if current is not None else None,
        current=str(current or ""),
        text="plain" if view.as_written else "markdown",
    )


def format_label(name: str) -> str:
    return next((each.label for each in FORMATS if each.name == name), name)


def repair_url_of(subject: Subject) -> str:
    url = url_or_nothing("drafts:repair", subject.chain.pk)
    return f"{url}?{subject.edit_query}" if url else ""


def edit_address(subject: Subject) -> str:
    """Where a node is edited; PATH stands for its path."""
    url = url_or_nothing("drafts:edit", subject.chain.pk, "s1.p1")
    return f"{url.replace('s1.p1', 'PATH')}?{subject.edit_query}" if url else ""


def edit_url_of(subject: Subject, path: Path) -> str:
    return edit_address(subject).replace("PATH", str(path))


def _problem_count(subject: Subject) -> int:
    return subject.outline.errors + subject.outline.warnings


def _verdicts(subject: Subject) -> tuple[VerdictChip, ...]:
    counts = unpack(subject.outline.verdicts)
    chips = []
    for provider in PROVIDERS:
        errors, warnings, _ = counts.get(provider.name, [0, 0, 0])
        if errors:
            said = ("problem", "failed", f"would reject it: {count_text(errors, 'error')}")
        elif warnings:
            said = ("changed", "info", f"takes it, with {count_text(warnings, 'warning')}")
        else:
            said = ("ok", "ok", "takes it as it is")
        chips.append(VerdictChip(provider.name, provider.label, *said))
    return tuple(chips)


ICONS = {"convert": "convert", "redact": "redacted", "mask": "shield", "summarize": "summary", "compact": "compact"}
"""Of operations; another one gets the icon for settings."""


def _actions(subject: Subject, repair_url: str, problems: int) -> tuple[Action, ...]:
    actions = []
    if repair_url:
        actions.append(Action("Repair", "repaired", repair_url, problems))
    for operation in OPERATIONS:
        # repair stands above, and an edit begins at a node
        url = "" if operation.name in ("repair", "edit") else url_or_nothing("drafts:operation", subject.chain.pk, operation.name)
        if url:
            actions.append(Action(operation.label, ICONS.get(operation.name, "settings"), f"{url}?{subject.edit_query}"))
    actions.append(Action("Export", "export", f"{subject.base_url}export"))
    return tuple(actions)


def _body_role(subject: Subject) -> str:
    roles = unpack_charts(subject.outline.charts).roles
    sizes = {role: roles[role][1] for role in ("tool", "ai") if role in roles}
    return max(sizes, key=lambda role: sizes[role], default="tool")


def _bytes_line(subject: Subject) -> str:
    roles = unpack_charts(subject.outline.charts).roles
    if not roles or not subject.snapshot.size:
        return ""
    words = {"tool": "tool results", "ai": "AI messages", "human": "human messages", "system": "system messages"}
    role, (_, size) = max(roles.items(), key=lambda item: item[1][1])
    return f"{share_text(size, subject.snapshot.size)} is in {words.get(role, 'other messages')}"
