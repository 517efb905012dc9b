"""The audit of removals from chains: what, by whom, when and how, as decisions and sizes, never contents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import AuditEntry, AuditFact, AuditLog, Chain
from chainviz.chains.versions.history import badge_of
from chainviz.core.counts import count_text
from chainviz.core.secrets.masking import PLACEHOLDERS
from chainviz.store.content.codec import pack
from chainviz.web.formatting import byte_text


@transaction.atomic
def note(chain: Chain, who: User | None, act: str, record: Any, *, version: int | None = None, draft: int | None = None) -> AuditEntry:
    _count(chain.pk)
    return AuditEntry.objects.create(
        chain_key=chain.pk, who=who, at=timezone.now(), act=act, version=version, draft_key=draft, packed=pack(record)
    )


@transaction.atomic
def add(entry_key: int, **more: Any) -> None:
    """Add facts that became known after an act was recorded, as a row of their own."""
    for entry in AuditEntry.objects.filter(pk=entry_key):
        _count(entry.chain_key)
        AuditFact.objects.create(entry=entry, at=timezone.now(), packed=pack(more))


def has_purge(chain: Chain) -> bool:
    return AuditEntry.objects.filter(chain_key=chain.pk, act="purge").exists()


def _count(chain_key: int) -> None:
    AuditLog.objects.get_or_create(chain_key=chain_key)
    AuditLog.objects.filter(chain_key=chain_key).update(entries=F("entries") + 1)


def took_place(draft_key: int, step: int) -> None:
    """Record the number of the step that the newest act on this draft became."""
    for entry in AuditEntry.objects.filter(draft_key=draft_key).order_by("-pk")[:1]:
        if "step" not in entry.record:
            add(entry.pk, step=step)


def draft_saved(draft_key: int, version: int, steps: Sequence[str]) -> None:
    """Record a saved draft. `steps` are its saved operations in order; undone ones are not included."""
    last: dict[int, int] = {}
    entries = list(AuditEntry.objects.filter(draft_key=draft_key).prefetch_related("later").order_by("pk"))
    for entry in entries:
        step = entry.record.get("step", -1)
        if step < len(steps) and (step < 0 or steps[step] == entry.act):
            last[step] = entry.pk
    for entry in entries:
        is_kept = last.get(entry.record.get("step", -1)) == entry.pk
        add(entry.pk, became={"saved_as": version} if is_kept else {"undone": True})


def draft_became(draft_key: int, **what: Any) -> None:
    """Record the fate of a draft: `discarded=True`, or `branch=` a chain's key; nothing if it is open again."""
    for key in AuditEntry.objects.filter(draft_key=draft_key).values_list("pk", flat=True):
        add(key, became=what)


def whereabouts(entry: AuditEntry) -> str:
    """Name the version of an act, and the fate of the draft in which it was done."""
    of = f"of version {entry.version}" if entry.version else ""
    if not entry.draft_key:
        return of
    became = entry.record.get("became", {})
    if "saved_as" in became:
        return f"{of}, saved as version {became['saved_as']}"
    if "undone" in became:
        return f"{of}, undone before the draft was saved"
    if "branch" in became:
        return f"{of}, saved as version 1 of a branch"
    return f"{of}, in a draft that was discarded" if "discarded" in became else f"{of}, in a draft that is open"


def describe_entry(entry: AuditEntry) -> tuple[str, str, str]:
    """Icon, name and sentence of an entry."""
    badge = badge_of(entry.act)
    return badge.icon, badge.text, str(_SENTENCES.get(entry.act, lambda record: "")(entry.record))


def _redacted(record: Any) -> str:
    rows = record.get("rows", [])
    gone = sum(row["decision"] == "redact" for row in rows)
    by_hand = sum(bool(row["override"]) for row in rows)
    said = f"policy {record['policy']}: {gone:,} of {len(rows):,} redacted, {byte_text(record['bytes_saved'])} saved"
    return f"{said}, {by_hand:,} decided by hand" if by_hand else said


def _masked(record: Any) -> str:
    how = PLACEHOLDERS.get(record["strategy"], "placeholder")
    return f"{count_text(len(record['rows']), 'finding')} masked ({how}), {record['declined']:,} declined"


def _purged(record: Any) -> str:
    values, chains = count_text(record["values"], "value"), count_text(len(record["chains"]), "chain")
    said = f"{values} in {count_text(record['places'], 'place')}, {chains} with the same bytes"
    return f"{said}. {record['left']}" if record.get("left") else said


_SENTENCES: dict[str, Callable[[Any], str]] = {"redact": _redacted, "mask": _masked, "purge": _purged}
