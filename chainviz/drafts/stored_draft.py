"""The steps of a draft and its content after them, and answers for drafts that were saved or discarded meanwhile.

Such an answer has status 409, all typed text, and a way to continue.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.store.history import drafts as store
from chainviz.store.models import Snapshot, Step
from chainviz.web.errors import typed_texts
from chainviz.web.http import page_or_fragment
from chainviz.web.middleware import Middleware


@dataclass(frozen=True, slots=True)
class Steps:
    all: tuple[Step, ...]
    cursor: int
    """The number of applied steps. All later ones were undone."""

    def at(self, position: int) -> Step | None:
        return self.all[position] if 0 <= position < len(self.all) else None

    @property
    def can_undo(self) -> bool:
        return self.cursor > 0

    @property
    def can_redo(self) -> bool:
        return self.cursor < len(self.all)

    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The states after each step up to the cursor, in order."""
        return tuple(step.snapshot for step in self.all[: self.cursor])


def snapshot_of(draft: Draft) -> Snapshot:
    return store.current(draft.stored)


def steps_of(draft: Draft) -> Steps:
    return Steps(store.steps(draft.stored), draft.stored.cursor)


class DraftGone(Exception):
    """Raised if the draft of a request can no longer be changed."""

    def __init__(self, chain: Chain, draft: Draft | None = None) -> None:
        super().__init__("The draft was saved or discarded.")
        self.chain = chain
        self.draft = draft
        """The draft, or None if it was deleted."""


class DraftGoneMiddleware(Middleware):
    """Answers DraftGone from any page."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DraftGone):
            return None
        chain, draft = exception.chain, exception.draft
        saved_as = draft.saved_as if draft is not None else None
        page = {
            "chain": chain,
            "draft": draft,
            "saved_as": saved_as,
            "typed": list(typed_texts(request)),
            # the same form for the current content of the chain
            "again_href": f"{request.path}?v={saved_as or chain.version}" if "draft" in request.GET else "",
        }
        whole, fragment = "drafts/preview/conflict_gone.html", "drafts/preview/_gone.html"
        return page_or_fragment(request, whole, fragment, {"page": page}, status=409)
