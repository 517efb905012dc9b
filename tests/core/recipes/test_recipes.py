"""Recipes: read from files, run step by step, the same as the operations one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.cli import main
from chainviz.core.errors import OptionsError, Refused
from chainviz.core.recipes import read_recipe, write_recipe

BROKEN = Path(__file__).parents[2] / "samples" / "openai_chat" / "broken_pending_and_orphan.json"
RECIPE: dict[str, Any] = {
    "recipe": "For the vendor",
    "steps": [
        {"operation": "repair"},
        {"operation": "mask", "options": {"word_lists": ["Places"]}},
        {"operation": "redact", "options": {"policy": "every", "min_bytes_saved": 0}},
    ],
    "word_lists": [{"name": "Places", "words": ["main.py"], "patterns": [r"src/\w+"]}],
}
TOML = r"""
recipe = "For the vendor"
steps = [
    { operation = "repair" },
    { operation = "mask", options = { word_lists = ["Places"] } },
    { operation = "redact", options = { policy = "every", min_bytes_saved = 0 } },
]
[[word_lists]]
name = "Places"
words = ["main.py"]
patterns = ['src/\w+']
"""
READ_ONLY = {"operation": "convert", "options": {"to": "zed"}}
"""No chain can be written in this format."""


def test_json_and_toml_say_the_same_and_come_back() -> None:
    recipe = read_recipe(json.dumps(RECIPE))
    assert read_recipe(TOML.encode()) == recipe == read_recipe(RECIPE) == read_recipe(write_recipe(recipe))


def test_a_recipe_does_what_its_steps_do_one_by_one() -> None:
    chain = chainviz.load(BROKEN)[0]
    known = {"own_words": "main.py", "own_patterns": r"src/\w+"}
    repaired = chain.apply("repair").chain
    masked = repaired.apply("mask", **known).chain
    wanted = masked.apply("redact", policy="every", min_bytes_saved=0)
    inline = {"steps": [RECIPE["steps"][0], {"operation": "mask", "options": known}, RECIPE["steps"][2]]}
    result = chain.apply_recipe(inline)
    assert result.chain.to_bytes() == wanted.chain.to_bytes()
    assert len(result.report) >= len(wanted.report)
    assert {each.severity for each in chain.apply_recipe(RECIPE).chain.problems()} == {"info"}


def test_a_step_that_changes_nothing_is_passed_over_and_one_that_is_refused_stops() -> None:
    chain = chainviz.load([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])[0]
    assert chain.apply_recipe({"steps": [{"operation": "repair"}, {"operation": "mask"}]}).chain is chain
    with pytest.raises(Refused, match=r"^Step 2, .*: "):
        chain.apply_recipe({"steps": [{"operation": "repair"}, READ_ONLY]})


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("{", "not JSON: line 1"),
        ("= 4", "not TOML"),
        (b"\xff{}", "not UTF-8"),
        ("[]", "an object with"),
        ('["steps"]', "an object with"),
        ("[steps", "not TOML"),
        ("[" * 100_000, "not TOML"),
        ("{}", "an object with"),
        ({"steps": []}, "at least one step"),
        ({"steps": 4}, "must be a list"),
        ({"steps": [4]}, "Step 1 must be an object"),
        ({"steps": [{"operation": "edit"}]}, "Step 1: “Edit”"),
        ({"steps": [{"operation": "nonsense"}]}, "no operation “nonsense”"),
        ({"steps": [{"operation": "mask", "options": {"stategy": "x"}}]}, "no option “stategy”"),
        ({"steps": [{"operation": "mask", "options": {"word_lists": ["Gone"]}}]}, "no word list “Gone”"),
        ({"steps": [{"operation": "mask"}], "word_lists": [{"name": "A", "patterns": ["(a"]}]}, "Word list “A”"),
        ({"steps": [{"operation": "mask"}], "word_lists": [{"name": ""}]}, "A name has 1 to"),
        ({"steps": [{"operation": "compact"}]}, "Step 1, Compact: Choose when to compact"),
        ({"steps": [{"operation": "redact", "options": {"policy": "by_hand"}}]}, "Step 1, Redact: What is chosen by hand"),
        ({"steps": [{"operation": "mask"}] * 30}, "at most 20 steps"),
        ({"steps": [{"operation": "mask"}], "lists": []}, "no “lists”"),
    ],
)
def test_what_is_no_recipe_is_refused_in_a_sentence(source: Any, said: str) -> None:
    with pytest.raises(OptionsError) as refused:
        read_recipe(source)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_command_line_writes_what_python_makes(tmp_path: Path, capsys: Any) -> None:
    path, out = tmp_path / "vendor.toml", tmp_path / "out.json"
    path.write_text(TOML)
    assert main(["recipe", str(path), str(BROKEN), "--out", str(out)]) == 0
    assert out.read_bytes() == chainviz.load(BROKEN)[0].apply_recipe(path).chain.to_bytes()
    assert main(["recipe", str(tmp_path / "gone.json"), str(BROKEN)]) == 2
    path.write_text(json.dumps({"steps": [READ_ONLY]}))
    assert main(["recipe", str(path), str(BROKEN), "--out", str(tmp_path / "none.json")]) == 1
    assert not (tmp_path / "none.json").exists()
    assert "was not written" in capsys.readouterr().err


def test_recipe_of_the_help_can_be_read() -> None:
    page = (Path(__file__).parents[3] / "chainviz/help/redaction.md").read_text()
    recipe = read_recipe(page.split("```toml\n")[1].split("```")[0])
    assert [step.operation.name for step in recipe.steps] == ["repair", "mask", "redact"]
