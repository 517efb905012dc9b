"""A chain whose file grows while it is looked at: asked for by the open page, and by a button without JavaScript."""

from __future__ import annotations

from pathlib import Path

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from chainviz.accounts.audit.record import leave_unrecorded
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.folders.following import following, may_read
from chainviz.chains.folders.opening import open_file, read_grown
from chainviz.chains.models import LocalFile
from chainviz.chains.uploads.local_files import take_file
from chainviz.core.errors import DocumentError
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("files")
@require_POST
def follow(request: HttpRequest, chain_id: int) -> HttpResponse:
    """Reads the file of a chain where it has grown. `over_edits`: also where the newest version was edited."""
    chain, member = chain_for(request, chain_id), member_of(request)
    file: LocalFile | None = getattr(chain, "local_file", None)
    if file is None or not may_read(file):
        raise Http404("This chain has no file on this machine.")
    if wants_fragment(request):
        if not read_grown(member, [chain]):
            leave_unrecorded(request)
        number = small_number(request.POST.get("v", "")) or chain.version
        return render(request, "chains/folders/_following.html", {"following": following(chain_for(request, chain_id), number)})
    try:
        if "over_edits" in request.POST:
            take_file(member, Path(file.path), over_edits=True)
        else:
            open_file(member, Path(file.path))
    except DocumentError as error:
        messages.warning(request, str(error))
    return see_other("chains:chain", chain_id)
