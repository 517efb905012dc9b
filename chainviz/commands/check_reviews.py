"""`chainviz check --review`: whether stored chains meet the rules of their team, for CI."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from chainviz.commands.io.output import tell
from chainviz.commands.server.startup import prepare
from chainviz.core.errors import OptionsError

NAMED = re.compile(r"(?:.*/c/)?(\d{1,18})(?:/.*)?")


def check_reviews(chains: Sequence[str], *, as_json: bool) -> int:
    """`chains`: numbers or addresses. Returns 1 where one does not meet every rule. Raises OptionsError."""
    keys = [_key(each) for each in chains]
    if not prepare():
        return 2
    from chainviz.chains.models import Chain
    from chainviz.review.requests.standing import standing_of

    code = 0
    for named, key in zip(chains, keys, strict=True):
        chain = Chain.objects.in_library().filter(pk=key).first()
        if chain is None:
            raise OptionsError(f"There is no chain {named} in the library.")
        standing = standing_of(chain)
        code |= not standing.is_ready
        checks = [check for check in standing.checks if check.is_asked]
        if as_json:
            rows = [{"rule": check.name, "met": check.is_met, "text": check.text, "note": check.note} for check in checks]
            signed = standing.sign_off is not None
            told = {"chain": key, "version": chain.version, "met": standing.is_ready, "signed_off": signed, "checks": rows}
            tell([json.dumps(told)])
            continue
        tell([f"{chain.title}, version {chain.version}: {'rules met' if standing.is_ready else 'rules not met'}"])
        for check in checks:
            tell([f"  {'ok' if check.is_met else 'no'}  {check.text}{f' ({check.note})' if check.note else ''}"])
    return int(code)


def _key(named: str) -> int:
    found = NAMED.fullmatch(named)
    if found is None:
        raise OptionsError(f"{named} is neither the number nor the address of a chain.")
    return int(found[1])
