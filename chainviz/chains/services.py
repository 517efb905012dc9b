"""Change whole chains: rename, move to the bin, restore, branch, delete permanently; and the title of a chain."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import Arrival, Chain, ChainQuerySet
from chainviz.chains.titles import branch_title, set_title
from chainviz.chains.versions.heads import copy_head, head_moved, store_name
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.store.history import drafts
from chainviz.store.models import History, Version
from chainviz.store.purge import delete
from chainviz.store.transfer.snapshot_writer import copied

TITLE_LENGTH = 200


def rename(chain: Chain, title: str) -> None:
    """Rename a chain. Raises ValidationError for an invalid title."""
    clean = " ".join(storable(title).split())
    if not clean:
        raise ValidationError("A chain needs a title.")
    if len(clean) > TITLE_LENGTH:
        raise ValidationError(f"A title has at most {TITLE_LENGTH} characters; this one has {len(clean)}.")
    chain.title, chain.titled_by = clean, Chain.TitledBy.PERSON
    chain.save(update_fields=["title", "titled_by"])


def to_bin(chains: ChainQuerySet) -> list[int]:
    """Move chains to the bin, and return their keys."""
    moved = list(chains.order_by("pk").values_list("pk", flat=True))
    Chain.objects.filter(pk__in=moved).update(trashed_at=timezone.now())
    return moved


def from_bin(chains: ChainQuerySet) -> list[Chain]:
    restored = list(chains)
    Chain.objects.filter(pk__in=[chain.pk for chain in restored]).update(trashed_at=None)
    return restored


@transaction.atomic
def restore(chain: Chain, old: Version, *, by: User) -> Version:
    """Save an old version as the newest one. Raises Conflict if somebody else saved a version meanwhile."""
    head = drafts.head_of(old.history)
    version = drafts.restore(old, author=store_name(by), note=f"Version {old.number} restored", expected=head)
    head_moved(chain, version, by)
    return version


def branch(chain: Chain, old: Version, *, by: User) -> Chain:
    """Create a chain from a version of this one, with a title that is fixed now, because a later purge cannot change it."""
    with copied(old.snapshot) as finish, transaction.atomic():
        History.objects.select_for_update().get(pk=chain.history)
        chain.refresh_from_db()
        version = finish(author=store_name(by), note=f"From version {old.number} of “{chain.file_name}”")
        return branched(chain, version, by=by)


def branched(chain: Chain, version: Version, *, by: User) -> Chain:
    """Create the row in the library for a history that was copied from another chain."""
    now = timezone.now()
    made = Chain(
        team=chain.team,
        owner=by,
        title=branch_title(chain),
        titled_by=chain.titled_by,
        part=chain.part,
        history=version.history_id,
        file_name=chain.file_name,
        sha256=chain.sha256,
        pointer=chain.pointer,
        is_branch=True,
        branched_from=chain,
        created_at=now,
        changed_at=now,
        changed_by=by,
    )
    copy_head(made, version)
    set_title(made, version.snapshot)
    made.save()
    return made


@transaction.atomic
def delete_for_good(chain: Chain) -> None:
    """Delete a chain with all its bytes. The store keeps only a record of the deletion."""
    Arrival.objects.filter(chain=chain).delete()
    Job.objects.about(chain).delete()
    history = History.objects.get(pk=chain.history)
    chain.delete()
    delete.delete_for_good(history)
