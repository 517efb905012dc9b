"""SWE-agent trajectories: `history` is the chain, OpenAI's messages with thought, action and the agent's name.

`trajectory` tells the same run step by step, with the whole prompt repeated in each `query`: it is kept as it is.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.documents.units import Sample
from chainviz.core.formats.chat_format import ChatFormat

_RUN = ("trajectory", "environment", "replay_config")
_OWN = ("message_type", "is_demo", "tool_call_ids")


class SWEAgent(ChatFormat):
    name = "swe_agent"
    label = "SWE-agent trajectory"
    tested_with = "SWE-agent 0.x, 1.x"
    template = '{"history": [\n]}\n'
    copies = (("trajectory", "query"),)

    def confidence(self, sample: Sample) -> float:
        messages = [value for value in sample.values if self.is_message(value)]
        if not messages:
            return 0.0
        if sample.key == "history" and any(key in sample.beside for key in _RUN):
            return 0.97
        return 0.93 if any(_is_own(value) for value in messages) else 0.0


def _is_own(value: dict[str, Any]) -> bool:
    return "agent" in value and any(key in value for key in _OWN)
