"""Purging originals: a chain goes on from what it is now, and everything before goes for good."""

from __future__ import annotations

import tempfile
from pathlib import Path

from django.db import transaction

from chainviz.core import formats
from chainviz.core.documents.source import open_source
from chainviz.core.load import look
from chainviz.store.models import Version
from chainviz.store.purge.delete import delete_for_good
from chainviz.store.transfer.exports import envelope_of, export
from chainviz.store.transfer.imports import import_chain


@transaction.atomic
def purge_originals(version: Version, *, owner: str, author: str, reason: str) -> Version:
    """What `version` exports is stored as if it had been uploaded, under the same number, in a history of its own;
    the old history goes, with its other versions, its drafts and (unless another chain came from it) its upload."""
    snapshot = version.snapshot
    format = formats.get_format(snapshot.format)
    inside = envelope_of(snapshot).inside
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "document"
        with path.open("wb") as file:
            file.writelines(export(snapshot))
        with open_source(path) as source:
            lists = look(source, format).lists
            found = next((one for one in lists if one.inside == inside), lists[0])
            renewed = import_chain(
                source, found, format, owner=owner, author=author, note=reason, number=version.number
            )
    delete_for_good(version.history, reason=reason)
    return renewed
