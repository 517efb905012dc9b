"""Codex rollouts: which lines are messages, and how new lines look."""

from __future__ import annotations

import json
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL, Message, Text
from chainviz.core.chain.problems import content_problems, tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.load import document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import SAMPLES

CODEX = get_format("codex_rollout")

FOLDER = SAMPLES / "codex_rollout"


def test_the_models_history_is_the_chain() -> None:
    (chain,) = load_file(FOLDER / "ok_rollout.jsonl")
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI, TOOL, TOOL, AI, TOOL, AI, HUMAN]
    assert [fragment.ordinal for fragment in chain.messages[1].source] == [2, 5]
    assert [len(message.parts) for message in chain.messages[:2]] == [2, 2]
    assert chain.messages[-1].label == "compact summary"
    assert [span.ordinal for span in chain.envelope.carried] == [3, 4, 6, 10, 16]
    assert not list(tree_problems(parse(chain.messages)))


def test_defects_of_the_broken_sample() -> None:
    (chain,) = load_file(FOLDER / "broken_aborted.jsonl")
    tree = parse(chain.messages)
    found = {(problem.rule, str(problem.path)) for problem in tree_problems(tree)}
    assert found >= {
        ("pending-call", "s1.p1.m0.c0"), ("orphan-result", "s2.p1.m1.c0"), ("unknown-role", "s2.p1.m2"),
    }  # fmt: skip
    arguments = list(content_problems(tree.sections[0], 1, 0))
    assert [(problem.rule, str(problem.path)) for problem in arguments] == [("bad-arguments", "s1.p1.m0.c0")]


def test_base_instructions_change_in_their_line() -> None:
    path = FOLDER / "ok_rollout.jsonl"
    (chain,) = load_file(path)
    system = chain.messages[0]
    changed = replace(system, parts=(replace(system.parts[0], text="Be brief."), *system.parts[1:]))  # type: ignore[call-arg]
    styled = restyle(chain.messages, 0, changed, "codex_rollout", chain.envelope)
    before, after = path.read_bytes().splitlines(), exported(path.read_bytes(), chain, (styled, *chain.messages[1:])).splitlines()
    assert before[1:] == after[1:]
    meta = json.loads(after[0])["payload"]
    assert meta["base_instructions"] == {"text": "Be brief."}
    assert meta["cwd"] == "/repo"


def test_a_new_line_takes_the_time_of_its_neighbour() -> None:
    path = FOLDER / "ok_rollout.jsonl"
    (chain,) = load_file(path)
    new = restyle(chain.messages, 8, Message(HUMAN, (Text("go on"),)), "codex_rollout", chain.envelope)
    line = json.loads(exported(path.read_bytes(), chain, (*chain.messages[:8], new, chain.messages[8])).splitlines()[16])
    assert line["payload"] == {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go on"}]}
    assert line["timestamp"].startswith("2026-11-21T20:01:")


def test_a_new_rollout_is_lines_of_items() -> None:
    messages = (Message(SYSTEM, (Text("S"),)), Message(HUMAN, (Text("q"),)), Message(AI, (Text("a"),)))
    document = b"".join(document_in(CODEX, messages, CODEX))
    assert all(json.loads(line)["type"] == "response_item" for line in document.splitlines())
    assert load_file(document)[0].messages == messages
