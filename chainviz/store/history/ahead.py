"""A long step is written before its draft is held: in short transactions, so that others can write meanwhile.

Like an import it is seen by nobody until the last of them. What is short is one transaction as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.history.drafts import add, add_written
from chainviz.store.history.steps import Wanted, new_run, write_step
from chainviz.store.models import Draft, Snapshot, Writing
from chainviz.store.transfer.editions import held_edition
from chainviz.store.transfer.leases import STEP_BROKEN_OFF, BrokenOff, discard_step, end_step, step_batch

LONG = 1000
"""Messages that come or go."""
LONG_BYTES = 4 << 20

Add = Callable[[Draft], Snapshot]


@contextmanager
def written_ahead(parent: Snapshot, edition: int, wanted: Wanted) -> Iterator[Add]:
    """The block adds the step to a draft whose content is `parent`, by what it is given, in a transaction and behind its
    locks. Without that, or where the block fails, nothing stays. `edition`: of the history when its content was read."""
    if not _is_long(wanted):
        yield partial(add, wanted=wanted)
        return
    with transaction.atomic():
        if held_edition(parent.history_id) != edition:
            raise BrokenOff(STEP_BROKEN_OFF)
        writing = Writing.objects.create(run=new_run(parent, wanted), alive=timezone.now())
    try:
        show = _written(parent, edition, wanted, writing)

        def add_it(draft: Draft) -> Snapshot:
            end_step(writing)
            return add_written(draft, parent, show)

        yield add_it
    except BaseException:
        # where even that fails it is cleared away once the step has been silent for long
        with suppress(DatabaseError):
            discard_step(writing)
        raise


def _written(parent: Snapshot, edition: int, wanted: Wanted, writing: Writing) -> Callable[[], Snapshot]:
    batch = partial(step_batch, writing, edition)
    try:
        return write_step(parent, wanted, writing.run, batch)
    except (Refused, DatabaseError):
        raise
    except Exception as error:
        # what a purge has taken away meanwhile cannot be read
        with batch():
            raise error


def _is_long(wanted: Wanted) -> bool:
    messages = sum(max(one.removed, len(one.messages)) for one in wanted.changes)
    return messages > LONG or sum(each.size for one in wanted.changes for each in one.messages) > LONG_BYTES
