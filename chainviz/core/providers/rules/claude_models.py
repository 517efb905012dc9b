"""What Anthropic's models accept, told from the name of a model as its API, Bedrock, Vertex and routers spell it."""

from __future__ import annotations

import re
from typing import NamedTuple

_NEW = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
"""`claude-opus-4-8`, `us.anthropic.claude-opus-4-6-v1:0`, `anthropic/claude-opus-4.6`, `claude-sonnet-4-20250514`."""
_OLD = re.compile(r"claude-(?:instant-)?v?(\d)(?:[-.](\d))?(?:-(opus|sonnet|haiku))?(?!\d)")
"""`claude-3-5-sonnet-20241022`, `claude-2.1`."""


class ClaudeModel(NamedTuple):
    family: str
    version: tuple[int, int]

    @property
    def takes_prefill(self) -> bool:
        """Whether a request may end with the beginning of the answer: up to the models of version 4.5."""
        return self.version < (4, 6)

    @property
    def takes_system_messages(self) -> bool | None:
        """Whether a request may have messages of the role system: from Opus 4.8 on. None: not known of this model."""
        if self.version < (4, 8):
            return False
        return True if self.family == "opus" else None


def claude_model(name: str) -> ClaudeModel | None:
    """The family and version of a model; None for the name of another model and for one without a version."""
    new = _NEW.search(name.lower())
    if new is not None:
        return ClaudeModel(new[1], (int(new[2]), int(new[3] or 0)))
    old = _OLD.search(name.lower())
    return ClaudeModel(old[3] or "", (int(old[1]), int(old[2] or 0))) if old is not None else None
