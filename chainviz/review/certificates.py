"""Certificates: an export for somebody outside the team ends in a record of what was removed and what was searched. The
record is a row of the sign-offs with a recipient; it contains no removed value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chainviz.accounts.audit import record
from chainviz.accounts.models import Membership, Team
from chainviz.chains.exports.downloads import locked_reason
from chainviz.chains.exports.export import Export
from chainviz.chains.exports.removed_values import Removed, removed_from
from chainviz.chains.models import AuditEntry, Chain
from chainviz.chains.secrets.files import FileFindings, findings_in
from chainviz.chains.secrets.findings import is_long
from chainviz.chains.versions.history import badge_of
from chainviz.core.chain.paths import parse_path
from chainviz.core.chain.tree import message_paths
from chainviz.core.counts import count_text
from chainviz.core.errors import Refused
from chainviz.core.operations.mask import MASK
from chainviz.core.operations.redact import REDACT
from chainviz.core.secrets import RULES, Values, get_rule
from chainviz.core.secrets.known_values import PLACEHOLDERS
from chainviz.core.secrets.part_texts import texts_of
from chainviz.drafts.target import Target, target_of_version
from chainviz.jobs import lease
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, run_job, start_job
from chainviz.review.csv_and_jsonl import is_signed_off
from chainviz.review.fsck import CERTIFIED
from chainviz.review.models import SignOff
from chainviz.review.models.requests import LONGEST_RECIPIENT
from chainviz.review.requests.services import standing_of
from chainviz.review.sign_off import next_number, unsearched_parts
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import pack, unpack
from chainviz.store.content.message_reader import messages_of
from chainviz.store.lineage import ancestors, steps_of
from chainviz.store.models import Snapshot
from chainviz.store.purge.blanking import Blanks

FUNCTION = "make-certificate"
WRITTEN, SEARCHED = 0.4, 0.9
"""The progress of a job after the file was digested and scanned, and after the removed values were searched."""


def begin(chain: Chain, version: int, recipient: str, to: str, *, by: Membership) -> Job:
    """Start the job, which is already done if the chain is short. Raises Refused."""
    name = " ".join(storable(recipient).split())
    if not name or len(name) > LONGEST_RECIPIENT:
        raise Refused(f"Enter who receives it, in 1 to {LONGEST_RECIPIENT} characters.")
    target = target_of_version(chain, version, by.user)
    export = Export.to(target.subject, to)
    _require_unlocked(chain, version)
    job = start_job(FUNCTION, owner=by.user, chain=chain.pk, version=version, recipient=name, to=export.format.name)
    if not is_long(target.stored):
        run_job(job.pk)
        job.refresh_from_db()
    return job


def job_of(chain: Chain, member: Membership, number: int) -> Job | None:
    return Job.objects.about(chain).visible_to(member.user).filter(function=FUNCTION, pk=number).first()


def certify(context: JobContext, chain: int, version: int, recipient: str, to: str) -> dict[str, Any]:
    """Return the number of the certificate."""
    row = Chain.objects.in_library().select_related("team").filter(pk=chain).first()
    members = Membership.objects.active().select_related("user", "team")
    member = members.filter(user=context.job.owner_id, team=row.team_id).first() if row else None
    if row is None or member is None or not member.may("export"):
        raise Refused("The chain was deleted, or you can no longer export it.")
    _require_unlocked(row, version)
    target = target_of_version(row, version, member.user)
    export = Export.to(target.subject, to)
    digest, size, facts = _read(context, target, export, recipient)
    signed = is_signed_off(row, version)
    standing = standing_of(row) if signed and version == row.version else None
    approvals = [[each.name, each.version, each.given_at.isoformat()] for each in standing.approvals] if standing else []
    facts |= {"role": member.role, "messages": target.stored.snapshot.messages, "signed_off": signed, "approvals": approvals}
    made = {"format": export.format.name, "sha256": digest, "size": size, "packed": pack(facts)}
    return _store_sign_off(context, target, member, recipient, made)


def _read(context: JobContext, target: Target, export: Export, recipient: str) -> tuple[str, int, dict[str, Any]]:
    """Return digest and length of the file, and the facts for the record."""
    digest, size = sha256(), 0
    stored, whole = target.stored, max(1, target.stored.snapshot.stored)

    def written() -> Iterator[bytes]:
        nonlocal size
        for piece in export.chain():
            digest.update(piece)
            size += len(piece)
            context.report(min(1.0, size / whole) * WRITTEN, f"{size:,} bytes written and searched")
            yield piece

    found = findings_in(written())
    left = Leftovers(stored.snapshot)
    if left.are_in(recipient):
        raise Refused("The recipient's name contains a removed value. Use another name.")
    context.report(WRITTEN, "Searching for removed values")
    places_left = left.count(export.chain)
    context.report(SEARCHED, "Storing the record")
    return digest.hexdigest(), size, {
        "removed": removed_rows(stored.snapshot) if not left.unknown else [],
        "purged": purges(target.chain),
        "other": other_changes(stored.snapshot),
        "losses": [loss.text for loss in export.trial.losses],
        "searched": searched(stored, found, left, places_left),
        "not_searched": not_searched(stored, left),
    }  # fmt: skip


def _store_sign_off(context: JobContext, target: Target, member: Membership, recipient: str, made: dict[str, Any]) -> dict[str, Any]:
    snapshot = target.stored.snapshot
    with transaction.atomic():
        team = Team.objects.select_for_update().get(pk=member.team_id)
        edition = Snapshot.objects.values_list("history__edition", flat=True).get(pk=snapshot.pk)
        if edition != snapshot.history.edition:
            raise Refused("Values were purged from the chain at this moment. Export it again.")
        row = SignOff.objects.create(
            team=team,
            number=next_number(team),
            chain_key=target.chain.pk,
            version=target.version.number,
            edition=edition,
            who=member.user,
            who_name=_name_of(member),
            at=timezone.now(),
            recipient=recipient,
            **made,
        )
        facts: dict[str, Any] = {"version": row.version, "sha256": row.sha256, "bytes": row.size, "recipient": recipient}
        record(team, member.user, CERTIFIED, chain=target.chain.pk, certificate=row.number, **facts)
        result = {"number": row.number}
        if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result=result):
            raise Cancelled
    return result


def _name_of(member: Membership) -> str:
    """Return the name of the person. In local mode they are called “You”, which names nobody on paper."""
    return member.user.display_name if settings.CHAINVIZ.mode == "team" else "The owner of this installation"


def _require_unlocked(chain: Chain, version: int) -> None:
    reason = locked_reason(chain, version)
    if reason:
        raise Refused(reason)


# What a certificate says: what was taken out, what was searched and what could not be; numbers and kinds, never
# values.


SHORTEST_VALUE, SHORTEST_TEXT = 4, 8
"""Shorter values and texts are not searched, because they occur in too many other places."""
MOST_LOOKED_FOR = 5_000
MOST_PLACES = 8
"""The most places that are listed of a kind."""
Row = list[Any]
_PLACE = re.compile(r" (in the [^:]*|in another field|beside the messages)$")


def removed_rows(snapshot: Snapshot) -> list[Row]:
    """Return a row for each kind of each mask and redaction: kind, places, method, number of places, saved bytes."""
    rows: list[Row] = []
    for step in steps_of(snapshot, (REDACT.name, MASK.name)):
        options = unpack(step.options)
        how = PLACEHOLDERS.get(options.get("strategy", "pseudonym"), "placeholder") if step.operation == MASK.name else "placeholder"
        groups: dict[str, list[Any]] = {}
        for row in unpack(step.report):
            if row.get("action") in ("mask", "redact"):
                groups.setdefault(_kind(str(row["reason"])), []).append(row)
        rows += [[kind, _places(found), how, len(found), _saved(found)] for kind, found in groups.items()]
    return rows


def _kind(reason: str) -> str:
    """Return the reason without the place of a masked value, and without the rule of a redaction."""
    return _PLACE.sub("", reason).partition(":")[0]


def _places(rows: Iterable[Any]) -> str:
    numbers = list(dict.fromkeys(parse_path(row["path"]).number if row["path"] else "beside the messages" for row in rows))
    more = f" and {len(numbers) - MOST_PLACES} more" if len(numbers) > MOST_PLACES else ""
    return f"{' '.join(numbers[:MOST_PLACES])}{more}"


def _saved(rows: Iterable[Any]) -> int:
    return sum(row.get("bytes_before", 0) - row.get("bytes_after", 0) for row in rows)


def other_changes(snapshot: Snapshot) -> list[Row]:
    """Count the other changes of the content, such as edits; the texts that they removed are not searched."""
    counts = Counter(operation for operation in ancestors(snapshot).values() if operation not in ("", REDACT.name, MASK.name))
    return [[badge_of(name).text, count] for name, count in counts.items()]


def purges(chain: Chain) -> list[str]:
    entries = AuditEntry.objects.filter(chain_key=chain.pk, act="purge").order_by("pk")
    return [f"{count_text(each.record['values'], 'value')} in {count_text(each.record['places'], 'place')}" for each in entries]


class Leftovers:
    """Removed values in the file that leaves."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.unknown = ""
        """The reason why it is unknown what was removed."""
        try:
            self._removed = removed_from(snapshot)
        except Refused as refused:
            self._removed, self.unknown = Removed({}, {}), str(refused)
        values = [value for value in self._removed.values if len(value.strip()) >= SHORTEST_VALUE]
        texts = [text for text in self._removed.texts if len(text.strip()) >= SHORTEST_TEXT]
        self.all = len(self._removed.values) + len(self._removed.texts)
        self.purged = self._removed.purged
        self._wanted = [*values, *texts][:MOST_LOOKED_FOR]

    @property
    def looked_for(self) -> int:
        return len(self._wanted)

    def count(self, pieces: Callable[[], Iterator[bytes]]) -> int:
        """Count the places of the file that still contain one, in any spelling."""
        return Blanks(self._wanted).count(pieces()) if self._wanted else 0

    def places(self, stored: StoredChain) -> str:
        """Return the numbers of the nodes whose texts contain one, in order; "" if only other parts of the file do."""
        blanks = Blanks(self._wanted)
        numbers: dict[str, None] = {}
        for path, message in zip(message_paths(stored.tree), messages_of(stored.snapshot), strict=True):
            texts = (text for part in message.parts for _, text in texts_of(part))
            if any(blanks.text(text) != text for text in texts):
                numbers[path.number] = None
            if len(numbers) > MOST_PLACES:
                return f"{' '.join(list(numbers)[:MOST_PLACES])} and more"
        return " ".join(numbers)

    def are_in(self, text: str) -> bool:
        return Values(dict.fromkeys(self._wanted, "")).mask_piece(text) != text if self._wanted else False


def searched(stored: StoredChain, found: FileFindings, left: Leftovers, places_left: int) -> dict[str, Any]:
    groups = Counter(rule.group for rule in RULES)
    return {
        "content": stored.snapshot.size,
        "beside": len(stored.surroundings.texts()),
        "secret_rules": groups["secret"],
        "personal_rules": groups["personal"],
        "found": [[rule.label, count] for name, count in found.by_rule.items() if (rule := get_rule(name))],
        "found_values": found.values,
        "removed_values": left.all,
        "looked_for": left.looked_for,
        "places_left": places_left,
        "left_in": left.places(stored) if places_left else "",
    }


def not_searched(stored: StoredChain, left: Leftovers) -> list[str]:
    rows = [f"{each}: rules read text only" for each in unsearched_parts(stored)]
    if left.unknown:
        rows.append(f"Removed values: {left.unknown}")
    if left.purged:
        rows.append(f"{count_text(left.purged, 'removed value')}: purged since, so nothing is left to look for")
    if left.all > left.looked_for:
        rows.append(f"{count_text(left.all - left.looked_for, 'removed value')}: too short, or too many, to search for in the file")
    return rows
