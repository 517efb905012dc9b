"""UIMessage of the Vercel AI SDK: what `useChat` keeps."""

from __future__ import annotations

from typing import Any

from chainviz.core.dialects.members import objects_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.frameworks.ui_message_format import UIMessageFormat, kind_of

_PARTS = ("step-start", "reasoning", "source-url", "source-document", "dynamic-tool", "tool-invocation", "custom", "file")


class VercelUI(UIMessageFormat):
    name = "vercel_ui"
    label = "Vercel AI SDK UIMessage"
    tested_with = "ai 4, 5, 7"

    def confidence(self, sample: Sample) -> float:
        return max((_rate(value) for value in sample.values if self.is_message(value)), default=0.0)


def _rate(value: dict[str, Any]) -> float:
    items = objects_of(value, "parts")
    kinds = [kind_of(item) for item in items]
    if any(kind in ("text", "reasoning") and "content" in item for kind, item in zip(kinds, items, strict=True)):
        return 0.0  # OpenTelemetry's parts
    if any(kind in _PARTS or kind.startswith(("tool-", "data-")) for kind in kinds):
        return 0.95
    return 0.9 if "id" in value and kinds and all(kind == "text" for kind in kinds) else 0.0
