"""Checks the library against the store, the audit against its counts, and the folder of waiting files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import copy

from django.db.models import Count

from chainviz.chains.models import Arrival, AuditEntry, AuditFact, AuditLog, Chain, SavedFilter
from chainviz.chains.titles import set_title
from chainviz.chains.uploads import staging
from chainviz.chains.usage import FACTS
from chainviz.chains.versions.heads import copy_head
from chainviz.store.content.codec import unpack
from chainviz.store.fsck import Finding, changed_rows, guarded
from chainviz.store.models import History, Outline, Version
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.web.prices import price_edition

COUNTS = ("format", "sections", "pairs", "messages", "size")
"""The fields that the library copies from the snapshot of the newest version."""


def fsck_library() -> Iterator[Finding]:
    yield from changed_rows((Chain, AuditEntry, AuditFact, AuditLog, SavedFilter))
    for key in Chain.objects.order_by("pk").values_list("pk", flat=True):
        yield from guarded(f"Chain {key} of the library", _chain(key))
    yield from guarded("The library", _without_chain())
    yield from guarded("The audit", _audit())
    yield from guarded("The folder of waiting files", _waiting())


def _chain(key: int) -> Iterator[Finding]:
    chain = Chain.objects.get(pk=key)
    history = History.objects.select_related("head__snapshot").filter(pk=chain.history).first()
    if history is None or history.head is None:
        yield Finding("error", f"Chain {key} of the library has no versions.")
        return
    snapshot = history.head.snapshot
    shown = (chain.version, *(getattr(chain, name) for name in COUNTS))
    is_wrong = shown != (history.head.number, *(getattr(snapshot, name) for name in COUNTS))
    outline = Outline.objects.filter(snapshot=snapshot, rules=chain.rules).first()
    if outline is not None and (chain.problems, chain.warnings, chain.verdicts) != (
        outline.errors,
        outline.warnings,
        unpack(outline.verdicts),
    ):
        yield Finding("error", f"The library does not show the problems that chain {key} has.")
    if outline is not None and not is_wrong and chain.rules == RULES_EDITION:
        is_wrong = _facts(chain) != _facts(_filled_again(chain, history.head))
    if is_wrong:
        yield Finding("error", f"The library does not show chain {key} as its newest version is.")


def _facts(chain: Chain) -> list[object]:
    """Return the facts to compare. The cost is left out if it was computed with an earlier edition of the prices."""
    is_priced = chain.prices == price_edition()
    return [getattr(chain, name) for name in (*FACTS, "title") if name != "prices" and (is_priced or name != "cost")]


def _filled_again(chain: Chain, head: Version) -> Chain:
    fresh = copy(chain)
    copy_head(fresh, head)
    set_title(fresh, head.snapshot)
    fresh.prices = chain.prices
    return fresh


def _without_chain() -> Iterator[Finding]:
    known = Chain.objects.values("history")
    for history in History.objects.filter(importing=None).exclude(pk__in=known).values_list("pk", flat=True):
        yield Finding("error", f"The versions of history {history} belong to no chain of the library.")


def _audit() -> Iterator[Finding]:
    entries = AuditEntry.objects.order_by().values_list("chain_key").annotate(rows=Count("pk"))
    facts = AuditFact.objects.order_by().values_list("entry__chain_key").annotate(rows=Count("pk"))
    found = Counter(dict(entries)) + Counter(dict(facts))
    expected = dict(AuditLog.objects.values_list("chain_key", "entries"))
    for key in sorted(found.keys() | expected.keys()):
        if found.get(key, 0) != expected.get(key, 0):
            counts = f"{found.get(key, 0)} rows instead of {expected.get(key, 0)}"
            yield Finding("error", f"The audit of chain {key} has {counts}.")


def _waiting() -> Iterator[Finding]:
    names = set(Arrival.objects.exclude(waiting="").values_list("waiting", flat=True))
    for path in sorted(staging.folder().iterdir()):
        if path.name.partition(".")[0] not in names:
            yield Finding("note", f"The file {path.name} waits for no upload; it is deleted when chainviz starts.")
    for name in sorted(names):
        if not staging.is_there(name):
            yield Finding("note", f"The waiting file {name} of an upload is gone; upload it again.")
