"""A run of summaries: its page, the fragments it is kept fresh with, and what a person does to it and to its pieces."""

from __future__ import annotations

from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.permissions import requires
from chainviz.core.errors import ChainError, Refused
from chainviz.drafts.operations.choices import to_draft
from chainviz.drafts.summaries import runs
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.drafts.summaries.run_cards import CARDS, PieceView, piece_view, run_page
from chainviz.drafts.summaries.summary_choices import prompt_answer
from chainviz.web.formatting import for_field, from_field
from chainviz.web.http import see_other, small_number, wants_fragment

PURGED = "Values were purged from this chain after the text was opened. Remove them from the text, then save it again."
LAST_POLL = 286
"""The status that tells htmx to stop polling."""


@requires("draft")
@require_safe
def summaries(request: HttpRequest, chain_id: int, run_id: int) -> HttpResponse:
    run = runs.run_for(request, chain_id, run_id)
    opened = small_number(request.GET.get("open", ""))
    page = run_page(run, _first(request), () if opened is None else (opened,))
    return _vary(render(request, "drafts/summaries/summaries.html", {"page": page}))


@requires("draft")
@require_safe
def status(request: HttpRequest, chain_id: int, run_id: int) -> HttpResponse:
    """Return the bar above the pieces, and those that changed since the page was rendered; `have` tells how they
    looked, and which are open: these stay so. A piece that now needs a look leaves the group for the cards.
    One request a second for the whole page: a piece in which somebody writes is not replaced unless its state changes.
    """
    run = runs.run_for(request, chain_id, run_id)
    if not wants_fragment(request):
        return see_other(reverse("drafts:summaries", args=[chain_id, run_id]))
    have, opened = _looks(request.GET.get("have", ""))
    page = run_page(run, _first(request), opened)
    now = {view.pk: view for view in page.pieces}
    moved = {pk for pk, view in now.items() if pk in have and view.is_card and have[pk] not in CARDS}
    context = {
        "page": page,
        "is_poll": True,
        "added": [view for pk, view in now.items() if (have and pk not in have) or pk in moved],
        "changed": [
            view for pk, view in now.items() if pk in have and pk not in moved and (view.looks == "writing" or view.mark != have[pk])
        ],
        "gone": sorted(have.keys() - now.keys() | moved),
    }
    status = 200 if page.is_writing else LAST_POLL
    return _vary(render(request, "drafts/summaries/_summary_status.html", context, status=status))


def _looks(words: str) -> tuple[dict[int, str], set[int]]:
    """Read the looks of pieces from a request, such as `12:waiting,13:ready:open`."""
    looks: dict[int, str] = {}
    opened: set[int] = set()
    for word in words[:20_000].split(","):
        text, look, mark, *_ = (*word.split(":"), "", "")
        if (number := small_number(text)) is not None:
            looks[number] = look
            if mark == "open":
                opened.add(number)
    return looks, opened


def _first(request: HttpRequest) -> int:
    return small_number(request.GET.get("from", "")) or 0


@requires("draft")
@require_safe
def piece(request: HttpRequest, chain_id: int, run_id: int, piece_id: int) -> HttpResponse:
    """Show one piece with its text."""
    run, row = _piece(request, chain_id, run_id, piece_id)
    if not wants_fragment(request):
        return _to_piece(run, row)
    context = {"page": {"run": run, "chain": run.chain}, "piece": _view(run, row)}
    return _vary(render(request, "drafts/summaries/_summary_piece.html", context))


@requires("draft")
@require_safe
def prompt(request: HttpRequest, chain_id: int, run_id: int, piece_id: int) -> HttpResponse:
    run, row = _piece(request, chain_id, run_id, piece_id)
    # planned without the texts that came later, the piece is there even where others made it needless
    planned = runs.plan_of(run)
    found = next((each for each in planned.pieces if each.key == row.key), None)
    if found is None:
        raise Http404("This piece is no longer in the plan.")
    asked = planned.request(found).with_hint(row.hint)
    return prompt_answer(request, asked, f"{request.path}?", runs.target_of_run(run))


@requires("draft")
@require_POST
def do(request: HttpRequest, chain_id: int, run_id: int) -> HttpResponse:
    """`act`: go on, try what failed again, stop, take the summaries over, or throw them away."""
    run = runs.run_for(request, chain_id, run_id)
    act = request.POST.get("act", "")
    address = reverse("drafts:summaries", args=[chain_id, run_id])
    try:
        if act == "take":
            return to_draft(runs.take(run))
        if act == "go" and run.writer != runs.MANUAL:
            runs.write_rest(run)
        elif act == "retry" and run.writer != runs.MANUAL:
            runs.write_failed(run)
        elif act == "stop":
            runs.stop(run)
        elif act == "discard":
            runs.discard(run)
            messages.info(request, "The summaries were discarded; the chain is unchanged.")
            address = reverse("chains:chain", args=[chain_id])
    except ChainError as refused:
        messages.error(request, str(refused))
    return see_other(address)


@requires("draft")
@require_POST
def do_piece(request: HttpRequest, chain_id: int, run_id: int, piece_id: int) -> HttpResponse:
    """`act`: save the text, write it again, decline it, bring it back, or add lost facts (`add:kind`, `add:kind:fact`)."""
    run, row = _piece(request, chain_id, run_id, piece_id)
    typed = from_field(request.POST.get("text", ""), row.text)
    error = ""
    try:
        _act(request, row, typed)
    except ChainError as refused:
        error = str(refused)
    row.refresh_from_db()
    view = _view(run, row)
    if error:
        view = replace(view, error=error, text=for_field(typed) if "text" in request.POST else view.text)
    if not wants_fragment(request):
        return _refused(request, run, view) if error else _to_piece(run, row)
    added = request.POST.get("act", "").removeprefix("add:").partition(":")[0]
    context = {"page": run_page(run), "piece": view, "is_open": True, "added_kind": added}
    answer = render(request, "drafts/summaries/_summary_piece_done.html", context, status=422 if error else 200)
    return _vary(answer)


def _refused(request: HttpRequest, run: SummaryRun, piece: PieceView) -> HttpResponse:
    """Show the page with the piece again, with the typed text in it."""
    page = run_page(run)
    while page.next_first and all(each.pk != piece.pk for each in page.pieces):
        page = run_page(run, page.next_first)
    pieces = tuple(piece if each.pk == piece.pk else each for each in page.pieces)
    return _vary(render(request, "drafts/summaries/summaries.html", {"page": replace(page, pieces=pieces)}, status=422))


def _act(request: HttpRequest, row: SummaryPiece, typed: str) -> None:
    act, _, rest = request.POST.get("act", "save").partition(":")
    if act in ("add", "save") and request.POST.get("edition") != str(runs.target_of_run(row.run).stored.snapshot.history.edition):
        raise Refused(PURGED)
    if act == "again":
        runs.write_again(row, request.POST.get("hint", ""))
    elif act == "decline":
        runs.decline(row)
    elif act == "back":
        runs.bring_back(row)
    elif act == "add":
        kind, _, fact = rest.partition(":")
        runs.add_facts(row, typed, kind, fact)
    elif act == "save":
        runs.put_text(row, typed)
    else:
        raise Refused("This button does not exist. Reload the page and try again.")


def _piece(request: HttpRequest, chain_id: int, run_id: int, piece_id: int) -> tuple[SummaryRun, SummaryPiece]:
    run = runs.run_for(request, chain_id, run_id)
    return run, get_object_or_404(run.pieces, pk=piece_id)


def _view(run: SummaryRun, row: SummaryPiece) -> PieceView:
    return piece_view(run, runs.target_of_run(run), row, runs.jobs_of(run))


def _to_piece(run: SummaryRun, row: SummaryPiece) -> HttpResponse:
    address = reverse("drafts:summaries", args=[run.chain_id, run.pk])
    return see_other(f"{address}?open={row.pk}#piece-{row.pk}")


def _vary(response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["HX-Request"])
    return response
