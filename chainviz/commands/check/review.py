"""`chainviz check --review`: whether stored chains meet the rules of their team, for CI.

With a token, the server at the address of the chain is asked over HTTP, so that a CI machine needs no access to the database. Without a
token, or for a bare number, the chain is looked up in the database of this machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.commands.io import tell
from chainviz.commands.server.push import TOKEN, Server, token_of_environment
from chainviz.core.errors import OptionsError

_NAMED = re.compile(r"(?:(?P<server>https?://.*)/c/|(?:.*/c/)?)(?P<chain>\d{1,18})(?:/.*)?")


def check_reviews(chains: Sequence[str], *, as_json: bool) -> int:
    """Print the review of each chain. Return 1 if a chain does not meet every rule. Raises OptionsError for an argument that names no
    chain."""
    named = [_read(each) for each in chains]
    token = token_of_environment()
    standings = _ask_servers(named, token) if token and all(server for server, _ in named) else _ask_database([key for _, key in named])
    if standings is None:
        return 2
    code = 0
    for found in standings:
        code |= not found["met"]
        tell([json.dumps(found)] if as_json else _lines(found))
    return int(code)


def _read(named: str) -> tuple[str, int]:
    """Return the server ("" for a bare number) and the number of a chain."""
    found = _NAMED.fullmatch(named)
    if found is None:
        raise OptionsError(f"{named} is neither the number nor the address of a chain.")
    return found["server"] or "", int(found["chain"])


def _lines(found: dict[str, Any]) -> Iterator[str]:
    yield f"{found['title']}, version {found['version']}: {'rules met' if found['met'] else 'rules not met'}"
    for check in found["checks"]:
        note = f" ({check['note']})" if check["note"] else ""
        yield f"  {'ok' if check['met'] else 'no'}  {check['text']}{note}"


def _ask_servers(named: Sequence[tuple[str, int]], token: str) -> Iterator[dict[str, Any]]:
    """Yield the reviews from the servers. Raises Refused if a server does not answer with a review."""
    for server, key in named:
        answer = Server(server, token).ask(f"/api/v1/chains/{key}/review")
        yield _row(key, answer["title"], answer["version"], answer["met"], answer["sign_off"] is not None, answer["checks"])


def _ask_database(keys: Sequence[int]) -> Iterator[dict[str, Any]] | None:
    """Return the reviews from the database of this machine; None if it cannot be used, which is already reported."""
    from chainviz.commands.server.startup import prepare

    return _rows_of(keys) if prepare() else None


def _rows_of(keys: Sequence[int]) -> Iterator[dict[str, Any]]:
    from chainviz.chains.models import Chain
    from chainviz.review.requests.services import standing_of

    for key in keys:
        chain = Chain.objects.in_library().filter(pk=key).first()
        if chain is None:
            raise OptionsError(f"There is no chain {key} in the library of this machine. To ask a server, pass an address and set {TOKEN}.")
        standing = standing_of(chain)
        checks = [check for check in standing.checks if check.is_asked]
        rows = [{"rule": check.name, "met": check.is_met, "text": check.text, "note": check.note} for check in checks]
        yield _row(key, chain.title, chain.version, standing.is_ready, standing.sign_off is not None, rows)


def _row(*values: Any) -> dict[str, Any]:
    return dict(zip(("chain", "title", "version", "met", "signed_off", "checks"), values, strict=True))
