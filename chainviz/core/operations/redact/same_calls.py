"""Which calls are made again, with the same tool and the same arguments; the only thing a policy needs contents for."""

from __future__ import annotations

import json
from collections.abc import Mapping

from chainviz.core.chain.chain import Chain
from chainviz.core.operations.redact.body_reader import read_bodies
from chainviz.core.operations.redact.decision_matrix import Place

SameCalls = Mapping[Place, int]
"""By call (message, part): the last message with a call of the same tool and arguments."""


def find_same_calls(chain: Chain) -> SameCalls:
    """Reads every message that calls a tool. Arguments are the same where they mean the same JSON."""
    shapes = chain.shapes()
    asked: dict[Place, tuple[str, str]] = {}
    last: dict[tuple[str, str], int] = {}
    places = [index for index, shape in enumerate(shapes) if shape.calls]
    for place, message in read_bodies(chain, places):
        for call in shapes[place].calls:
            key = call.name, _meaning(getattr(message.parts[call.part], "arguments", ""))
            asked[place, call.part] = key
            last[key] = place
    return {call: last[key] for call, key in asked.items()}


def _meaning(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
