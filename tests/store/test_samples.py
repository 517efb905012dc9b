"""Every sample document: what the store gives back is what was uploaded, and what core reads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chainviz.core.chain.chain import Splice
from chainviz.core.documents.source import open_source
from chainviz.core.errors import ChainError
from chainviz.core.formats import get_format
from chainviz.core.formats.offers import offers_of
from chainviz.core.load import load_file
from chainviz.store.content.chain import StoredChain
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import add_step, current, start_draft, undo
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Upload
from chainviz.store.transfer.document_context import place_of
from chainviz.store.transfer.exports import export, export_whole_file, in_its_place, original
from chainviz.store.transfer.imports import MessageList, import_chain
from tests.shared_folder import SAMPLES

pytestmark = [pytest.mark.django_db]


def test_samples_come_back_as_they_were() -> None:
    seen = 0
    for path in sorted(SAMPLES.rglob("*")):
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
            import_chain(MessageList(source, offer.found, offer.formats[0], filename=path.name), owner="me") for offer in offers_of(source)
        ]
    upload = Upload.objects.get(runs__history=versions[0].history_id)
    assert b"".join(original(upload)) == content, path
    documents = [in_its_place(version.snapshot, place) for version in versions if (place := place_of(version.snapshot))]
    assert len(documents) == len(versions)
    one_each = dict(documents).items()  # branches of a session are one document
    assert b"".join(export_whole_file(upload, one_each)) == content, path
    for chain, version in zip(loaded, versions, strict=True):
        stored = StoredChain(version.snapshot)
        assert tuple(stored.slice(0, len(stored))) == chain.messages, path
        if len(loaded) == 1:
            assert b"".join(export(version.snapshot)) == content, path
        if chain.messages and get_format(chain.format).writes:
            _edit_and_undo(version, content, len(loaded) == 1)
    return len(versions)


def _without_length(content: bytes) -> bytes:
    """The processed_length of a state counts what the model has seen: it has not seen messages that were added."""
    return re.sub(rb'("processed_length": ?)\d+', rb"\1", content)


def _edit_and_undo(version, content: bytes, whole: bool) -> None:  # type: ignore[no-untyped-def]
    chain = StoredChain(version.snapshot)
    draft = start_draft(version, author="me")
    half = len(chain) // 2
    kept = chain.slice(half, len(chain))
    add_step(draft, NewStep([Splice(half, len(chain) - half)], "edit"))
    add_step(draft, NewStep([Splice(half, 0, tuple(kept))], "edit"))
    if whole:
        assert _without_length(b"".join(export(current(draft)))) == _without_length(content)
    assert undo(draft)
    assert current(draft).messages == half
