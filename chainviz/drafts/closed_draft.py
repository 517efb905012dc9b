"""What was sent to a draft that was saved or discarded meanwhile: 409, with all that was typed and a way on."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.web.errors import typed_texts
from chainviz.web.htmx import page_or_fragment


class DraftGone(Exception):
    """The draft that a request is about can no longer be changed."""

    def __init__(self, chain: Chain, draft: Draft | None = None) -> None:
        super().__init__("The draft was saved or discarded.")
        self.chain = chain
        self.draft = draft
        """None where it was deleted."""


class DraftGoneMiddleware:
    """Answers DraftGone, whichever page raises it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

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
            # the same form, for what the chain holds now
            "again_href": f"{request.path}?v={saved_as or chain.version}" if "draft" in request.GET else "",
        }
        whole, fragment = "drafts/preview/conflict_gone.html", "drafts/preview/_gone.html"
        return page_or_fragment(request, whole, fragment, {"page": page}, status=409)
