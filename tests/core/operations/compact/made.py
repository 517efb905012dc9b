"""Requests and chains for tests of compaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from chainviz.core.chain.messages import Message, Text
from chainviz.core.operations.compact import COMPACTORS, Compacted, Settings, Strategy, Trial, parse_strategy
from chainviz.core.operations.compact.contract import Compactor
from chainviz.core.state.call import CompactionFailed, CompactionRequest, Usage, Window
from tests.core.pictures import ai, call, h, odd, s, tool

OF_ROLE = {
    "user": h("0123456789"), "assistant": ai("0123456789"), "assistant_call": ai(call("c")), "tool": tool("c"),
    "system": s("0123456789"), "other": odd("other"),
}  # fmt: skip
LETTERS = {"u": "user", "a": "assistant", "c": "assistant_call", "t": "tool", "s": "system", "o": "other"}
TEN = 10
"""Bytes of the messages u, a and s."""


@dataclass(frozen=True, slots=True)
class Boom(Compactor):
    """A compactor somebody else wrote, which always fails."""

    type = "error"
    label = "Fails"

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        raise CompactionFailed("boom")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        raise CompactionFailed("boom")


REGISTRY = (*COMPACTORS, Boom)


def of_roles(roles: Sequence[str]) -> list[Message]:
    return [OF_ROLE[role] for role in roles]


def of_letters(letters: str) -> list[Message]:
    """`uact`: one message a letter, of the cases' roles."""
    return of_roles([LETTERS[letter] for letter in letters])


def request(messages: Sequence[Message], prompt_tokens: int | None = None) -> CompactionRequest:
    usage = None if prompt_tokens is None else Usage(prompt_tokens, sum(message.size for message in messages))
    return CompactionRequest(Window.of(messages), usage=usage)


def compact(value: Mapping[str, Any], given: CompactionRequest, settings: Settings | None = None) -> Compacted:
    return Strategy(parse_strategy(value, REGISTRY), settings or Settings())(given)


def kept(compacted: Compacted) -> list[int]:
    return list(range(len(compacted.request.messages)))[compacted.removed :]


TEXTS = st.sampled_from(["", "a", "é" * 30, "x" * 100, "y" * 3000])


@st.composite
def strict_chains(draw: st.DrawFn) -> list[Message]:
    """Chains that strict parsing accepts: a system message, then questions with rounds of tools and an answer."""
    messages = [s(draw(TEXTS))] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(0, 7))):
        messages.append(h(draw(TEXTS)))
        for round in range(draw(st.integers(0, 3))):
            ids = [f"c{turn}.{round}.{number}" for number in range(draw(st.integers(1, 3)))]
            messages += [ai(*map(call, ids)), *(tool(id) for id in ids)]
        messages += [ai(draw(TEXTS))] * draw(st.integers(1, 2))
    if draw(st.booleans()) and messages:
        messages.append(h("late")) if messages[-1].role != "human" else None
    return messages


LIMITS = st.integers(-1, 12)
TOKENS = st.integers(-1, 2000)
LEAVES = st.one_of(
    st.builds(lambda n: {"type": "message_limit", "max_messages": n}, LIMITS),
    st.builds(lambda n, t: {"type": "token_limit", "max_tokens": n, "target_tokens": min(t, n)}, TOKENS, TOKENS),
)
TRIGGERS = st.one_of(
    LEAVES,
    st.builds(lambda kind, n: {"type": kind, "n": n},
              st.sampled_from(["count_at_least", "turns_at_least", "bytes_at_least", "tokens_over"]), LIMITS),
    st.sampled_from([{"type": "always"}, {"type": "never"}]),
)  # fmt: skip


def _joined(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    triggers = st.lists(TRIGGERS, max_size=3).map(lambda items: {"type": "composite_trigger", "triggers": items})
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: {"type": "composite", "compactors": items}),
        st.builds(lambda trigger, strategy: {"type": "split", "trigger": trigger, "strategy": strategy},
                  TRIGGERS | triggers, inner),
    )  # fmt: skip


STRATEGIES = st.recursive(LEAVES, _joined, max_leaves=5)
"""Any tree of the built-ins, as JSON values."""


def text_of_size(size: int) -> Message:
    return Message("ai", (Text("x" * size),))
