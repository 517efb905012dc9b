"""The page that compares any two versions of a chain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for, version_of
from chainviz.chains.diff.address import SideLink, query, read_diff_query
from chainviz.chains.diff.changes_page import diff_view, measures_of
from chainviz.chains.diff.compare import Compared, StoredRows, compare
from chainviz.chains.diff.files import FILE, Window, file_view, unfolded
from chainviz.chains.diff.groups import asks_to_unfold, fold_answer
from chainviz.chains.explorer.row_views import NO_NOTES, RowNotes, row_notes
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.exports.downloads import SharedPage, SharedTable, changes_table, share_page
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path
from chainviz.core.counts import count_text
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Version
from chainviz.web.http import url_or_nothing

MOST_CHOICES = 200


@dataclass(frozen=True, slots=True)
class VersionLinks:
    """The addresses of the page of two versions."""

    chain: Chain
    before_number: int
    after_number: int
    restores: bool = False
    """True if the page has the form that restores texts of the version before."""
    edits: bool = True
    """True if the person's role allows edits."""
    comments_allowed: bool = False
    notes: tuple[RowNotes, RowNotes] = (NO_NOTES, NO_NOTES)
    """The notes of the version before and of the one after."""

    @property
    def page(self) -> str:
        return reverse("chains:diff", args=[self.chain.pk, self.before_number, self.after_number])

    def before(self, path: Path) -> str:
        return self._at(self.before_number, path)

    def after(self, path: Path) -> str:
        return self._at(self.after_number, path)

    def edit(self, path: Path) -> str:
        return f"{reverse('drafts:edit', args=[self.chain.pk, path])}?v={self.after_number}" if self.edits else ""

    def comments(self, old: Path | None, new: Path | None) -> tuple[SideLink, ...]:
        """Link to the newer side; to the older one too if it has threads, or if nothing follows it."""
        sides = ((self.before_number, old, self.notes[0]), (self.after_number, new, self.notes[1]))
        found = [(number, path, notes.chips.get(path.node, "")) for number, path, notes in sides if path is not None]
        return tuple(self._comment(*each) for each in found if each[2] or each is found[-1])

    def _comment(self, number: int, path: Path, chip: str) -> SideLink:
        form = url_or_nothing("review:new_thread", self.chain.pk, number) if self.comments_allowed else ""
        href = self._at(number, path) if chip or not form else f"{form}?path={path.node}"
        label = f"{'Threads' if chip else 'Comment'} on {path.node} of version {number}"
        return SideLink(label, href if chip or form else "", chip)

    def restore(self, message: int, part: int | None = None) -> str:
        if not self.restores:
            return ""
        return f"{message}" if part is None else f"{message}.{part}"

    def lines(self, change: int, text: int, row: int) -> str:
        return self.page + query(change=change, text=text or "", row=row or "")

    def _at(self, number: int, path: Path) -> str:
        base = reverse("chains:version", args=[self.chain.pk, number])
        return f"{base}at/{path}#{path.node.dom_id}"


@dataclass(frozen=True, slots=True)
class Choice:
    number: int
    label: str


def compared_of(old: StoredChain, new: StoredChain, links: VersionLinks) -> Compared:
    return Compared(compare(old, new), old, new, StoredRows(old), StoredRows(new), links)


@requires("compare")
@require_safe
def diff(request: HttpRequest, chain_id: int, before: int, after: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    picked = [request.GET.get(name, "") for name in ("a", "b")]
    if all(each.isdecimal() and len(each) < 9 for each in picked):
        return redirect("chains:diff", chain.pk, *map(int, picked))
    old, new = version_of(chain, before), version_of(chain, after)
    links = _links(request, chain, before, after)
    window = Window.of(request)
    if window is not None and window.lines:
        return HttpResponse(unfolded(old.snapshot, new.snapshot, window, links.page))
    if window is not None:
        shown = file_view(old.snapshot, new.snapshot, window, links.page)
    else:
        asked = read_diff_query(request)
        compared = compared_of(StoredChain(old.snapshot), StoredChain(new.snapshot), links)
        if request.GET.get("as") == "html":
            return _share(request, chain, (old, new), compared)
        if asks_to_unfold(request, asked):
            return fold_answer(compared, asked)
        shown = replace(diff_view(compared, asked), file_href=links.page + query(view=FILE))
    page = {
        "chain": chain,
        "before": old,
        "after": new,
        "title": f"Version {before} → {after}",
        "versions": _choices(chain),
        "measures": measures_of(old.snapshot, new.snapshot),
        "diff": shown,
        "restores": links.restores and window is None,
        "swap_href": reverse("chains:diff", args=[chain.pk, after, before]),
        "since_upload_href": "" if before == 1 else reverse("chains:diff", args=[chain.pk, 1, after]),
    }
    return render(request, "chains/diff/diff.html", {"page": page})


def _share(request: HttpRequest, chain: Chain, versions: tuple[Version, Version], compared: Compared) -> HttpResponse:
    old, new = versions
    measures = [(each.name, each.before, each.after, each.change) for each in measures_of(old.snapshot, new.snapshot)]
    page = SharedPage(
        "changes.html",
        f"{chain.title}: version {old.number} → {new.number}",
        f"{count_text(len(compared.diff.changes), 'change')}. Messages that are not listed are the same in both versions.",
        ("The title of the chain", "Counts of both versions", "Each change: its place, kind and size"),
        (SharedTable("Before and after", ("", "Before", "After", "Change"), measures), changes_table(compared.diff)),
    )
    return share_page(request, [(chain, each.number) for each in versions], page)


def _links(request: HttpRequest, chain: Chain, before: int, after: int) -> VersionLinks:
    member = member_of(request)
    edits = member.may("draft")
    return VersionLinks(
        chain,
        before,
        after,
        restores=edits and before != chain.version,
        edits=edits,
        comments_allowed=member.may("comment"),
        notes=(_notes(request, chain.pk, before), _notes(request, chain.pk, after)),
    )


def _notes(request: HttpRequest, chain_id: int, number: int) -> RowNotes:
    subject = version_subject(request, chain_id, number)
    return row_notes(subject, 0, subject.snapshot.messages)


def _choices(chain: Chain) -> list[Choice]:
    newest = Version.objects.filter(history=chain.history).order_by("-number")
    rows = newest.values_list("number", "note")[:MOST_CHOICES]
    return [Choice(number, f"Version {number}" + (f" · {note[:40]}" if note else "")) for number, note in rows]
