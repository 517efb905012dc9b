"""What a certificate says: what was taken out, what was searched and what could not be; numbers and kinds, never values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from chainviz.chains.exports.removed_values import Removed, removed_from
from chainviz.chains.models import AuditEntry, Chain
from chainviz.chains.render.numbers import count_text
from chainviz.chains.secrets.files import FileFindings
from chainviz.chains.versions.badges import badge_of
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import Refused
from chainviz.core.operations.mask import MASK
from chainviz.core.operations.redact import REDACT
from chainviz.core.secrets import RULES, Values, get_rule
from chainviz.core.secrets.part_texts import texts_of
from chainviz.review.sign_off.facts import unsearched_parts
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import messages_of
from chainviz.store.lineage import ancestors, steps_of
from chainviz.store.models import Snapshot
from chainviz.store.purge.blanking import Blanks

SHORTEST_VALUE, SHORTEST_TEXT = 4, 8
"""What is shorter stands in too many other places."""
MOST_LOOKED_FOR = 5_000
MOST_PLACES = 8
"""Named of a kind."""
HOW = {"pseudonym": "numbered placeholder", "replace": "placeholder", "mask": "stars"}
Row = list[Any]
_PLACE = re.compile(r" (in the [^:]*|in another field|beside the messages)$")


def removed_rows(snapshot: Snapshot) -> list[Row]:
    """Kind, places, how, number of places, bytes saved: a row for each kind of each mask and redaction."""
    rows: list[Row] = []
    for step in steps_of(snapshot, (REDACT.name, MASK.name)):
        options = unpack(step.options)
        how = HOW.get(options.get("strategy", "pseudonym"), "placeholder") if step.operation == MASK.name else "placeholder"
        groups: dict[str, list[Any]] = {}
        for row in unpack(step.report):
            if row.get("action") in ("mask", "redact"):
                groups.setdefault(_kind(str(row["reason"])), []).append(row)
        rows += [[kind, _places(found), how, len(found), _saved(found)] for kind, found in groups.items()]
    return rows


def _kind(reason: str) -> str:
    """Without the place of a masked value, and without the rule of a redaction."""
    return _PLACE.sub("", reason).partition(":")[0]


def _places(rows: Iterable[Any]) -> str:
    numbers = list(dict.fromkeys(parse_path(row["path"]).number if row["path"] else "beside the messages" for row in rows))
    more = f" and {len(numbers) - MOST_PLACES} more" if len(numbers) > MOST_PLACES else ""
    return f"{' '.join(numbers[:MOST_PLACES])}{more}"


def _saved(rows: Iterable[Any]) -> int:
    return sum(row.get("bytes_before", 0) - row.get("bytes_after", 0) for row in rows)


def other_changes(snapshot: Snapshot) -> list[Row]:
    """How often the content was changed otherwise, such as by edits: what stood there is not looked for."""
    counts = Counter(operation for operation in ancestors(snapshot).values() if operation not in ("", REDACT.name, MASK.name))
    return [[badge_of(name).text, count] for name, count in counts.items()]


def purges(chain: Chain) -> list[str]:
    entries = AuditEntry.objects.filter(chain_key=chain.pk, act="purge").order_by("pk")
    return [f"{count_text(each.record['values'], 'value')} in {count_text(each.record['places'], 'place')}" for each in entries]


class Leftovers:
    """Removed values in the file that leaves."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.unknown = ""
        """Why it cannot be known what was removed."""
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
        """Places of the file that still hold one, in any spelling."""
        return Blanks(self._wanted).count(pieces()) if self._wanted else 0

    def places(self, stored: StoredChain) -> str:
        """Numbers of the nodes whose texts hold one, in order; "" where only other parts of the file do."""
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
