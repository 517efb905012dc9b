"""The badge of an agent in rows: two letters, a colour and a name. Only chains from an agent's sessions have one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from chainviz.core.sources import STORES

HUES = 8


@dataclass(frozen=True, slots=True)
class AgentView:
    name: str
    label: str
    letters: str
    hue: int


@lru_cache(maxsize=256)
def agent_view(name: str) -> AgentView | None:
    """Return the badge of an agent; None for "" or an unknown agent."""
    store = next((store for store in STORES if name and store.agent == name), None)
    return AgentView(name, store.label, store.letters or store.label[:2], crc32(name.encode()) % HUES) if store else None


def agent_label(name: str) -> str:
    """Return the label of an agent, or its name if the agent is unknown."""
    agent = agent_view(name)
    return agent.label if agent else name


@lru_cache(maxsize=256)
def agent_of_format(format: str) -> str:
    """Return the agent that writes a format; "" for formats of no agent."""
    return next((store.agent for store in STORES if format in store.formats), "")


def formats_of_agent(name: str) -> list[str]:
    return [format for store in STORES if store.agent == name for format in store.formats]
