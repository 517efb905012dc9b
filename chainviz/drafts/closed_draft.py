"""Answer forms of drafts that were saved or discarded meanwhile: status 409, with all typed text and a way to continue."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.web.errors import typed_texts
from chainviz.web.http import page_or_fragment
from chainviz.web.middleware import Middleware


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
