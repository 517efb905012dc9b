"""What a chain is called after its content: the title that its document records, or what its first request asks for."""

from __future__ import annotations

import re
from typing import Any

from chainviz.core.chain.messages import Message, Text
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.usage.beside import carried_lines, members_beside

_LINE_KEYS = ("customTitle", "aiTitle", "summary")
"""What a line of a session names it by; one that a person gave comes first (formats.md 2.13)."""
_MEMBERS = ("title", "summary", "name")
"""What the object around a list of messages names it by; `name` only in exports of claude.ai, elsewhere it names an agent."""
_CONTEXT_TAGS = (
    "environment_context", "environment_details", "user_instructions", "system-reminder", "command-name", "command-message",
    "command-args", "command-contents", "local-command-stdout", "local-command-stderr", "local-command-caveat",
    "ide_opened_file", "ide_selection", "user-prompt-submit-hook", "turn_aborted", "INSTRUCTIONS",
)  # fmt: skip
"""Elements that agents put before or instead of what a person wrote."""
_CONTEXT = re.compile(rf"\s*<({'|'.join(_CONTEXT_TAGS)})(?:\s[^<>]*)?>.*?</\1\s*>\s*", re.DOTALL)
_AGENT_NOTES = ("Caveat: The messages below", "# AGENTS.md instructions", "[Request interrupted by user")
_MOVED_TEXTS = ("[Result of the ", "[Error result of the ", "[Call of ", "[Call (")
_MOVED_MESSAGES = ("[System message]", "[Tool message without a call]", "[Message of the role ")
"""Beginnings of texts that a repair moved into a human message, and marks before a text of another message (operations/repair)."""
_COMMAND = re.compile(r"/[\w:-]{1,40}\s*")
"""A command to the agent itself, such as /clear."""
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,100}>")
_LOOKED_AT = 20_000
"""Characters of a request."""


def recorded_title(context: DocumentContext) -> str:
    """The title that the document records beside its messages; "" where it records none."""
    if context.envelope.lines:
        return _title_of_lines(carried_lines(context, tuple(f'"{key}"' for key in _LINE_KEYS)))
    members = members_beside(context)
    keys = _MEMBERS if "chat_messages" in members else _MEMBERS[:2]
    return next((text for key in keys if (text := _text(members.get(key)))), "")


def _title_of_lines(lines: Any) -> str:
    found: dict[str, str] = {}
    for line in lines:
        for key in _LINE_KEYS if isinstance(line, dict) else ():
            found[key] = _text(line.get(key)) or found.get(key, "")
    return next((found[key] for key in _LINE_KEYS if found.get(key)), "")


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def request_of(message: Message) -> str:
    """What a human message asks for, in one line, without what the agent or a repair put there; "" where that is all."""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    while texts and texts[0].startswith((*_MOVED_TEXTS, *_MOVED_MESSAGES)):
        texts = texts[2 if texts[0].startswith(_MOVED_MESSAGES) else 1 :]
    return request_title("\n".join(texts))


def request_title(text: str) -> str:
    """As `request_of`, of the message's text."""
    text, place = text[:_LOOKED_AT], 0
    while found := _CONTEXT.match(text, place):
        place = found.end()
    asked = text[place:].lstrip()
    if asked.startswith(_AGENT_NOTES) or _COMMAND.fullmatch(asked):
        return ""
    return " ".join(_TAG.sub(" ", asked).split()).lstrip("#>*- ")
