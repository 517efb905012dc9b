"""Long steps, written before their draft is locked: others write meanwhile, nothing half is ever seen, nothing stays of what fails."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from chainviz.core import formats
from chainviz.core.chain.chain import Splice
from chainviz.core.errors import Refused
from chainviz.store.content import runs
from chainviz.store.content.chain import StoredChain
from chainviz.store.history import steps
from chainviz.store.history.drafts import add as add_to
from chainviz.store.history.drafts import add_step, current, redo, save, start_draft, undo
from chainviz.store.history.steps import NewStep, written_step
from chainviz.store.models import Body, Draft, Message, Run, Snapshot, Version, Writing
from chainviz.store.outline.cache import BlockWriter
from chainviz.store.purge.delete import collect, delete_for_good
from chainviz.store.purge.values import purge_values
from chainviz.store.transfer import leases
from chainviz.store.transfer.exports import export
from tests import ROOT
from tests.bench.made_chains import write_chain
from tests.jobs.test_killed_worker import database_url
from tests.store.test_leases import errors, imported

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
COUNT = 600
BATCH = 100
LONG = 200
"""Messages of a batch, and of a long step: small, so that a chain of few messages has several batches."""
MODELS = (Run, Message, Body, Snapshot, Writing)


@pytest.fixture
def version(tmp_path: Path, monkeypatch: Any) -> Version:
    monkeypatch.setattr(runs, "BATCH", BATCH)
    monkeypatch.setattr(steps, "LONG", LONG)
    return imported(write_chain(tmp_path / "made.json", COUNT))


def wanted(snapshot: Snapshot) -> NewStep:
    """Every message says something else."""
    chain = StoredChain(snapshot)
    format = formats.get_format(chain.format)
    changes = []
    for index, message in enumerate(chain.slice(0, len(chain))):
        text = message.source[0].text.replace("budget", "[WORD]").replace('"role"', f'"n": {index}, "role"')
        source = (replace(message.source[0], text=text, start=-1),)
        changes.append(Splice(index, 1, (format.message(message.role, source),)))
    return NewStep(tuple(changes), "mask", {}, ["told"])


def rows() -> list[int]:
    return [model._default_manager.count() for model in MODELS]


def take(draft: Draft, step: NewStep) -> Snapshot:
    with written_step(draft.base.snapshot, 0, step) as add, transaction.atomic():
        return add_to(draft, add)


@pytest.mark.parametrize("wide", [steps.WIDE, LONG])
def test_it_is_the_step_that_a_short_one_would_be(version: Version, monkeypatch: Any, wide: int) -> None:
    step = wanted(version.snapshot)
    short = add_step(start_draft(version, author="me"), NewStep(step.changes, "mask", report=["told"]))
    monkeypatch.setattr(steps, "WIDE", wide)
    draft = start_draft(version, author="me")
    long = take(draft, step)
    names = ("digest", "messages", "sections", "pairs", "size", "stored", "operation", "options", "report", "format")
    assert [getattr(long, name) for name in names] == [getattr(short, name) for name in names]
    content = b"".join(export(long))
    assert content == b"".join(export(short)) and b"[WORD]" in content and b"budget" not in content
    assert undo(draft) and current(draft) == version.snapshot
    assert redo(draft) and current(draft) == long
    assert b"".join(export(save(draft, author="me").snapshot)) == content
    assert not Writing.objects.exists() and errors() == []


def test_others_write_while_it_is_written(version: Version, monkeypatch: Any) -> None:
    """Another connection can write in the middle of the step, without waiting."""
    step = wanted(version.snapshot)
    draft = start_draft(version, author="me")
    busy = threading.Event()

    def write() -> None:
        with closing(connection):
            Draft.objects.create(history=version.history, base=version, author="other")

    def meanwhile(original: Callable[..., None]) -> Callable[..., None]:
        def one(self: Any, *given: Any) -> None:
            original(self, *given)
            if not busy.is_set():
                assert not connection.in_atomic_block
                other = threading.Thread(target=write)
                other.start()
                other.join()

        return one

    monkeypatch.setattr(runs.RunWriter, "flush", meanwhile(runs.RunWriter.flush))
    monkeypatch.setattr(BlockWriter, "flush", meanwhile(BlockWriter.flush))
    with written_step(version.snapshot, 0, step) as add:
        busy.set()
        assert Draft.objects.filter(author="other").count() > COUNT / BATCH
        assert Snapshot.objects.count() == 1, "nothing shows before the end"
        with transaction.atomic():
            add_to(draft, add)
    assert errors() == []


def test_a_small_step_is_one_transaction(version: Version) -> None:
    with written_step(version.snapshot, 0, replace(wanted(version.snapshot), changes=(Splice(1, 1),))) as add:
        assert Run.objects.count() == 1, "all of it is written with the draft"
        assert add_to(start_draft(version, author="me"), add).messages == COUNT - 1


def discarded(draft: Draft) -> None:
    raise KeyboardInterrupt


def another_step(draft: Draft) -> None:
    add_step(draft, NewStep([Splice(1, 1)], "edit"))


def purged(draft: Draft) -> None:
    purge_values([draft.history_id], ["retry"], reason="a test")


def deleted(draft: Draft) -> None:
    delete_for_good(draft.history)


@pytest.mark.parametrize("meanwhile", [discarded, another_step, purged, deleted])
@pytest.mark.parametrize("is_late", [False, True])
def test_what_does_not_end_leaves_nothing(version: Version, meanwhile: Any, is_late: bool, monkeypatch: Any) -> None:
    """The step ends in its middle, or before its last transaction."""
    step = wanted(version.snapshot)
    draft = start_draft(version, author="me")
    add = runs.RunWriter.add

    def strike() -> None:
        assert Message.objects.count() > COUNT, "batches are written"
        monkeypatch.setattr(runs.RunWriter, "add", add)
        meanwhile(draft)

    def add_or_strike(self: Any, message: Any) -> Any:
        if self.count == COUNT - BATCH and not is_late:
            strike()
        return add(self, message)

    monkeypatch.setattr(runs.RunWriter, "add", add_or_strike)
    with pytest.raises((Refused, KeyboardInterrupt)), written_step(version.snapshot, 0, step) as end:
        if is_late:
            strike()
        with transaction.atomic():
            add_to(draft, end)
    is_gone = meanwhile is deleted
    assert Message.objects.count() == (0 if is_gone else COUNT)
    assert Run.objects.count() == (0 if is_gone else 2 if meanwhile is another_step else 1)
    assert not Writing.objects.exists() and errors() == []


KILLED = """
import os, signal, sys
from chainviz.commands.server.startup import set_up_django
set_up_django()
from chainviz.store.content import runs
from chainviz.store.models import Draft
from chainviz.store.outline.cache import BlockWriter
from chainviz.store.history import steps
from tests.store.test_long_steps import BATCH, LONG, take, wanted
runs.BATCH, steps.LONG = BATCH, LONG
def die(self, *given):
    os.kill(os.getpid(), signal.SIGKILL)
add = runs.RunWriter.add
def add_or_die(self, message):
    return die(self) if self.count == 340 else add(self, message)
draft = Draft.objects.get()
step = wanted(draft.base.snapshot)
if sys.argv[1] == "messages":
    runs.RunWriter.add = add_or_die
else:
    BlockWriter.flush = die
take(draft, step)
"""


def test_kill_9_leaves_nothing_that_is_seen_and_then_nothing(version: Version, tmp_path: Path, monkeypatch: Any) -> None:
    draft = start_draft(version, author="me")
    before = rows()
    environment = {**os.environ, "CHAINVIZ_DATABASE_URL": database_url(), "CHAINVIZ_DATA": str(tmp_path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    for place in ("messages", "outline"):
        killed = subprocess.run([sys.executable, "-c", KILLED, place], cwd=ROOT, env=environment)
        assert killed.returncode == -signal.SIGKILL
    assert Writing.objects.count() == 2 and Message.objects.count() >= COUNT + 3 * BATCH + COUNT
    assert errors() == [] and current(draft) == version.snapshot
    assert collect(version.history) == 0
    assert leases.clear_abandoned_steps() == 0, "it may still be alive"
    monkeypatch.setattr(leases, "STEP_LEASE", timedelta(0))
    assert leases.clear_abandoned_steps() == 2
    assert rows() == before and errors() == []
    assert take(draft, wanted(version.snapshot)) == current(draft)


def test_steps_that_were_undone_are_collected_beside_one_that_is_written(version: Version) -> None:
    draft = start_draft(version, author="me")
    add_step(draft, NewStep([Splice(0, 1)], "edit"))
    draft.delete()
    draft = start_draft(version, author="me")
    with written_step(version.snapshot, 0, wanted(version.snapshot)) as add:
        assert collect(version.history) == 1
        assert add_to(draft, add).messages == COUNT
    assert errors() == []


def test_a_deletion_of_many_messages_is_long_too() -> None:
    assert NewStep((Splice(0, 2000),), "redact").is_long
    assert not NewStep((Splice(0, 20),), "redact").is_long
