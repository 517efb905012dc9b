"""The check of a pair does the same for each of its results, however many there are: counted in calls of functions."""

from __future__ import annotations

import sys
from typing import Any

import chainviz


def calls_to_check(count: int) -> int:
    """Count the calls of functions while a pair is checked that has `count` calls, and as many results of other ids."""
    calls = [{"id": f"c{i}", "type": "function", "function": {"name": "run", "arguments": "{}"}} for i in range(count)]
    results = [{"role": "tool", "tool_call_id": f"x{i}", "content": f"{i}"} for i in range(count)]
    asked: list[dict[str, Any]] = [{"role": "user", "content": f"go {count}"}, {"role": "assistant", "content": None, "tool_calls": calls}]
    chain = chainviz.load([*asked, *results])[0]
    made = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        made += event == "call"

    sys.setprofile(note)
    try:
        chain.verdict("openai_chat")
    finally:
        sys.setprofile(None)
    return made


def test_results_without_calls_cost_the_same_each() -> None:
    calls_to_check(5)  # fills caches
    # four times as many if each result looks at all others
    assert calls_to_check(200) < 3 * calls_to_check(100)
