"""Append-only, deletion for good, and that fsck sees every fault."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from chainviz.core.chain.chain import Splice
from chainviz.store.fsck import fsck
from chainviz.store.history.drafts import add_step, save, start_draft, undo
from chainviz.store.history.steps import NewStep
from chainviz.store.models import Body, History, Message, Run, Snapshot, Template, Tombstone, Upload, UploadChunk, Version
from chainviz.store.purge.delete import _keyed, collect, delete_for_good, purging
from tests.store.test_drafts import said
from tests.store.test_import import TALK, stored

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.usefixtures("stub_format")]
PROTECTED = [Upload, UploadChunk, Run, Template, Message, Body, Snapshot, Version]


def two_versions() -> Version:
    draft = start_draft(stored(TALK), author="me")
    add_step(draft, NewStep([Splice(5, 1, (said("many thanks for all of it"),))], "edit"))
    return save(draft, author="me")


def errors() -> list[str]:
    return [finding.text for finding in fsck() if finding.severity == "error"]


def test_what_was_stored_can_neither_be_changed_nor_deleted() -> None:
    two_versions()
    for model in PROTECTED:
        table = model._meta.db_table
        column = next(f.column for f in model._meta.concrete_fields if f.column is not None)
        assert model._default_manager.exists()
        for statement in (f"DELETE FROM {table}", f'UPDATE {table} SET "{column}" = "{column}"'):
            with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(statement)


def is_buried(digest: bytes) -> bool:
    return Tombstone.objects.filter(digest=_keyed(digest)).exists()


def test_deleted_for_good_leaves_only_a_keyed_tombstone() -> None:
    version, other = two_versions(), stored(TALK)
    upload = Upload.objects.get()
    delete_for_good(version.history, reason="asked for")
    assert list(History.objects.all()) == [other.history]
    assert Upload.objects.count() == 1 and errors() == []
    delete_for_good(other.history)
    assert not any(model._default_manager.exists() for model in PROTECTED)
    assert is_buried(bytes.fromhex(upload.sha256)) and not is_buried(b"x" * 32)
    assert upload.sha256 not in str(list(Tombstone.objects.values()))
    assert errors() == []
    with pytest.raises(IntegrityError), transaction.atomic():
        Upload.objects.filter(pk=stored(TALK).pk).exists()
        UploadChunk.objects.all().delete()


def test_steps_that_nobody_shows_are_collected() -> None:
    version = two_versions()
    draft = start_draft(version, author="me")
    for text in ("a secret that was undone", "kept"):
        add_step(draft, NewStep([Splice(1, 1, (said(text),))], "edit"))
        if text != "kept":
            undo(draft)
    count = Message.objects.count()
    assert collect(version.history) == 1 and collect(version.history) == 0
    assert Message.objects.count() == count - 1
    assert not Message.objects.filter(preview__contains="undone").exists()
    assert errors() == [] and save(draft, author="me").number == 3


@pytest.mark.parametrize("model", [UploadChunk, Message, Body, Version])
def test_every_missing_row_is_found(model: Any) -> None:
    two_versions()
    for pk in list(model._default_manager.values_list("pk", flat=True)):
        with transaction.atomic():
            with purging("test"):
                model._default_manager.filter(pk=pk)._raw_delete("default")
            assert errors(), pk
            transaction.set_rollback(True)
