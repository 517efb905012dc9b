"""Which calls are made again, with the same tool and the same arguments; the only thing a policy needs contents for."""

from __future__ import annotations

import json

from chainviz.core.chain import Chain
from chainviz.core.operations.redact.bodies import read_bodies
from chainviz.core.operations.redact.following import History, Place


def find_same_calls(chain: Chain, history: History) -> None:
    """Fills `last_same_call`. Arguments are the same where they mean the same JSON."""
    asked: dict[Place, tuple[str, str]] = {}
    last: dict[tuple[str, str], int] = {}
    places = [index for index, shape in enumerate(history.shapes) if shape.calls]
    for place, message in read_bodies(chain, places):
        for call in history.shapes[place].calls:
            key = call.name, _meaning(getattr(message.parts[call.part], "arguments", ""))
            asked[place, call.part] = key
            last[key] = place
    history.last_same_call.update({call: last[key] for call, key in asked.items()})


def _meaning(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments
