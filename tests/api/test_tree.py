"""Chains that a program builds by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz import tree
from chainviz.core.errors import Refused
from tests import ROOT


def test_the_second_example_of_the_help_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "chainviz/help/python.md").read_text()
    (example,) = re.findall(r"```python\n(from chainviz import tree\n.*?)```", page, re.DOTALL)
    exec(compile(example, "python.md", "exec"), {})
    assert capsys.readouterr().out.splitlines()[-1] == "accepted"


def test_a_tree_of_constructors_is_a_chain() -> None:
    call = tree.ToolCall("c1", "search", '{"q": "x"}')
    asked = tree.pair(tree.Message(tree.AI, (call,)), [tree.tool_message("c1", "search", "nothing")])
    first = tree.section(tree.header(tree.system("Be short."), tree.human("Find x.")), [asked])
    built = tree.add_section(tree.ChainAST(()), tree.add_pair(first, tree.completion("There is no x.")))
    chain = tree.chain_of(tree.append_human(built, "Thanks."))
    assert [message.role for message in chain] == ["system", "human", "ai", "tool", "ai", "human"]
    assert not list(chain.problems()) and chain.size == built.size + len("Thanks.")


def test_results_are_added_and_found_by_the_id_of_their_call() -> None:
    pending = tree.parse([tree.human("Find x."), tree.Message(tree.AI, (tree.ToolCall("c1", "search", "{}"),))])
    answered = tree.add_tool_response(pending, "c1", "search", "nothing")
    assert [result.content for result in tree.find_tool_responses(answered, "c1")] == ["nothing"]
    with pytest.raises(Refused):
        tree.add_tool_response(pending, "c2", "search", "nothing")
    with pytest.raises(Refused):
        tree.strict_tree(pending.messages)


def test_generated_chains_follow_their_configuration() -> None:
    config = tree.ChainConfig(sections=2, body_pairs_per_section=[2], tools_for_body_pairs=[True], tool_calls_per_body_pair=[3])
    chain = tree.chain_of(tree.generate_chain(config))
    assert [len(each.body) for each in chain.tree.sections] == [2, 2]
    assert all(len(pair.ai.calls) == 3 and pair.is_valid for each in chain.tree.sections for pair in each.body if pair.ai)


def test_every_public_name_exists_and_the_module_is_public() -> None:
    assert all(hasattr(tree, name) for name in tree.__all__)
    assert "tree" in chainviz.__all__
