"""The bin: chains on their way out. Nothing is lost until somebody types its title."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains import services
from chainviz.chains.access import binned_chain_for
from chainviz.chains.library.filter import library_address
from chainviz.chains.models import Chain
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("bin")
@require_safe
def bin(request: HttpRequest) -> HttpResponse:
    chains = Chain.objects.visible_to(member_of(request)).in_bin().order_by("-trashed_at")
    return render(request, "chains/bin/bin.html", {"chains": chains})


@requires("bin")
@require_POST
@recorded_together
def to_bin(request: HttpRequest) -> HttpResponse:
    chains = Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=_asked(request))
    moved = services.to_bin(chains)
    note(request, chains=moved)
    return see_other(library_address(request.POST.get("filter", ""), binned=".".join(map(str, moved))))


@requires("bin")
@require_POST
@recorded_together
def from_bin(request: HttpRequest) -> HttpResponse:
    asked = _asked(request, "only") or _asked(request)
    chains = Chain.objects.visible_to(member_of(request)).in_bin().filter(pk__in=asked)
    restored = services.from_bin(chains)
    note(request, chains=[each.pk for each in restored])
    if restored:
        what = f"“{restored[0].title}” is" if len(restored) == 1 else f"{len(restored)} chains are"
        messages.success(request, f"{what} back in the library.")
    return see_other(library_address(request.POST.get("filter", "")))


@requires("delete")
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = binned_chain_for(request, chain_id)
    if request.method != "POST":
        return render(request, "chains/bin/delete.html", {"chain": chain})
    typed = request.POST.get("title", "")
    if not chain.is_called(typed):
        error = f"That is not the title. Type “{chain.title}” or “{chain.file_name}”, or cancel."
        return render(request, "chains/bin/delete.html", {"chain": chain, "typed": typed, "error": error}, status=422)
    services.delete_for_good(chain)
    messages.success(request, f"“{chain.title}” was deleted permanently.", extra_tags=f"{chain_id}:")
    return see_other("chains:bin")


def _asked(request: HttpRequest, name: str = "chain") -> list[int]:
    found = map(small_number, request.POST.getlist(name))
    return [number for number in found if number is not None]
