"""The defects that were put into the broken samples are shown, each with its rule and place.

The samples say in MANIFEST.json what their defects are; here stands, in that order, where each is found: a rule and a path, a
warning about the file, or why it is none.
"""

from __future__ import annotations

import json

import pytest

import chainviz
from chainviz.core.errors import DocumentError
from tests.shared_folder import SAMPLES

FINE = "no defect to the format: "
WARNED = "warning: "
REFUSED = "refused: "

SHOWN: dict[str, tuple[str, list[str]]] = {
    "openai_chat/broken_pending_and_orphan.json": ("openai_chat", [
        "double-human s1.h.m2", "pending-call s1.p1.m0.c1", "orphan-result s2.p1.m1.c0", "bad-arguments s1.p1.m0.c0",
        "empty-content s2.p2.m0",
    ]),
    "openai_responses/broken_orphan_output.json": ("openai_responses", [
        "reasoning-without-item s1.p1.m0.c0", "result-without-call s1.p1.m1.c0", "result-missing s1.p2.m0.c0", "item-id s1.p2.m0.c0",
    ]),
    "anthropic/broken_unpaired.json": ("anthropic", [
        "missing-human s1.p1.m0", "text-empty s2.h.m0.c0", "call-id-pattern s2.p1.m0.c2", "result-missing s2.p1.m0.c3",
        "result-without-call s3.p1.m1.c0", "orphan-result s3.p1.m1.c1", "orphan-result s3.p1.m1.c2", "thinking-unsigned s2.p1.m0.c1",
    ]),
    "gemini/broken_counts.json": ("gemini_3", [
        "result-count s1.p1.m1.c0", "unmatched-result s1.p1.m1.c0", "thought-signature-missing s1.p1.m0.c0",
        "content-missing s1.p2.m0", "part-twofold s1.p3.m0.c0",
    ]),
    "bedrock_converse/broken_split_results.json": ("bedrock", [
        "text-blank s1.h.m0.c0", "tool-name s1.p1.m0.c0", "results-split s1.p1.m2", "result-empty s1.p1.m1.c0", "results-split s1.p1.m2",
    ]),
    "mistral/broken_ids.json": ("mistral", ["call-id-form s1.p1.m0", "system-in-messages s2.h.m0", "last-role s2.p1.m0"]),
    "ollama/broken_string_args.json": ("ollama", ["content-type s1.h.m0", "arguments-type s1.p1.m0", "result-without-name s1.p1.m1"]),
    "langchaingo/broken_chain.json": ("openai_chat", [
        "double-human s1.h.m1", "orphan-result s1.p1.m1.c0", "pending-call s1.p2.m0.c1", "empty-arguments s1.p2.m0.c0",
        "mid-system s2.h.m0",
    ]),
    "langchain/broken_dangling.json": ("openai_chat", [
        "pending-call s1.p1.m0.c0", "pending-call s1.p1.m0.c1", "unmatched-result s1.p1.m1.c0", "unknown-role s1.p1.m2",
    ]),
    "pydantic_ai/broken_retry_without_call.json": ("openai_chat", [
        "empty-content s1.p1.m0", "orphan-result s1.p1.m1.c0", FINE + "a person said it",
    ]),
    "vercel_ui/broken_interrupted.json": ("openai_chat", ["terminal-call s1.p1.m0.c0"]),
    "vercel_model/broken_missing_result.json": ("openai_chat", [
        "shared-call-id s1.p1.m0.c1", "unmatched-result s1.p1.m1.c0", FINE + "read like an output",
    ]),
    "goaitools_state/broken_version.json": ("openai_chat", [
        FINE + "said by the check of the state", FINE + "said by the check of the state", "orphan-result s1.p1.m1.c0",
    ]),
    "claude_code/broken_truncated.jsonl": ("anthropic", [
        FINE + "a resumed session begins like this", "pending-call s1.p1.m0.c0", WARNED + "Line 4, column 75",
    ]),
    "codex_rollout/broken_aborted.jsonl": ("openai_responses", [
        "pending-call s1.p1.m0.c0", "bad-arguments s1.p1.m0.c0", "orphan-result s2.p1.m1.c0", "not-understood s2.p1.m2.c0",
    ]),
    "droid_session/broken_interrupted.jsonl": ("anthropic", ["pending-call s1.p1.m0.c1", "orphan-result s2.p1.m1.c0"]),
    "openhands/broken_v0_stopped.json": ("openai_chat", [
        "pending-call s1.p1.m0.c1", "orphan-result s2.p1.m1.c0", FINE + "events stand in the order of the file", "pending-call s1.p1.m0.c2",
    ]),
    "swe_agent/broken_exit_context.traj.json": ("openai_chat", [
        "first-message s1.p1.m0", "pending-call s1.p1.m0.c1", "bad-arguments s1.p1.m0.c0",
        FINE + "runs without tools are written like this",
    ]),
    "inspect/broken_parse_error.json": ("openai_chat", [FINE + "the reference is kept as it is", "terminal-call s1.p1.m0.c0"]),
    "otel_genai/broken_truncated_attr.json": ("openai_chat", [WARNED + "Line 2, column 29", FINE + "nothing was answered"]),
    "langfuse/broken_error.json": ("", [REFUSED + "a Langfuse trace without messages", FINE + "nothing was answered"]),
    "langsmith/broken_error_run.json": ("openai_chat", ["orphan-result s1.p1.m1.c0", FINE + "nothing was answered"]),
    "sharegpt/broken_order.json": ("anthropic", [
        "first-message s1.p1.m0", "text-empty s2.h.m0.c0", "double-human s2.h.m1", "orphan-result s2.p1.m1.c0", "unknown-role s2.p1.m2",
    ]),
    "hf_chat/broken_template.json": ("vllm", ["roles-alternate s1.h.m1", "orphan-result s1.p1.m1.c0", "role-unknown s1.p1.m2"]),
}  # fmt: skip
"""The API whose rules are asked, and where each defect is shown."""

MANIFEST = {each["file"]: each for each in json.loads((SAMPLES / "MANIFEST.json").read_text())}


def test_every_broken_sample_is_in_the_table() -> None:
    broken = {name: len(each["defects"]) for name, each in MANIFEST.items() if each["broken"]}
    assert {name: len(places) for name, (_, places) in SHOWN.items()} == broken


@pytest.mark.parametrize("name", SHOWN)
def test_intended_defects_are_shown(name: str) -> None:
    provider, places = SHOWN[name]
    try:
        chains = chainviz.load(SAMPLES / name, format=MANIFEST[name]["format"])
    except DocumentError as error:
        assert places[0].removeprefix(REFUSED) in str(error)
        return
    shown = {f"{each.rule} {each.path}" for chain in chains for each in chain.problems(provider=provider)}
    warnings = " ".join(text for chain in chains for text in chain.warnings)
    for place in places:
        if place.startswith(WARNED):
            assert place.removeprefix(WARNED) in warnings
        elif not place.startswith(FINE):
            assert place in shown
