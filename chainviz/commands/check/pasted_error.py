"""`chainviz check --error`: find the place in a chain that an API's error refers to, and its fix."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from chainviz.api.chain import Chain
from chainviz.core.errors import DocumentError
from chainviz.core.operations.repair import CHOICES
from chainviz.core.pasted_errors.locate import LocatedError, what_was_tried
from chainviz.core.pasted_errors.message import ErrorMessage
from chainviz.core.providers.rules import reason_without_fix


def read_text(name: str) -> str:
    """Return the text of the error. `-` reads standard input. Raises DocumentError if the file cannot be read."""
    if name == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        return Path(name).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise DocumentError(f"{name} cannot be read: {error.strerror or error}.") from None


MOST_SESSIONS = 3
"""The most sessions with an id of the error that are listed, latest changes first."""


def sessions_with(error: ErrorMessage) -> list[str]:
    """Return the addresses of sessions of this machine that have an id of the error. Raises DocumentError if there are none."""
    from chainviz.api.sessions import sessions  # imported late because it loads sqlite3
    from chainviz.fixes.by_error import addresses_with, ids_of

    ids = ids_of(error)
    if not ids:
        raise DocumentError("The error names no id of a call or message, by which its session could be found; name the file.")
    found = list(islice(addresses_with(ids, (session.address for session in sessions())), MOST_SESSIONS))
    if not found:
        raise DocumentError(f"No session of this machine has the id {' or '.join(id[:60] for id in ids[:4])}.")
    return found


def located_object(chain: Chain, error: ErrorMessage, found: LocatedError) -> dict[str, object]:
    return {
        "format": chain.format,
        "source": chain.title,
        "provider": found.provider.name if found.provider else None,
        "rule": found.problems[0].rule if found.problems else None,
        "path": str(found.path) if found.path is not None else None,
        "text": found.problems[0].text if found.problems else None,
        "fixes": list(found.fixes),
        "without_fix": reason_without_fix(found.problems[0]) if found.problems else "",
        "others": [str(problem.path) for problem in found.problems[1:]],
        "guess": found.is_guess,
        "tried": list(what_was_tried(error, found)) if found.is_guess or not found.problems else [],
    }


def located_lines(chain: Chain, error: ErrorMessage, found: LocatedError) -> Iterator[str]:
    if not found.problems:
        known = "has no such problem" if found.provider else "has no known error with this message"
        if found.fixes:
            known = "does not show the cause"
        named = f"; the message names {found.path}" if found.path is not None else ""
        yield f"{chain.title}: the chain {known}{named}"
        yield from (f"  {sentence}" for sentence in what_was_tried(error, found))
        yield from (_fix_line(chain, name, f" --set since={found.path}") for name in found.fixes)
        return
    best = found.problems[0]
    yield f"{chain.title}: {found.path}: {best.text}"
    yield from (f"  {sentence}" for sentence in what_was_tried(error, found)) if found.is_guess else ()
    yield from (_fix_line(chain, name) for name in found.fixes)
    if reason := reason_without_fix(best):
        yield f"  no automatic fix: {reason}"
    if len(found.problems) > 1:
        yield f"  {len(found.problems) - 1:,} more like it: {', '.join(str(each.path) for each in found.problems[1:6])}"


def _fix_line(chain: Chain, name: str, more: str = "") -> str:
    return f"  fix: chainviz apply repair {chain.file.name} --set only={name}{more} ({CHOICES[name][0].lower()})"
