"""What was redacted, masked or purged in a chain, by whom and when, as decisions and sizes, never contents: records and their pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chainviz.accounts.models import User
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.chains.models import AuditEntry, AuditFact, AuditLog, Chain
from chainviz.chains.versions.history import badge_of
from chainviz.core.chain.paths import parse_path
from chainviz.core.counts import count_text
from chainviz.core.operations.redact.candidates import SKIPS
from chainviz.core.operations.redact.decision_matrix import REASONS, MatrixRow
from chainviz.core.secrets.known_values import PLACEHOLDERS
from chainviz.store.content.codec import pack
from chainviz.web.formatting import byte_text
from chainviz.web.http import small_number


@transaction.atomic
def note(chain: Chain, who: User | None, act: str, record: Any, **place: int | None) -> AuditEntry:
    """Record an act on a chain. `place` has the `version` and the `draft_key` in which it was done, if there are any."""
    _count(chain.pk)
    return AuditEntry.objects.create(chain_key=chain.pk, who=who, at=timezone.now(), act=act, packed=pack(record), **place)


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


def _redacted_sentence(record: Any) -> str:
    rows = record.get("rows", [])
    gone = sum(row["decision"] == "redact" for row in rows)
    by_hand = sum(bool(row["override"]) for row in rows)
    said = f"policy {record['policy']}: {gone:,} of {len(rows):,} redacted, {byte_text(record['bytes_saved'])} saved"
    return f"{said}, {by_hand:,} decided by hand" if by_hand else said


def _masked_sentence(record: Any) -> str:
    how = PLACEHOLDERS.get(record["strategy"], "placeholder")
    return f"{count_text(len(record['rows']), 'finding')} masked ({how}), {record['declined']:,} declined"


def _purged_sentence(record: Any) -> str:
    values, chains = count_text(record["values"], "value"), count_text(len(record["chains"]), "chain")
    said = f"{values} in {count_text(record['places'], 'place')}, {chains} with the same bytes"
    return f"{said}. {record['left']}" if record.get("left") else said


_SENTENCES: dict[str, Callable[[Any], str]] = {"redact": _redacted_sentence, "mask": _masked_sentence, "purge": _purged_sentence}


ENTRIES = 50
ROWS = 100


@requires("audit")
@require_safe
def audit(request: HttpRequest, chain_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    entries = AuditEntry.objects.filter(chain_key=chain.pk).select_related("who").prefetch_related("later")
    before = small_number(request.GET.get("before", ""))
    if before:
        entries = entries.filter(pk__lt=before)
    found = list(entries[: ENTRIES + 1])
    rows = [(entry, whereabouts(entry), *describe_entry(entry)) for entry in found[:ENTRIES]]
    older = found[ENTRIES - 1].pk if len(found) > ENTRIES else None
    context = {"chain": chain, "rows": rows, "older": older, "alone": get_user_model().objects.count() == 1}
    return render(request, "chains/audit/audit.html", context)


@requires("audit")
@require_safe
def entry(request: HttpRequest, chain_id: int, entry_id: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    found = get_object_or_404(AuditEntry.objects.filter(chain_key=chain.pk), pk=entry_id)
    who = found.who.get_username() if found.who is not None else None
    whole = {
        "act": found.act,
        "chain": chain.pk,
        "version": found.version,
        "draft": found.draft_key,
        "who": who,
        "at": found.at.isoformat(),
        "record": found.record,
    }
    response = HttpResponse(json.dumps(whole, indent=1), content_type="application/json")
    name = f"audit {chain.pk}-{found.pk} {found.act}.json"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return response


@requires("audit")
@require_safe
def decisions(request: HttpRequest, chain_id: int, entry_id: int) -> HttpResponse:
    """Show the decision on each result or finding, a page of rows at a time."""
    chain = chain_for(request, chain_id)
    found = get_object_or_404(AuditEntry.objects.filter(chain_key=chain.pk).select_related("who"), pk=entry_id)
    icon, name, sentence = describe_entry(found)
    rows = rows_of(found)
    start = min(small_number(request.GET.get("from", "")) or 0, max(0, len(rows) - 1)) // ROWS * ROWS
    context = {
        "chain": chain,
        "entry": found,
        "icon": icon,
        "name": name,
        "sentence": sentence,
        "where": whereabouts(found),
        # a later step of a draft had other content before it
        "linked": found.version is not None and found.record.get("step", 0) == 0,
        "rows": rows[start : start + ROWS],
        "total": len(rows),
        "first": start + 1,
        "last": min(start + ROWS, len(rows)),
        "before": start - ROWS if start else None,
        "after": start + ROWS if start + ROWS < len(rows) else None,
        "alone": get_user_model().objects.count() == 1,
    }
    return render(request, "chains/audit/audit_entry.html", context)


# The decisions of an audit entry as rows of a table.


@dataclass(frozen=True, slots=True)
class AuditRow:
    number: int
    path: str
    node: str
    """The path of the message: a part has no page."""
    what: str
    part: str
    decision: str
    why: str
    by_hand: bool
    before: int
    after: int


def rows_of(entry: AuditEntry) -> list[AuditRow]:
    """Return the rows of a record; empty for a purge, which keeps no places."""
    row = {"redact": _redacted, "mask": _masked}.get(entry.act)
    return [row(number, each) for number, each in enumerate(entry.record.get("rows", ()), 1)] if row else []


def _redacted(number: int, row: Any) -> AuditRow:
    why = SKIPS.get(row["skip"], "") or REASONS[MatrixRow(row["matrix_row"])]
    return AuditRow(
        number,
        row["path"],
        _node(row["path"]),
        row["tool"] or row["part"],
        row["part"] if row["tool"] else "",
        row["decision"],
        why,
        bool(row["override"]),
        row["bytes_before"],
        row["bytes_after"],
    )


def _masked(number: int, row: Any) -> AuditRow:
    path, reason, before, after = row
    return AuditRow(number, path, _node(path), reason, "", "mask", "", False, before, after)


def _node(path: str) -> str:
    return str(replace(parse_path(path), part=None))
