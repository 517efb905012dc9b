"""What the formats share whose messages are OpenAI's chat messages with an accent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.core.chain.messages import NEW, TOOL, Binary, Fragment, Message, Opaque, Role, Thinking, ToolResult
from chainviz.core.dialects.chat.openai_patch import patched
from chainviz.core.dialects.chat.openai_read import ROLES, read_message
from chainviz.core.dialects.chat.openai_write import OPENAI, OWN_KINDS, Accent, message_text
from chainviz.core.dialects.losses import TEXT_MOVES, has_text_behind_call
from chainviz.core.dialects.patching import Speller, reasoning_of
from chainviz.core.dialects.whole_units import read_again, read_units
from chainviz.core.documents.units import Unit
from chainviz.core.formats.contract import Format, Style

_CONTENT = ("content", "tool_calls", "function_call")


class ChatFormat(Format):
    blocks_at = ("content",)
    calls_at = ("tool_calls",)
    packs = False
    hints = ("role",)
    accent: Accent = OPENAI
    user_tools = True

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or "messages" in value:
            return False
        return value["role"] in ROLES or any(key in value for key in _CONTENT)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, read_message)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return read_again(source, read_message)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            text = message_text(message, style.near, Speller(style.near, style.ascii), self.accent)
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        if self.message(message.role, (first,)) == message:
            return (first,)
        text = patched(message, first.text, ascii_only=style.ascii, accent=self.accent)
        return (Fragment(first.ordinal, first.lead, text),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if self.accent.reasoning and any(item.signature for item in reasoning_of(message)):
            lost.append("signatures of reasoning are left out")
        elif any(isinstance(part, Thinking) and part.redacted for part in message.parts):
            lost.append("redacted reasoning is left out")
        if has_text_behind_call(message.parts):
            lost.append(TEXT_MOVES)
        if any(isinstance(part, Opaque) and part.kind not in OWN_KINDS for part in message.parts):
            lost.append("parts of unknown kinds are left out")
        if any(isinstance(part, Binary) and not part.mime.startswith("image/") for part in message.parts):
            lost.append("files become data: URLs")
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if any(part.is_error for part in results):
            lost.append("a result cannot be marked as an error")
        if not self.accent.result_names and any(part.name for part in results):
            lost.append("a result does not repeat its tool's name")
        if message.role == TOOL and len(results) > 1:
            lost.append("several results of one message become one")
        return tuple(lost)
