"""The repair page: what could be mended, chosen fix by fix; the answer is a step of a draft."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.core.errors import ChainError
from chainviz.core.operations.repair import CHOICES, Repair, RepairOptions, propose
from chainviz.core.paths import Path
from chainviz.drafts import services
from chainviz.drafts.access import Ground, ground_of
from chainviz.drafts.repairing import Cards, cards_of, options_in
from chainviz.drafts.views.answers import begun_draft, moved_on, to_draft
from chainviz.web.addresses import small_number

REPAIR = Repair()
READ_AT_ONCE = 4_000
"""Messages of a chain whose contents are checked unasked; in a longer one that takes seconds and is a link."""
READ_IN_SECONDS = 40_000
"""Messages; beyond, a person is told to expect a longer wait."""


@require_http_methods(["GET", "HEAD", "POST"])
def repair(request: HttpRequest, chain_id: int) -> HttpResponse:
    ground = ground_of(request, chain_id)
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(reverse("drafts:repair", args=[chain_id]) + f"?draft={begun.pk}")
    content = "content" in request.GET or len(ground.stored) <= READ_AT_ONCE
    fixes = propose(ground.stored, RepairOptions.model_validate({"content": content}))
    kind = request.GET.get("kind", "")
    kind = kind if kind in CHOICES else ""
    error = ""
    if request.method == "POST":
        if request.POST.get("seen") != ground.seen:
            error = moved_on(ground)
        else:
            try:
                options = options_in(request.POST, fixes, kind, content=content)
                return to_draft(request, *services.change(ground, request.user, REPAIR, options))
            except ChainError as refused:
                error = str(refused)

    def at(path: Path) -> str:
        return f"{ground.explorer}at/{path}#{path.node.dom_id}"

    query = ground.query + ("&content=1" if "content" in request.GET else "")
    cards = cards_of(fixes, kind, small_number(request.GET.get("from", "")) or 0, at, query)
    return render(
        request,
        "drafts/repair.html",
        {"page": _page(request, ground, cards, error, content)},
        status=422 if error else 200,
    )


def _page(request: HttpRequest, ground: Ground, cards: Cards, error: str, content: bool) -> dict[str, object]:
    href, words = ground.back
    return {
        "chain": ground.chain,
        "source_words": ground.words,
        "seen": ground.seen,
        "fixes": cards.cards,
        "cards": cards,
        "lead": cards.lead,
        "error": error,
        "back_href": href,
        "back_words": words,
        "post_href": f"{reverse('drafts:repair', args=[ground.chain.pk])}?{request.GET.urlencode()}",
        "problems_href": f"{ground.explorer}problems",
        "content_href": "" if content else f"{ground.query}&content=1",
        "messages": f"{len(ground.stored):,}",
        "reading_time": "some seconds" if len(ground.stored) <= READ_IN_SECONDS else "a minute or more",
    }
