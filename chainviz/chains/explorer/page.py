"""The explorer's page: the chain's numbers, its verdicts and what can be done with it, around a window of rows."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.inspector import NodePage, earlier_address, node_page
from chainviz.chains.explorer.overview.chain_facts import ChainFacts, chain_facts
from chainviz.chains.explorer.overview.minimap_blocks import MOST_ROWS, minimap_blocks
from chainviz.chains.explorer.rendered_window import WindowPage, around, outline_page, reading_of, window_page
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.view_state import KINDS, ViewState
from chainviz.chains.models import Chain
from chainviz.chains.render.drawings.minimap import minimap_svg
from chainviz.chains.render.numbers import count_text, share_text
from chainviz.chains.usage import UsageView, usage_view
from chainviz.chains.verdicts import VerdictView, is_fully_read, own_and_others, structure_text, verdict_view
from chainviz.core.chain.paths import Path
from chainviz.core.formats import format_label, read_only
from chainviz.core.operations import OPERATIONS
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.query.windows import ALL_OPEN, Window
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
    short_label: str
    """The company where that is enough here."""
    view: VerdictView


@dataclass(frozen=True)
class ExplorerPage:
    """Everything the template needs; it computes nothing."""

    chain: Chain
    number: int | None
    """Of the version; None for a draft."""
    draft_id: int | None
    open_version: int | None
    """The version itself, or the one that a draft changes."""
    title: str
    """Of the version or the draft."""
    base_url: str
    is_head: bool
    head_url: str
    versions_url: str
    edit_address: str
    comment_address: str
    """Where a comment on a node begins; PATH is to be replaced by its path."""
    first_edit_url: str
    """Where an empty chain gets its first message."""
    earlier_address: str
    format_label: str
    problems: int
    is_fully_read: bool
    verdicts: tuple[VerdictChip, ...]
    size: int
    usage: UsageView
    messages_text: str
    actions: tuple[Action, ...]
    more_actions: tuple[Action, ...]
    read_only: str
    """Why the chain cannot be changed; "" where it can."""
    convert_url: str
    bytes_line: str
    minimap: SafeString
    window: WindowPage
    outline: WindowPage
    """The same rows, without folds."""
    inspector: NodePage | None
    facts: ChainFacts | None
    """Of the chain, where no node is selected."""
    current: str
    text: str
    kinds: tuple[tuple[str, str], ...] = KINDS

    @property
    def problems_text(self) -> str:
        return structure_text(self.problems) if self.problems or self.is_fully_read else "not fully read"

    @property
    def plain_links(self) -> tuple[tuple[str, str, str], ...]:
        """Address, icon and words of what a row's action bar does with the selected node, for a browser without scripts."""
        if self.inspector is None:
            return ()
        found = ((self.edit_address, "edit", "Edit"), (self.comment_address, "comment", "Comment"))
        return tuple((url.replace("PATH", str(self.inspector.path)), icon, words) for url, icon, words in found if url)


def explorer_page(subject: Subject, view: ViewState, found: Window | None = None, at: Path | None = None) -> ExplorerPage:
    """`found`: the window somebody asked for; `at`: the node in its sight, which is open."""
    snapshot = subject.snapshot
    current = at.node if at is not None else None
    view = view.with_open(at) if at is not None else view
    load_outline(subject.stored)
    found = found or around(subject.stored, current or Path(1), view.folds)
    window = window_page(subject, view, reading_of(subject, view, repair_url_of(subject)), found)
    return ExplorerPage(
        chain=subject.chain,
        number=subject.version,
        draft_id=subject.draft_id,
        open_version=subject.base.number if subject.base is not None else subject.version,
        title=subject.title,
        base_url=subject.base_url,
        is_head=subject.is_head,
        head_url=url_or_nothing("chains:chain", subject.chain.pk),
        versions_url=url_or_nothing("chains:versions", subject.chain.pk),
        edit_address=edit_address(subject),
        comment_address=comment_address(subject),
        first_edit_url=edit_url_of(subject, Path(1)),
        earlier_address=earlier_address(subject, "PATH"),
        format_label=format_label(snapshot.format),
        problems=_problem_count(subject),
        is_fully_read=is_fully_read(unpack(subject.outline.verdicts)),
        verdicts=_verdicts(subject),
        size=snapshot.size,
        usage=usage_view(subject.outline, snapshot.size),
        messages_text=count_text(snapshot.messages, "message"),
        actions=_actions(subject),
        more_actions=_more_actions(subject),
        read_only=read_only(snapshot.format),
        convert_url=subject.change_url("drafts:operation", "convert"),
        bytes_line=_bytes_line(subject),
        minimap=_minimap(subject),
        window=window,
        outline=_outline(subject, window),
        inspector=node_page(subject, current) if current is not None else None,
        facts=chain_facts(subject) if current is None else None,
        current=str(current or ""),
        text="plain" if view.as_written else "markdown",
    )


def _minimap(subject: Subject) -> SafeString:
    blocks = minimap_blocks(subject.stored, _body_role(subject), subject.changed)
    return mark_safe(minimap_svg(blocks, subject.base_url))  # escaped by the renderer


def _outline(subject: Subject, window: WindowPage) -> WindowPage:
    """Lists the pairs of a folded run, too: each can be gone to."""
    if all(row.kind != "run" for row in window.rows):
        return window
    return outline_page(subject, around(subject.stored, window.rows[0].path, ALL_OPEN))


def load_outline(chain: StoredChain) -> None:
    """In one query: all of a short chain, of a long one the beginning, which is where people arrive."""
    listing = chain.outline.listing
    blocks = None if listing.total.rows <= MOST_ROWS else 1
    chain.outline.blocks.load(
        (entry.digest for entry in listing.rows[:blocks]), (entry.digest for entry in listing.sections[:blocks])
    )


def repair_url_of(subject: Subject) -> str:
    return "" if read_only(subject.snapshot.format) else subject.change_url("drafts:operation", "repair")


def edit_address(subject: Subject) -> str:
    """Where a node is edited; PATH is to be replaced by its path. Empty where the format or the role allows no edit."""
    url = "" if read_only(subject.snapshot.format) else subject.change_url("drafts:edit", "s1.p1")
    return url.replace("s1.p1", "PATH")


def comment_address(subject: Subject) -> str:
    """Empty for a draft, which only its author sees, and where the role allows no comment."""
    may = "comment" in subject.permissions and subject.version is not None
    url = url_or_nothing("review:new_thread", subject.chain.pk, subject.version) if may else ""
    return f"{url}?path=PATH" if url else ""


def edit_url_of(subject: Subject, path: Path) -> str:
    return edit_address(subject).replace("PATH", str(path))


def _problem_count(subject: Subject) -> int:
    return subject.outline.errors + subject.outline.warnings


def _verdicts(subject: Subject) -> tuple[VerdictChip, ...]:
    """Of the chain's own providers; the last sums up all and has no name."""
    own, all_said = own_and_others(unpack(subject.outline.verdicts), subject.snapshot.format)
    speakers = [each.speaker for each in own]
    chips = [
        VerdictChip(
            each.name, each.label, each.speaker if speakers.count(each.speaker) == 1 else each.label, verdict_view(verdict)
        )
        for each, verdict in own.items()
    ]
    return (*chips, VerdictChip("", "", "", all_said))


ELSEWHERE = ("repair", "edit", "observations")
"""Operations that begin in another place: in front of the others, at a node, on the page of observations."""


def _actions(subject: Subject) -> tuple[Action, ...]:
    actions = []
    repair_url, problems = repair_url_of(subject), _problem_count(subject)
    if repair_url:
        actions.append(Action("Repair", "repaired", repair_url, problems))
    fixed = read_only(subject.snapshot.format)
    for operation in OPERATIONS:
        is_here = operation.name == "convert" if fixed else operation.name not in ELSEWHERE
        url = subject.change_url("drafts:operation", operation.name) if is_here else ""
        if url:
            actions.append(Action(operation.label, operation.badge.icon, url))
    fix_url = url_or_nothing("fix_session", subject.chain.pk)
    if fix_url and subject.version is not None and (problems or hasattr(subject.chain, "local_file")):
        actions.append(Action("Fix for resuming", "repaired", fix_url))
    actions.append(Action("Export", "export", f"{subject.base_url}export"))
    return tuple(actions)


def _more_actions(subject: Subject) -> tuple[Action, ...]:
    """Those of the menu: a header holds one line of actions at 1,440 pixels."""
    actions = [Action("Observations", "tool", f"{subject.base_url}observations")]
    recipe_url = "" if read_only(subject.snapshot.format) else subject.change_url("drafts:recipe")
    if recipe_url:
        actions.append(Action("Run a recipe", "paste", recipe_url))
    state_url = url_or_nothing("drafts:state", subject.chain.pk)
    if state_url:
        actions.append(Action("State", "panel", f"{state_url}?{subject.edit_query}"))
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
