"""Before anything is taken out: what a scan of it found, in a sentence."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from chainviz.chains.explorer import url_or_nothing
from chainviz.chains.render.numbers import count_text
from chainviz.chains.secret_scans import latest_scan, spots_of
from chainviz.chains.secrets import Spot, is_long, scan
from chainviz.chains.subjects import Subject

NAMED = 5


@dataclass(frozen=True, slots=True)
class Held:
    state: str
    icon: str
    title: str
    text: str
    href: str = ""
    action: str = ""


def held_by(subject: Subject, user: Any) -> Held:
    url = url_or_nothing("drafts:mask", subject.chain.pk)
    href = f"{url}?{subject.edit_query}" if url else ""
    if is_long(subject.stored):
        job = latest_scan(subject.snapshot, user)
        if job is None:
            text = "This chain is long, so it is looked through in the background when you ask for it."
            return Held("changed", "info", "Nobody has looked for secrets in it yet", text, href, "Look for secrets")
        return _found(spots_of(job), href)
    return _found(list(scan(subject.stored)), href)


def _found(spots: list[Spot], href: str) -> Held:
    if not spots:
        text = "Rules for keys, passwords, tokens and personal data found nothing. Rules know forms, not meanings."
        return Held("ok", "ok", "No secrets were found", text)
    values = len({spot.mark for spot in spots})
    counts = Counter(spot.of_rule.label for spot in spots).most_common()
    named = ", ".join(f"{label} {count:,}" for label, count in counts[:NAMED])
    more = f" and {count_text(len(counts) - NAMED, 'more kind')}" if len(counts) > NAMED else ""
    title = f"{count_text(len(spots), 'finding')} of {count_text(values, 'value')} in it"
    return Held("problem", "problem", title, f"{named}{more}.", href, "Review and mask")
