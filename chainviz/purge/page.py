"""The page that purges: what would go is counted first, and only the chain's title, typed, sets it off."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from chainviz.chains.access import chain_for
from chainviz.chains.models import Chain
from chainviz.core.errors import ChainError
from chainviz.purge import MOST_VALUES, SHORTEST, purge, settle, texts_at, values_in
from chainviz.store.chain import StoredChain
from chainviz.store.models import History
from chainviz.store.purge_values import reach
from chainviz.store.versions import head_of
from chainviz.web.redirects import see_other


@require_http_methods(["GET", "HEAD", "POST"])
def purge_page(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    typed = {name: request.POST.get(name, "") for name in ("values", "paths", "title")}
    if request.method != "POST":
        return _page(request, chain, typed)
    try:
        values = (*values_in(typed["values"]), *_texts(chain, typed["paths"]))
        if not values:
            return _page(request, chain, typed, error="Give a value, or the path of a message.")
        found = reach(chain.history, values)
        if request.POST.get("act") != "purge":
            return _page(request, chain, typed, found=found, count=len(values))
        if typed["title"].strip() != chain.title.strip():
            return _page(request, chain, typed, found=found, count=len(values), title_error="This is not the title.")
        purge(chain, values, by=request.user)
    except ChainError as refused:
        return _page(request, chain, typed, error=str(refused))
    if settle():
        messages.success(request, f"Purged: {found.places:,} places are blank now, in every version.")
    else:
        text = "Purged in every version. The database was busy, so freed space in its files may hold old bytes until a VACUUM."
        messages.warning(request, text)
    return see_other("chains:audit", chain.pk)


def _texts(chain: Chain, paths: str) -> tuple[str, ...]:
    words = [word for word in paths.replace(",", " ").split() if word]
    if not words:
        return ()
    head = head_of(History.objects.get(pk=chain.history))
    return texts_at(StoredChain(head.snapshot), words)


def _page(request: HttpRequest, chain: Chain, typed: dict[str, str], **more: object) -> HttpResponse:
    found = more.get("found")
    others = Chain.objects.filter(history__in=found.histories).exclude(pk=chain.pk) if found is not None else ()  # type: ignore[attr-defined]
    context = {"chain": chain, "typed": typed, "others": others, "most": MOST_VALUES, "shortest": SHORTEST, **more}
    failed = "error" in more or "title_error" in more
    return render(request, "chains/purge.html", context, status=422 if failed else 200)
