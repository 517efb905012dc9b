"""Every sample document: what the store gives back is what was uploaded, and what core reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from chainviz.core.chain.chain import Splice
from chainviz.core.documents.detect import survey
from chainviz.core.documents.source import open_source
from chainviz.core.errors import ChainError
from chainviz.core.load import choose, load_file
from chainviz.store.content.chain import StoredChain
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import add_step, current, start_draft, undo
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Upload
from chainviz.store.transfer.document_context import place_of
from chainviz.store.transfer.exports import export, export_whole_file, in_its_place, original
from chainviz.store.transfer.imports import MessageList, import_chain
from tests.shared_folder import shared

pytestmark = [pytest.mark.django_db]


def test_samples_come_back_as_they_were() -> None:
    seen = 0
    for path in sorted(shared("samples").rglob("*")):
        if path.is_file() and path.name != "MANIFEST.json":
            seen += _round_trip(path)
    assert seen
    assert [finding for finding in fsck() if finding.severity == "error"] == []


def _round_trip(path: Path) -> int:
    content = path.read_bytes()
    try:
        loaded = load_file(path)
    except ChainError:
        return 0
    with open_source(path) as source:
        versions = [
            import_chain(MessageList(source, found, choose(found)), owner="me", filename=path.name) for found in survey(source).lists
        ]
    upload = Upload.objects.get(runs__history=versions[0].history_id)
    assert b"".join(original(upload)) == content, path
    documents = [in_its_place(version.snapshot, place) for version in versions if (place := place_of(version.snapshot))]
    assert len(documents) == len(versions)
    assert b"".join(export_whole_file(upload, documents)) == content, path
    for chain, version in zip(loaded, versions, strict=True):
        stored = StoredChain(version.snapshot)
        assert tuple(stored.slice(0, len(stored))) == chain.messages, path
        if len(loaded) == 1:
            assert b"".join(export(version.snapshot)) == content, path
        if chain.messages:
            _edit_and_undo(version, content, len(loaded) == 1)
    return len(versions)


def _edit_and_undo(version, content: bytes, whole: bool) -> None:  # type: ignore[no-untyped-def]
    chain = StoredChain(version.snapshot)
    draft = start_draft(version, author="me")
    half = len(chain) // 2
    kept = chain.slice(half, len(chain))
    add_step(draft, NewStep([Splice(half, len(chain) - half)], "edit"))
    add_step(draft, NewStep([Splice(half, 0, tuple(kept))], "edit"))
    if whole:
        assert b"".join(export(current(draft))) == content
    assert undo(draft)
    assert current(draft).messages == half
