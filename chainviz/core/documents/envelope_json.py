"""An envelope as JSON and back, for whoever stores it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from chainviz.core.documents.units import CarriedSpan, Envelope, Span


def to_json(envelope: Envelope) -> str:
    values = asdict(envelope)
    values["carried"] = [[c.ordinal, c.lead, c.start, c.end] for c in envelope.carried]
    return json.dumps(values, separators=(",", ":"))


def from_json(text: str) -> Envelope:
    values: dict[str, Any] = json.loads(text)
    for key in ("region", "content", "slot"):
        values[key] = Span(**values[key]) if values[key] is not None else None
    if values.get("home") is not None:
        values["home"] = tuple(Span(**span) for span in values["home"])
    for key in ("pointer", "inside", "warnings"):
        values[key] = tuple(values[key])
    values["carried"] = tuple(CarriedSpan(*item) for item in values["carried"])
    return Envelope(**values)
