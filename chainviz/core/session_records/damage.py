"""Restore the records of a session as its format requires, and describe their damage."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from chainviz.core.chain.messages import Message
from chainviz.core.formats import get_format
from chainviz.core.session_records.records import (
    Records,
    relinked,
    renumbered,
    whole_records,
    with_escaped_separators,
    without_lines,
    without_repeats,
)

NUMBERED = {"codex_rollout": "ordinal"}
"""The member with the number of a record, by format. Codex, since 0.146, resumes a session only if no number is missing."""
UNIQUE = {"codex_rollout": "ordinal", "copilot_cli": "id", "kimi_code": "event"}
"""A member with a unique value for each record, by format. Equal records with an equal value were written twice."""
SPLITS_AT_SEPARATORS = frozenset(("copilot_cli",))
"""Formats of agents that take U+2028 for the end of a line (github.com/github/copilot-cli/issues/2012)."""
SENT_TWICE = "repeats results that the record of their calls holds, so that the agent would send them twice, and is removed"


def damage_of(content: bytes, format: str, chains: Sequence[Sequence[Message]]) -> tuple[str, ...]:
    """Return a sentence for each fault in the records of a session in JSON Lines. `chains` are those that the content holds."""
    whole = whole_records(content)
    meant = as_meant(whole, format, chains if not whole.damage else ())
    return (*meant.damage, *numbered(meant.content, format)[1])


def as_meant(records: Records, format: str, chains: Collection[Sequence[Message]]) -> Records:
    """Return the records with each record once, and with parents that are in the file. `chains` are those that the records hold."""
    links = get_format(format).links
    starts = {each.start for messages in chains for each in get_format(format).sent_twice(messages)}
    records = without_lines(records, starts, SENT_TWICE) if starts else records
    records = with_escaped_separators(records) if format in SPLITS_AT_SEPARATORS else records
    member = links.own if links else UNIQUE.get(format, "")
    records = without_repeats(records, member) if member else records
    return relinked(records, links) if links else records


def numbered(content: bytes, format: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a session with its records numbered for its agent, and a sentence if the numbers were wrong."""
    if format not in NUMBERED or f'"{NUMBERED[format]}"'.encode() not in content:
        return content, ()
    new, line = renumbered(content, NUMBERED[format])
    damage = (f"The number of the record in line {line:,} does not follow the one before it; from there on the records are renumbered.",)
    return new, damage if line else ()
