"""Show the changes of a fix in the chains of a session, like the comparison of two versions: side by side, one window at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest, HttpResponse

from chainviz.api.chain import Chain, Result
from chainviz.api.comparison import diff
from chainviz.api.tree_text import report_line
from chainviz.chains.diff import diff_html
from chainviz.chains.diff.address import DiffQuery, NoLinks, read_diff_query, with_query
from chainviz.chains.diff.changes_page import DiffView, diff_view
from chainviz.chains.diff.compare import Compared
from chainviz.chains.diff.diff_html import Sentence
from chainviz.chains.diff.groups import fold_answer
from chainviz.core.counts import count_text
from chainviz.core.diff.rows import ShapeRows
from chainviz.fixes.fix import RESPELLED
from chainviz.store.content.message_shapes import shape_of
from chainviz.web.http import small_number

MOST_CHAINS = 20
"""The most chains of a file that are shown."""
UNCHANGED = DiffView(0, "", (), diff_html.render([]), "split", "")


class Differences:
    """The differences of one page. Its address names a window of one chain; the other chains show their first window."""

    def __init__(self, request: HttpRequest, page: str) -> None:
        self._page = page
        self._asked = read_diff_query(request)
        self._chain = small_number(request.GET.get("chain", "")) or 1

    def view(self, before: Chain, result: Result) -> DiffView:
        if result.chain is before or _number(before) > MOST_CHAINS:
            return UNCHANGED
        compared = self._compared(before, result)
        if compared.diff.counts:
            return diff_view(compared, self._query_for(before))
        lines = [Sentence("changed", report_line(row)) for row in result.report]
        return replace(UNCHANGED, total=len(lines), html=diff_html.render_rows(lines), note=RESPELLED)

    def unfolded(self, before: Chain, result: Result) -> HttpResponse | None:
        """Return the lines or nodes that the address unfolds; None for a chain that it does not name."""
        if _number(before) != self._chain:
            return None
        return fold_answer(self._compared(before, result), self._query_for(before))

    def _query_for(self, chain: Chain) -> DiffQuery:
        number, total = _number(chain), len(chain.file.chains)
        asked = self._asked if number == self._chain else DiffQuery(layout=self._asked.layout)
        scope = f"chain-{number}-" if total > 1 else ""
        return replace(asked, room=asked.room // min(total, MOST_CHAINS), scope=scope)

    def _compared(self, before: Chain, result: Result) -> Compared:
        after = result.chain
        # the nodes of a file on disk have no page
        links = NoLinks(with_query(self._page, chain=_number(before)) if len(before.file.chains) > 1 else self._page)
        return Compared(diff(before, after).chains, before.core, after.core, _rows(before), _rows(after), links)


def together(views: Sequence[DiffView]) -> DiffView:
    """Return the values of the bar above several differences."""
    some = next((view for view in views if view.total), UNCHANGED)
    total = sum(view.total for view in views)
    return replace(some, total=total, heading=count_text(total, "change"), legend=())


def _rows(chain: Chain) -> ShapeRows:
    """Return the chain as a side of a comparison, with the first words of each message."""
    return ShapeRows([shape_of(message) for message in chain.messages])


def _number(chain: Chain) -> int:
    """Return the number of the chain in its file, from 1."""
    return next(number for number, each in enumerate(chain.file.chains, 1) if each is chain.loaded)
