"""How a run ended, as its transcript records it beside the messages; nothing is guessed.

tau-bench and tau2 record a reward, tau2 also why the run ended, SWE-agent and mini-SWE-agent an exit status and a
submission, Inspect scores, OpenHands whether the run succeeded or was correct, and Claude Code a last line of its stream.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.usage.beside import carried_lines, members_beside

MOST = 200
"""Characters of a value."""
MOST_SCORES = 20
MEMBERS = (
    ("Reward", ("reward",)),
    ("Reward", ("reward_info", "reward")),
    ("Termination reason", ("termination_reason",)),
    ("Exit status", ("info", "exit_status")),
    ("Submission", ("info", "submission")),
    ("Success", ("success",)),
    ("Correct", ("correct",)),
)
"""What each is called, and where it lies in the object around the messages."""


def recorded_outcome(context: DocumentContext) -> dict[str, str]:
    """Returns its values by name, in words; {} where the transcript records none."""
    members = members_beside(context)
    scores = members.get("scores")
    names = list(scores)[:MOST_SCORES] if isinstance(scores, dict) else []
    places = [*MEMBERS, *((f"Score {name}", ("scores", name, "value")) for name in names)]
    found = {name: words for name, path in places if (words := _words(_at(members, path)))}
    for line in carried_lines(context, ('"result"',)):
        if isinstance(line, dict) and line.get("type") == "result":
            found["Result"] = _words(line.get("subtype")) or "not said"
    return found


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _words(value: Any) -> str:
    """Of a text its first line, and how long it is; "" for what is no text, number or truth value."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:g}"
    if not isinstance(value, str):
        return ""
    first, *more = value.strip().splitlines() or ["empty"]
    line = first if len(first) <= MOST else f"{first[: MOST - 1]}…"
    return f"{line} … ({len(more) + 1:,} lines, {len(value):,} characters)" if more else line
