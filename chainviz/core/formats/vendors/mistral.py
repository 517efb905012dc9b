"""Mistral chat: OpenAI's messages whose reasoning is a list of chunks inside the content."""

from __future__ import annotations

from typing import Any

from chainviz.core.dialects.chat.openai_write import Accent
from chainviz.core.documents.units import Sample
from chainviz.core.formats.accepts import Accepts
from chainviz.core.formats.chat_format import ChatFormat
from chainviz.core.formats.requests.openai_like import OpenAILikeForm
from chainviz.core.formats.requests.settings import EFFORTS

_MODELS = ("mistral", "magistral", "codestral", "ministral", "devstral", "pixtral", "voxtral", "open-mi")
_OWN = ("random_seed", "safe_prompt", "prompt_mode")
"""Members of requests that only this API has."""
_CHUNKS = ("document_url", "reference")


class MistralForm(OpenAILikeForm):
    """mistralai, models/chatcompletionrequest.py."""

    family = "mistral"
    numbers = {
        "max_tokens": (("max_tokens",),), "temperature": (("temperature",),), "top_p": (("top_p",),), "top_k": (("top_k",),),
        "seed": (("random_seed",),), "presence_penalty": (("presence_penalty",),), "frequency_penalty": (("frequency_penalty",),),
    }  # fmt: skip
    limits = {"temperature": (0, 1.5), "top_p": (0, 1)}
    stop_at = (("stop",),)
    efforts = EFFORTS


class Mistral(ChatFormat):
    name = "mistral"
    label = "Mistral chat"
    api = "mistral"
    accepts = Accepts(reasoning=True)
    tested_with = "mistralai 3.7"
    template = '{"messages": [\n]}\n'
    accent = Accent(reasoning="")
    request = MistralForm()

    def confidence(self, sample: Sample) -> float:
        is_request = sample.key in ("messages", "")
        rates = [_rate(value, is_request=is_request) for value in sample.values if self.is_message(value)]
        if not rates:
            return 0.0
        model = sample.beside.get("model")
        is_own = any(key in sample.beside for key in _OWN)
        is_named = is_own or (isinstance(model, str) and model.rpartition("/")[2].lower().startswith(_MODELS))
        return max(*rates, 0.96 if is_named and is_request else 0.0)


def _rate(value: dict[str, Any], *, is_request: bool) -> float:
    """A call without a type is written by Mistral's clients, and by others too."""
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if any(item.get("type") in _CHUNKS or isinstance(item.get("thinking"), list) for item in blocks):
        return 0.97
    if isinstance(value.get("prefix"), bool) and value.get("role") == "assistant":
        return 0.95
    calls = value.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    is_bare = is_request and isinstance(first, dict) and "type" not in first and isinstance(first.get("id"), str)
    return 0.86 if is_bare and isinstance(first, dict) and isinstance(first.get("function"), dict) else 0.0
