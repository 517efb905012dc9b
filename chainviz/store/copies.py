"""A snapshot as version 1 of a history of its own, with bodies of its own."""

from __future__ import annotations

from django.db import transaction

from chainviz.store.contents import BodyReader, pieces_of, read_rows
from chainviz.store.imports import first_version
from chainviz.store.models import History, Run, Snapshot, Template, Version
from chainviz.store.outline.build import OutlineBuilder
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.outline.keep import BlockKeeper, keep_outline
from chainviz.store.packed import pack
from chainviz.store.pieces import Piece, pack_pieces
from chainviz.store.runs import RunWriter

GROUP = 200


@transaction.atomic
def copy(old: Snapshot, *, author: str, note: str = "") -> Version:
    """Spans into the upload stay spans: an upload belongs to its owner, not to one chain."""
    # what is copied is of one edition: a purge has ended, or waits for this
    History.objects.select_for_update().get(pk=old.history_id)
    history = History.objects.create()
    template = old.template
    upload_id = template.run.upload_id if template is not None else None
    run = Run.objects.create(history=history, kind=Run.IMPORT, format=old.format, upload_id=upload_id)
    writer, keeper, bodies = RunWriter(run), BlockKeeper(history.pk), BodyReader()
    builder = OutlineBuilder(keeper)
    group = []
    for row in read_rows(pieces_of(old)):
        group.append(row)
        if len(group) >= GROUP:
            for message in bodies.messages(group):
                builder.add(writer.add(message))
            group = []
    for message in bodies.messages(group):
        builder.add(writer.add(message))
    writer.flush()
    listing = builder.finish()
    keeper.flush()
    own = None
    if template is not None:
        own = Template.objects.create(
            run=run, envelope=bytes(template.envelope), shell=bytes(template.shell), starts=writer.starts
        )
    snapshot = Snapshot.objects.create(
        history=history,
        pieces=pack_pieces([Piece(run.pk, 0, writer.count)] if writer.count else []),
        format=old.format,
        template=own,
        digest=to_bytes(listing.hash),
        messages=old.messages,
        sections=old.sections,
        pairs=old.pairs,
        size=old.size,
        stored=old.stored,
        operation="copy",
        options=pack({}),
        report=pack([]),
    )
    keep_outline(snapshot, listing, builder.charts)
    return first_version(snapshot, author=author, note=note)
