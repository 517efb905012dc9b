"""An envelope as JSON and back, for the store."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from chainviz.core.chain.unread import unread_from, unread_rows
from chainviz.core.documents.units import CarriedSpan, Envelope, Lists, Span


def to_json(envelope: Envelope) -> str:
    values = asdict(envelope)
    values["carried"] = _from_spans(envelope.carried)
    values["unread"] = unread_rows(envelope.unread)
    if envelope.lists is not None:
        values["lists"]["spelled"] = _from_spans(envelope.lists.spelled)
    return json.dumps(values, separators=(",", ":"))


def from_json(text: str) -> Envelope:
    values: dict[str, Any] = json.loads(text)
    for key in ("region", "content", "slot"):
        values[key] = Span(**values[key]) if values[key] is not None else None
    if values.get("home") is not None:
        values["home"] = tuple(Span(**span) for span in values["home"])
    for key in ("pointer", "inside", "warnings"):
        values[key] = tuple(values[key])
    values.pop("not_understood", None)  # sentences, as earlier releases stored it
    values["unread"] = unread_from(values.get("unread", ()))
    values["carried"] = _to_spans(values["carried"])
    if values.get("lists") is not None:
        spelled = _to_spans(values["lists"].pop("spelled"))
        values["lists"] = Lists(**{key: tuple(items) for key, items in values["lists"].items()}, spelled=spelled)
    return Envelope(**values)


def _from_spans(spans: tuple[CarriedSpan, ...]) -> list[list[int]]:
    return [[span.ordinal, span.lead, span.start, span.end, *([1] if span.is_aside else [])] for span in spans]


def _to_spans(items: list[list[int]]) -> tuple[CarriedSpan, ...]:
    return tuple(CarriedSpan(ordinal, lead, start, end, bool(aside)) for ordinal, lead, start, end, *aside in items)
