"""What goaitools does to messages and we do not: it leaves out fields that its OpenAI client does not know."""

from __future__ import annotations

import json

from chainviz.core.documents import json_edit

KNOWN = ("role", "content", "tool_calls", "tool_call_id")


def known_fields(text: str) -> str:
    """A message as goaitools sends it, and as it stores a reply."""
    message = json_edit.parse(text)
    return json.dumps({key: message[key] for key in KNOWN if message.get(key) is not None})
