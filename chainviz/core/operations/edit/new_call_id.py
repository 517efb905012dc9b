"""The id of a new tool call: spelt as the ids around it, and none of them."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable

from chainviz.core.chain.calls.tool_ids import DEFAULT_TEMPLATE, parse_template
from chainviz.core.chain.chain import Chain

NEAR = 40
"""Messages on either side whose ids count."""
SEQUENCE = 6
"""Digits of an id that is a number in a row; more are random."""
_ID = re.compile(r"(.*[^A-Za-z0-9])?([A-Za-z0-9]+)", re.DOTALL)
CHARSETS = (string.digits, string.digits + "abcdef", string.ascii_letters + string.digits)


def new_call_id(chain: Chain, at: int, source: random.Random) -> str:
    """`at`: the message the call goes to."""
    near = chain.slice(max(0, at - NEAR), min(len(chain), at + NEAR))
    taken = [call.id for message in near for call in message.calls if call.id]
    found = _ID.fullmatch(taken[-1]) if taken else None
    if found is None:
        return _fresh(lambda: parse_template(DEFAULT_TEMPLATE).generate(source), taken)
    head, tail = found[1] or "", found[2]
    if tail.isdigit() and len(tail) <= SEQUENCE:
        return f"{head}{_highest(taken, head) + 1:0{len(tail)}d}"
    characters = next(each for each in CHARSETS if set(tail) <= set(each))
    return _fresh(lambda: head + "".join(source.choices(characters, k=max(len(tail), SEQUENCE))), taken)


def _fresh(generate: Callable[[], str], taken: list[str]) -> str:
    while (id := generate()) in taken:
        pass
    return id


def _highest(taken: list[str], head: str) -> int:
    tails = (id.removeprefix(head) for id in taken if id.startswith(head))
    return max(int(tail) for tail in tails if tail.isdecimal() and tail.isascii() and len(tail) <= SEQUENCE)
