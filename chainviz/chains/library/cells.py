"""The cells of a chain's row in the library. One column, health, is for everything that may be wrong; the worst fact wins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from chainviz.chains.folders import opening
from chainviz.chains.library.agents import AgentView, agent_label, agent_of_format, agent_view
from chainviz.chains.library.filter import Filter
from chainviz.chains.library.search import ChainHits
from chainviz.chains.library.sessions import ENDING_WORDS, HEALTH_WORDS, USAGE_WORDS
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.uploads.local_files import state_of
from chainviz.chains.usage import by_model, cost_text
from chainviz.chains.verdicts import VerdictView, own_and_others, rule_words, short_name, verdict_view
from chainviz.core.chain.surroundings import describe_unread, unread_from
from chainviz.core.counts import count_text
from chainviz.core.formats import format_label
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.usage.model_catalog import chain_usage
from chainviz.core.usage.times import duration_text
from chainviz.sessions_index.models import Session
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.web.formatting import token_text, tokens_text

MOST_UNREAD = 3
"""The most kinds of unread content named in a row."""
TOOLS = 2
"""The most tools named in a row."""
FEW_POINTS = 3
NEAR = 0.8
"""The share of the context window above which a row is marked."""
NOT_JUDGED = VerdictView("quiet", "clock", "being checked again")
"""Shown if the rules have changed since the chain was checked."""


@dataclass(frozen=True, slots=True)
class Tokens:
    text: str
    note: str
    count: int | None = None
    """The recorded tokens; None if there are none."""


@dataclass(frozen=True, slots=True)
class Row:
    chain: Chain
    format_label: str
    share: str
    """The length of the size bar, from 0 to 100."""
    tools: tuple[str, ...]
    more_tools: int
    all_tools: str
    model: str
    tokens: Tokens
    cost: str
    duration: str
    verdicts: tuple[tuple[str, VerdictView], ...]
    """The verdicts, each with the name of its provider, or "" for the summary of all."""
    health: HealthView
    agent: AgentView | None
    unread: str
    """The unread content of its file, in words; "" if the chain is fully read."""
    is_running: bool = False
    """The file that the chain came from has just changed."""
    hits: ChainHits | None = None
    """The match of a search in the content."""


def row_of(chain: Chain, largest: int, path: str = "", hits: ChainHits | None = None) -> Row:
    """Return the cells of a row. `largest` is the size of the largest chain on the page, and `path` the file that the chain came from."""
    # The scale is logarithmic, because sizes differ by factors of thousands.
    share = math.log1p(chain.size / 1000) / math.log1p(largest / 1000) * 100 if largest else 0
    names = [marks(one_line(name, 40)) or "(no name)" for name, _ in chain.tools]
    return Row(
        chain=chain,
        format_label=format_label(chain.format),
        share=f"{share:.1f}",
        tools=tuple(names[:TOOLS]),
        more_tools=max(0, len(names) - TOOLS),
        all_tools=", ".join(f"{name} {calls:,}" for name, (_, calls) in zip(names, chain.tools, strict=True)),
        model=marks(one_line(chain.model, 60)),
        tokens=_tokens(chain),
        cost="" if chain.cost is None else cost_text(chain.cost),
        duration=duration_text(chain.duration / 1000) if chain.duration else "",
        verdicts=_verdicts(chain),
        health=_health_of_chain(chain),
        agent=agent_view(agent_of(chain)),
        unread=marks(" ".join(describe_unread(each) for each in unread_from(chain.unread[:MOST_UNREAD]))),
        is_running=is_running(path),
        hits=hits,
    )


def _health_of_chain(chain: Chain) -> HealthView:
    if chain.health is None:
        return HealthView("quiet", "clock", "being checked again")
    session = _session_of(chain) if chain.version == 1 else None
    return health_view(chain.health, chain.own_problems or 0, session.secrets if session else 0)


def agent_of(chain: Chain) -> str:
    """Return the agent of the session that the chain is a copy of, or the agent that writes its format."""
    session = _session_of(chain)
    return session.agent if session is not None and session.agent else agent_of_format(chain.format)


def _session_of(chain: Chain) -> Session | None:
    """Return the session that the chain is a copy of."""
    copy = getattr(chain, "working_copy", None)
    return copy.session if copy is not None else None


class SessionRow:
    """The cells of a session's row, each worked out when it is shown: most rows look as they did before."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def health(self) -> HealthView:
        session = self.session
        return health_view(session.health, session.problems, session.secrets, is_read=session.is_read)

    @property
    def agent(self) -> AgentView | None:
        return agent_view(self.session.agent or agent_of_format(self.session.format))

    @property
    def model(self) -> str:
        return marks(one_line(self.session.model, 60))

    @property
    def tokens(self) -> str:
        return "" if self.session.tokens is None else tokens_text(self.session.tokens)

    @property
    def usage(self) -> str:
        """The number of tokens in and out, in words."""
        session = self.session
        return f"{tokens_text(session.input or 0)} in, {tokens_text(session.output or 0)} out" if session.tokens is not None else ""

    @property
    def line(self) -> str:
        """The points of the line of its growing prompts, in a box of 44 by 14; "" if there are too few."""
        return _line(self.session.growth)

    @property
    def is_full(self) -> bool:
        """Whether the session is near the limit of its context window."""
        return bool(self.session.window) and (self.session.context or 0) / (self.session.window or 1) > NEAR

    @property
    def cost(self) -> str:
        return "" if self.session.cost is None else cost_text(self.session.cost)

    @property
    def duration(self) -> str:
        return duration_text(self.session.duration / 1000) if self.session.duration else ""

    @property
    def format_label(self) -> str:
        return format_label(self.session.format) if self.session.format else ""

    @cached_property
    def is_running(self) -> bool:
        return opening.is_running(int(self.session.changed_at.timestamp() * 1e9))

    @property
    def mark(self) -> str:
        """A mark that changes if the row looks different."""
        session = self.session
        facts = (session.state, session.read_state, session.health, session.title, session.cost, self.is_running)
        return sha256(repr(facts).encode("utf-8", "replace")).hexdigest()[:12]


def _line(growth: Sequence[int]) -> str:
    if len(growth) < FEW_POINTS:
        return ""
    largest = max(growth) or 1
    step = 44 / (len(growth) - 1)
    return " ".join(f"{place * step:.0f},{13 - 12 * value / largest:.0f}" for place, value in enumerate(growth))


def is_running(path: str) -> bool:
    """Return True if the file at a path has just changed; False for ""."""
    try:
        return bool(path) and opening.is_running(state_of(Path(path))[1])
    except OSError:
        return False


def _tokens(chain: Chain) -> Tokens:
    usage = chain_usage(by_model(chain.usage or {}), {})
    if not usage.is_recorded:
        return Tokens(token_text(chain.size), "estimate")
    total = usage.total
    notes = [f"{tokens_text(total.input)} in, {tokens_text(total.output)} out"]
    notes += [f"{100 * total.cached // max(1, total.input)}% cached"] if total.cached else []
    notes += [f"{tokens_text(total.reasoning)} reasoning"] if total.reasoning else []
    count = total.input + total.output
    return Tokens(tokens_text(count), " · ".join(notes), count)


def _verdicts(chain: Chain) -> tuple[tuple[str, VerdictView], ...]:
    if chain.rules != RULES_EDITION:
        return (("", NOT_JUDGED),)
    own, all_said = own_and_others(chain)
    named: dict[VerdictView, list[str]] = {}
    for provider, verdict in own.items() if all_said.state != "ok" else ():
        named.setdefault(verdict_view(verdict), []).append(short_name(provider))
    return (*((", ".join(names), view) for view, names in named.items()), ("", all_said))


# The active filters of the library in words, each with the address without it.


STATES = {"rejected": "rejects it", "accepted": "accepts it", "unchecked": "not fully checked"}
NAMES = {
    "running": "only", "agent": "agent", "health": "health",
    "q": "text", "problems": "only", "errors": "only", "drafts": "only", "format": "format", "label": "label", "tool": "tool",
    "model": "model", "problem": "problem", "verdict": "verdict", "larger": "at least", "smaller": "at most", "since": "changed since",
    "until": "changed until", "folder": "project", "secrets": "only", "sessions": "only", "ending": "ended", "error": "error",
    "repeated": "repeated call", "usage": "tokens", "from": "active since", "to": "active until",
}  # fmt: skip


ONLY = {
    "problems": "with structure problems", "errors": "with tool errors", "drafts": "with my open drafts", "running": "running",
    "secrets": "with secrets", "sessions": "sessions of agents", "repeated": "any",
}  # fmt: skip
_LABELS = {each.name: each.label for each in PROVIDERS}


@dataclass(frozen=True, slots=True)
class Chip:
    name: str
    value: str
    without: str
    """The address."""


def chips(wanted: Filter) -> list[Chip]:
    return [
        Chip(NAMES[name], _in_words(name, value), wanted.address(**{name: ""})) for name, value in wanted.values.items() if name in NAMES
    ]


def _in_words(name: str, value: str) -> str:
    if name == "format":
        return format_label(value)
    if name == "verdict":
        provider, _, state = value.partition(":")
        return f"{_LABELS.get(provider, provider)}: {STATES.get(state, state)}"
    if name == "problem" and ":" in value:
        provider = value.partition(":")[0]
        return f"{_LABELS.get(provider, provider)}: {rule_words(value)}"
    words = _WORDS.get(name)
    return words(value) if words else ONLY[name] if value == "1" and name in ONLY else value


_WORDS: dict[str, Callable[[str], str]] = {
    "problem": rule_words,
    "health": lambda value: HEALTH_WORDS.get(value, value),
    "ending": lambda value: ENDING_WORDS.get(value, value),
    "usage": lambda value: USAGE_WORDS.get(value, value),
    "agent": agent_label,
    "label": lambda value: value.partition(":")[2],
}


def rule_choices(rules: Iterable[str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the names and titles of all rules: those of the structure, then those of each provider."""
    groups: dict[str, list[tuple[str, str]]] = {each: [] for each in ("", *_LABELS)}
    for name in rules:
        provider, _, rule = name.rpartition(":")
        groups.setdefault(provider, []).append((name, rule))
    return [(_LABELS.get(each, each or "Structure"), found) for each, found in groups.items() if found]


def verdict_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the choices of verdicts by provider."""
    return [(each.label, [(f"{each.name}:{state}", f"{each.label}: {words}") for state, words in STATES.items()]) for each in PROVIDERS]


@dataclass(frozen=True, slots=True)
class HealthView:
    state: str
    icon: str
    text: str


def health_view(health: str, problems: int, secrets: int, *, is_read: bool = True) -> HealthView:
    """Return the health of a row. `problems` are errors for which its own API would refuse the next request."""
    if health == "refused":
        return HealthView("problem", "problem", count_text(problems, "problem"))
    if secrets:
        return HealthView("secret", "shield", count_text(secrets, "secret"))
    if health == "accepted":
        return HealthView("ok", "ok", "accepted")
    if health == "failed":
        return HealthView("quiet", "failed", "cannot be read")
    if health == "part":
        return HealthView("quiet", "info", "not fully checked")
    return HealthView("quiet", "clock", "not read yet" if not is_read else "not checked")
