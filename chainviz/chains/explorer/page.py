"""The page of the explorer: the chain's numbers, verdicts and actions around a window of rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Model
from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.explorer.actions import GROUPS, Action, Situation, actions_of, main_action
from chainviz.chains.explorer.inspector import ChainFacts, NodePage, chain_facts, earlier_address, node_page
from chainviz.chains.explorer.overview import overview_of
from chainviz.chains.explorer.rendered_window import WindowPage, draw_windows, first_windows, outline_around, reading_of
from chainviz.chains.explorer.row_views import Drawing, draw_once
from chainviz.chains.explorer.subject import KINDS, Subject, ViewState
from chainviz.chains.models import Chain
from chainviz.chains.render.minimap import minimap_svg
from chainviz.chains.usage import UsageView, usage_view
from chainviz.chains.verdicts import VerdictView, is_fully_read, verdict_view
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.core.formats import format_label, read_only
from chainviz.core.providers.check import Verdict
from chainviz.store.content.codec import unpack
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.query.windows import Window
from chainviz.web.formatting import share_text
from chainviz.web.http import url_or_nothing


@dataclass(frozen=True, slots=True)
class HealthRow:
    """The verdict of one provider on the next call."""

    label: str
    is_own: bool
    verdict: VerdictView
    query: str


@dataclass(frozen=True, slots=True)
class Health:
    provider: str
    """The name of the company behind the chain's own provider."""
    verdict: VerdictView
    """The verdict of the chain's own provider."""
    structure: VerdictView
    is_unread: bool
    """True if some content of the document was not understood."""
    summary: str
    """The number of providers that accept the chain, such as `Accepted by 2 of 12 providers`."""
    rows: tuple[HealthRow, ...]

    @property
    def own_query(self) -> str:
        return self.rows[0].query


@dataclass(frozen=True, slots=True)
class Menu:
    name: str
    label: str
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class ExplorerPage:
    """The values of the page. The template computes nothing."""

    chain: Chain
    number: int | None
    """The number of the version; None for a draft."""
    draft: Model | None
    open_version: int | None
    """The number of the version, or of the draft's base."""
    title: str
    """The title of the version or draft."""
    base_url: str
    is_head: bool
    head_url: str
    versions_url: str
    edit_address: str
    comment_address: str
    """The address for a comment on a node, with PATH in place of the path."""
    first_edit_url: str
    """The address of the form for the first message of an empty chain."""
    earlier_address: str
    format_label: str
    problems: int
    health: Health
    unsent_problems: int
    """The number of errors in messages that an agent no longer sends."""
    lost: Sequence[str]
    """Sentences on content that the agent does not send again when it resumes the session."""
    size: int
    usage: UsageView
    messages_text: str
    menus: tuple[Menu, ...]
    main_action: Action | None
    read_only: str
    """The reason why the chain cannot be changed; "" if it can."""
    convert_url: str
    bytes_line: str
    minimap: SafeString
    window: WindowPage
    outline: WindowPage
    """The same rows, without folds."""
    inspector: NodePage | None
    facts: ChainFacts | None
    """The facts of the chain, if no node is selected."""
    current: str
    text: str
    kinds: tuple[tuple[str, str], ...] = KINDS

    @property
    def key_features(self) -> str:
        """The facts that decide which keyboard shortcuts are active."""
        present = {
            "search": True,
            "edit undo": bool(self.edit_address),
            "save-bar": self.draft is not None,
            "comment-here": bool(self.comment_address),
            "threads-here review": self.number is not None,
        }
        return " ".join(words for words, is_present in present.items() if is_present)

    @property
    def plain_links(self) -> tuple[tuple[str, str, str], ...]:
        """The address, icon and words of each action for the selected node, for a browser without JavaScript."""
        if self.inspector is None:
            return ()
        found = ((self.edit_address, "edit", "Edit"), (self.comment_address, "comment", "Comment"))
        return tuple((url.replace("PATH", str(self.inspector.path)), icon, words) for url, icon, words in found if url)


def explorer_page(subject: Subject, view: ViewState, found: Window | None = None, at: Path | None = None) -> ExplorerPage:
    """Return the page. `found` is the requested window, and `at` the selected node, which is open."""
    snapshot = subject.snapshot
    current = at.node if at is not None else None
    view = view.with_open(at) if at is not None else view
    parts = _parts(subject, view, found, current)
    situation = Situation(subject)
    actions = tuple(actions_of(situation))
    return ExplorerPage(
        chain=subject.chain,
        number=subject.version,
        draft=subject.draft,
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
        problems=situation.structure_problems,
        health=_health(situation),
        unsent_problems=situation.unsent_problems,
        lost=situation.lost,
        size=snapshot.size,
        usage=parts.usage,
        messages_text=count_text(snapshot.messages, "message"),
        menus=_menus(actions),
        main_action=main_action(situation, actions),
        read_only=read_only(snapshot.format),
        convert_url=subject.change_url("drafts:operation", "convert"),
        bytes_line=_bytes_line(subject),
        minimap=parts.minimap,
        window=parts.window,
        outline=parts.outline,
        inspector=node_page(subject, current) if current is not None else None,
        facts=parts.facts if current is None else None,
        current=str(current or ""),
        text="plain" if view.as_written else "markdown",
    )


@dataclass(frozen=True, slots=True)
class PageParts:
    """The parts of a page that depend only on the content and the view."""

    window: WindowPage
    outline: WindowPage
    minimap: SafeString
    usage: UsageView
    facts: ChainFacts


def _parts(subject: Subject, view: ViewState, found: Window | None, current: Path | None) -> PageParts:
    def draw() -> Drawing[PageParts]:
        reading = reading_of(subject, view, repair_url_of(subject))
        if found is None:
            window, listed = first_windows(subject.stored, current or Path(1), view)
        else:
            window, listed = found, outline_around(subject.stored, found.rows[0].path if found.rows else Path(1), view)
        drawn = draw_windows(subject, view, reading, window, listed)
        overview = overview_of(subject.stored, subject.outline, subject.overview)
        minimap = mark_safe(minimap_svg(overview.changed_blocks(subject.changed), subject.base_url))  # escaped by the renderer
        usage = usage_view(overview.usage, overview.times, subject.snapshot.size, overview.warning)
        parts = PageParts(*drawn.value, minimap, usage, chain_facts(subject, overview))
        return Drawing(parts, drawn.span, drawn.notes, drawn.length)

    return draw_once(subject, ("page", view, current), draw) if found is None else draw().value


def repair_url_of(subject: Subject) -> str:
    return "" if read_only(subject.snapshot.format) else subject.change_url("drafts:operation", "repair")


def edit_address(subject: Subject) -> str:
    """Return the address of the edit form, with PATH in place of the path; "" if the format or the person's role forbids edits."""
    url = "" if read_only(subject.snapshot.format) else subject.change_url("drafts:edit", "s1.p1")
    return url.replace("s1.p1", "PATH")


def comment_address(subject: Subject) -> str:
    """Return the address for comments; "" for a draft, which only its author sees, or if the person may not comment."""
    may = "comment" in subject.permissions and subject.version is not None
    url = url_or_nothing("review:new_thread", subject.chain.pk, subject.version) if may else ""
    return f"{url}?path=PATH" if url else ""


def edit_url_of(subject: Subject, path: Path) -> str:
    return edit_address(subject).replace("PATH", str(path))


def _menus(actions: tuple[Action, ...]) -> tuple[Menu, ...]:
    menus = (Menu(name, label, tuple(each for each in actions if each.group == name)) for name, label in GROUPS.items())
    return tuple(menu for menu in menus if menu.actions)


def _health(situation: Situation) -> Health:
    """Return the verdict of the chain's own provider, and the verdicts of all providers."""
    verdicts = situation.verdicts
    others = sorted(verdicts, key=lambda provider: provider is not situation.provider)
    rows = tuple(
        HealthRow(provider.label, provider is situation.provider, verdict_view(verdicts[provider]), f"?provider={provider.name}")
        for provider in others
    )
    problems = situation.structure_problems
    unread = not is_fully_read(unpack(situation.subject.outline.verdicts))
    structure = VerdictView("problem", "problem", count_text(problems, "problem")) if problems else VerdictView("ok", "ok", "valid")
    if unread and not problems:
        structure = VerdictView("changed", "info", "not fully read")
    return Health(situation.provider.speaker, rows[0].verdict, structure, unread, _summary(verdicts.values()), rows)


def _summary(verdicts: Collection[Verdict]) -> str:
    accepting = sum(verdict.state == "accepted" for verdict in verdicts)
    if accepting:
        return f"Accepted by {accepting} of {len(verdicts)} providers"
    if all(verdict.state == "rejected" for verdict in verdicts):
        return f"Refused by all {len(verdicts)} providers"
    return "Not fully checked for any provider"


def _bytes_line(subject: Subject) -> str:
    roles = unpack_charts(subject.outline.charts).roles
    if not roles or not subject.snapshot.size:
        return ""
    words = {"tool": "tool results", "ai": "AI messages", "human": "human messages", "system": "system messages"}
    role, (_, size) = max(roles.items(), key=lambda item: item[1][1])
    return f"{share_text(size, subject.snapshot.size)} is in {words.get(role, 'other messages')}"
