"""Hugging Face chat templates: OpenAI's messages whose calls have no ids and whose arguments are objects.

Images are parts `{"type": "image", "url": …}`; Llama's templates call the role of a result `ipython`.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.documents.units import Sample
from chainviz.core.formats.chat_format import ChatFormat
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.openai_like import OpenAILikeForm
from chainviz.core.formats.requests.settings import Reasoning, ResponseFormat, ToolChoice

_ROLES = ("ipython", "observation")
_IMAGES = ("url", "path", "base64")


class HFChatForm(OpenAILikeForm):
    """What a chat template is given: messages and tools."""

    model_at = ()

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        RequestForm.write_tool_choice(self, new, choice, parallel)

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.leave_out("response_format")

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        new.leave_out("reasoning")


class HFChat(ChatFormat):
    name = "hf_chat"
    label = "Hugging Face chat"
    tested_with = "templates of transformers"
    template = '{"messages": [\n]}\n'
    known_roles = frozenset(("ipython",))
    request = HFChatForm()

    def confidence(self, sample: Sample) -> float:
        return max([_rate(value) for value in sample.values if self.is_message(value)], default=0.0)


def _rate(value: dict[str, Any]) -> float:
    """0 where nothing tells it from another dialect of OpenAI's chat."""
    if value["role"] in _ROLES:
        return 0.92
    calls = value.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    if isinstance(first, dict) and "type" in first and "id" not in first:
        return 0.94
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    is_image = any(item.get("type") == "image" and any(key in item for key in _IMAGES) for item in blocks)
    return 0.92 if is_image else 0.0
