"""Random chains worth a summary, settings near their limits, and texts of every length."""

from __future__ import annotations

import hashlib

from hypothesis import strategies as st

from chainviz.core.chain.messages import Message, Text
from chainviz.core.operations.summarize import Extractive, SummaryRequest
from tests.core.strategies import chains

texts = st.sampled_from(["s", "S(12345678)", "middling " * 12, "long " * 200])


def _chance(request: SummaryRequest) -> int:
    return int(hashlib.sha256(request.prompt_body.encode("utf-8", "replace")).hexdigest()[:8], 16)


writers = st.one_of(
    texts,
    st.sampled_from([
        Extractive().write,
        lambda request: "t" * request.target_bytes,
        lambda request: "d" * (2 * len(request.prompt_body)),
        lambda request: "r" * (1 + _chance(request) % (2 * len(request.prompt_body))),
        lambda request: ("", "s", "x" * 200, "y" * 5_000)[_chance(request) % 4],
    ]),
)  # fmt: skip
"""Always the same text, or one whose length depends on what was asked."""
options = st.builds(
    dict,
    preserve_last=st.booleans(), use_qa=st.booleans(), summ_human_in_qa=st.booleans(),
    last_sec_bytes=st.sampled_from([1, 60, 300, 1_000, 20_000]), max_bp_bytes=st.sampled_from([1, 60, 300, 2_000]),
    max_qa_sections=st.integers(1, 4), max_qa_bytes=st.sampled_from([1, 500, 1_500, 30_000]),
    keep_qa_sections=st.integers(1, 4), reserve_percent=st.sampled_from([0, 25, 100]),
)  # fmt: skip


def longer(messages: list[Message]) -> list[Message]:
    """The same chain with texts long enough to be worth a summary."""
    return [Message(m.role, tuple(Text(p.text * 20, p.reasoning) if isinstance(p, Text) else p for p in m.parts)) for m in messages]


many = st.one_of(
    chains, chains.map(longer), st.lists(chains.map(longer), max_size=4).map(lambda lists: [m for found in lists for m in found])
)
