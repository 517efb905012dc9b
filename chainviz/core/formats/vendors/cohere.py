"""Cohere chat (version 2): OpenAI's messages with a plan beside the calls and documents as results."""

from __future__ import annotations

from typing import Any

from chainviz.core.dialects.chat.openai_write import Accent
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import Accepts
from chainviz.core.formats.chat_format import ChatFormat


class Cohere(ChatFormat):
    name = "cohere"
    label = "Cohere chat"
    api = "cohere"
    accepts = Accepts(reasoning=True, media_in_results=False)
    tested_with = "Cohere API v2"
    template = '{"messages": [\n]}\n'
    accent = Accent(reasoning="tool_plan")
    answers = (("message",),)

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values if self.is_message(value)]
        if not rates:
            return 0.0
        model = sample.beside.get("model")
        is_named = isinstance(model, str) and model.startswith(("command", "c4ai-"))
        return max(*rates, 0.96 if is_named and sample.key == "messages" else 0.0)


def _rate(value: dict[str, Any]) -> float:
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if "tool_plan" in value or any(item.get("type") == "document" and isinstance(item.get("document"), dict) for item in blocks):
        return 0.97
    return 0.0
