"""Random lists of messages, most of them broken on purpose."""

from __future__ import annotations

from hypothesis import strategies as st

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

texts = st.sampled_from(["", "a", "naïve é", "日本", "\ud800", "line\nbreak", "x" * 40])
ids = st.sampled_from(["a", "b", "c", "d", ""])
names = st.sampled_from(["search", "execute_task_and_return_summary", "done", "submit", ""])
arguments = st.sampled_from(["{}", "", "[1]", '{"a":', '{"s": "a\nb"}', '{"a": 1}', "nonsense"])
reasonings = st.none() | st.builds(Reasoning, texts, st.sampled_from(["", "sig"]))
calls = st.builds(ToolCall, ids, names, arguments, has_function=st.sampled_from([True] * 9 + [False]), reasoning=reasonings)
results = st.builds(ToolResult, ids, names, texts, is_error=st.booleans())
plain: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, texts, reasonings),
    st.builds(Image, texts),
    st.builds(Binary, st.just("image/png"), st.binary(max_size=4)),
    st.builds(Thinking, texts, texts),
    st.just(Opaque("cache_control", "{}")),
)


def message(role: str, *parts: st.SearchStrategy[Part], most: int = 3) -> st.SearchStrategy[Message]:
    return st.lists(st.one_of(*parts), max_size=most).map(lambda found: Message(role, tuple(found)))


messages = st.one_of(
    message(SYSTEM, plain, most=2),
    message(HUMAN, plain, most=2),
    message(AI, calls, plain),
    message(AI, calls),
    message(TOOL, results),
    message(TOOL, results, plain, most=2),
    message("exit", plain, most=1),
)
chains = st.lists(messages, max_size=12)
