"""The shapes in which sessions break, as people report them in the issue trackers of agents."""

from __future__ import annotations

from typing import Any

from tests.cli.fix.sessions import (
    CALL,
    COMPACTED,
    META,
    Lines,
    acted,
    answered,
    asked,
    called,
    item,
    observed,
    patched,
    pixels,
    said,
    showed,
    thought,
    told,
    words,
)


def half(answer: dict[str, Any]) -> dict[str, Any]:
    answer["message"]["content"][0]["content"] += " \ud83d"
    return answer


CLAUDE: dict[str, Lines] = {
    "a result without its call after a compaction": [
        said(0, "This session continues from a summary.", **COMPACTED), answered(1, "t1"), told(2, "Done.")
    ],
    "a result after a later user message": [
        said(0, "Look"), called(1, "t1"), said(2, "Are you there?"), answered(3, "t1"), told(4, "Yes.")
    ],
    "a call at the end": [said(0, "Look"), called(1, "t1")],
    "an interrupted call": [said(0, "Look"), called(1, "t1"), said(2, "[Request interrupted by user]"), said(3, "Go on")],
    "a repeated result": [said(0, "Look"), called(1, "t1"), answered(2, "t1"), answered(3, "t1"), told(4, "Done.")],
    "parallel calls half answered": [said(0, "Look"), called(1, "t1", "t2", "t3"), answered(2, "t2"), said(3, "And?")],
    "one message over several lines, half answered": [
        said(0, "Look"), called(1, "t1", message="m"), called(2, "t2", message="m"), answered(3, "t1"), said(4, "And?")
    ],
    "an empty message": [said(0, "Look"), told(1, ""), said(2, "And?")],
    "two processes that wrote at once": [
        said(0, "Look"), called(1, "t1"), said(2, "Here too"), called(3, "t9"), answered(4, "t1"), answered(5, "t9"), said(6, "And?")
    ],
    "a picture that is called what it is not": [said(0, "Look"), showed(1, pixels(9), "image/jpeg"), told(2, "I see.")],
    "a picture without content": [said(0, "Look"), showed(1, ""), told(2, "I see.")],
    "an answer that was interrupted while it reasoned": [said(0, "Look"), thought(1), said(2, "Go on")],
    "half of a character": [said(0, "Look"), called(1, "t1"), half(answered(2, "t1")), told(3, "Done.")],
    "a sub-agent's lines between a call and its end": [
        said(0, "Look"), called(1, "t1"), said(2, "Sub task", isSidechain=True), told(3, "Sub done", isSidechain=True),
        said(4, "And?"),
    ],
}  # fmt: skip
OPENAI: dict[str, Lines] = {
    "a result whose call was trimmed away": [
        {"role": "system", "content": "Be brief."}, {"role": "tool", "tool_call_id": "c0", "content": "old"},
        {"role": "user", "content": "Hi"},
    ],
    "a call without a result": [{"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [CALL]}],
    "the same result twice": [
        {"role": "user", "content": "Hi"}, {"role": "assistant", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "a"}, {"role": "tool", "tool_call_id": "c1", "content": "a"},
    ],
}  # fmt: skip
ANTHROPIC: dict[str, Lines] = {
    "a result without its call": [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "late"}]},
        {"role": "assistant", "content": "Thank you."},
        {"role": "user", "content": "Go on"},
    ]
}
CODEX: dict[str, Lines] = {
    "a call that was interrupted": [
        META, words("user", "Look"), item(type="function_call", name="shell", arguments="{}", call_id="c1"),
        words("user", "Again"),
    ],
    "a patch that was interrupted": [META, words("user", "Look"), patched("c1"), words("user", "Again")],
    "an output whose call was compacted away": [
        META, words("user", "Summary so far."), item(type="function_call_output", call_id="c0", output="old"),
        words("user", "Go on"),
    ],
}  # fmt: skip
PI: dict[str, Lines] = {
    "an interrupted call": [
        {"type": "message", "message": {"role": "user", "content": "Look"}},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}],
                "stopReason": "toolUse",
            },
        },
        {"type": "message", "message": {"role": "user", "content": "Again"}},
    ]
}
OPENHANDS: dict[str, Lines] = {
    "an action that was interrupted": [asked(0, "Look"), acted(1, "c1"), asked(2, "Are you there?")],
    "an action at the end": [asked(0, "Look"), acted(1, "c1")],
    "an observation whose action was condensed away": [asked(0, "Look"), observed(1, "c0"), asked(2, "Go on")],
    "an observation after a later message": [asked(0, "Look"), acted(1, "c1"), asked(2, "And?"), observed(3, "c1")],
    "the same observation twice": [asked(0, "Look"), acted(1, "c1"), observed(2, "c1"), observed(3, "c1")],
    "parallel actions half observed": [
        asked(0, "Look"), acted(1, "c1", "r"), acted(2, "c2", "r"), observed(3, "c2"), asked(4, "And?"),
    ],
}  # fmt: skip
OPENHANDS_0: dict[str, Lines] = {
    "an action without an observation": [
        {"id": 1, "source": "user", "message": "Look", "action": "message", "args": {"content": "Look"}},
        {
            "id": 2, "source": "agent", "message": "", "action": "run", "args": {"command": "ls"},
            "tool_call_metadata": {
                "function_name": "execute_bash", "tool_call_id": "c1",
                "model_response": {"id": "m1", "choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [CALL]}}]},
            },
        },
        {"id": 3, "source": "user", "message": "And?", "action": "message", "args": {"content": "And?"}},
    ],
}  # fmt: skip
