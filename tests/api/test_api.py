"""The Python API: what the help shows, and that it gives the same bytes as the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.cli import main
from chainviz.core.errors import ChainError, DocumentError, OptionsError, PathError
from tests import ROOT

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"bay": 4}'}}
LOST = {"id": "c2", "type": "function", "function": {"name": "look", "arguments": "{}"}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Where is bay 4, José?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL, LOST]},
    {"role": "tool", "tool_call_id": "c1", "content": "in hall 2"},
    {"role": "assistant", "content": "In hall 2."},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"model": "m-1", "messages": MESSAGES}, indent=1))
    return path


def test_example_of_the_help_runs(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(file.parent)
    page = (ROOT / "chainviz/help/python.md").read_text()
    (example,) = re.findall(r"```python\n(import chainviz\n.*?)```", page, re.DOTALL)
    exec(compile(example, "python.md", "exec"), {})
    told = capsys.readouterr().out
    assert "run.json: openai_chat, 4 messages" in told
    assert "error pending-call s1.p1.m0.c1 A message in pair 1.1" in told
    assert "answer" in told and "→" in told
    assert json.loads(Path("repaired.json").read_text())["model"] == "m-1"
    assert chainviz.load("anthropic.json")[0].format == "anthropic"


def test_importing_it_loads_no_django() -> None:
    code = "import sys, chainviz; chainviz.load; print([m for m in ('django', 'openai') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_chain_is_loaded_from_a_path_bytes_or_messages(file: Path) -> None:
    chains = [chainviz.load(each)[0] for each in (file, str(file), file.read_bytes(), MESSAGES)]
    assert {chain.messages for chain in chains} == {chains[0].messages}
    assert {chain.format for chain in chains} == {"openai_chat"}
    assert len(chains[0]) == 4 and [message.role for message in chains[0]] == ["human", "ai", "tool", "ai"]


def test_an_unchanged_chain_is_written_byte_for_byte(file: Path) -> None:
    (chain,) = chainviz.load(file)
    assert chain.to_bytes() == file.read_bytes()
    assert chain.apply("mask").chain is chain


@pytest.mark.parametrize("operation", ["repair", "mask", "redact", "convert"])
def test_it_writes_the_same_bytes_as_the_command_line(operation: str, file: Path, tmp_path: Path) -> None:
    by_command, by_api = tmp_path / "command.json", tmp_path / "api.json"
    options = {"to": "anthropic"} if operation == "convert" else {}
    settings = [word for key, value in options.items() for word in ("--set", f"{key}={value}")]
    assert main(["apply", operation, str(file), *settings, "--out", str(by_command)]) == 0
    chainviz.load(file)[0].apply(operation, **options).save(by_api)
    assert by_api.read_bytes() == by_command.read_bytes()


def test_operations_follow_one_another(file: Path) -> None:
    (chain,) = chainviz.load(json.dumps({"by": "ada@engine.dev", "messages": MESSAGES}).encode())
    masked = chain.apply("mask").chain.apply("repair").chain.apply("mask", strategy="replace")
    document = json.loads(masked.chain.to_bytes())
    assert document["by"] == "[EMAIL_1]"
    assert [message["role"] for message in document["messages"]] == ["user", "assistant", "tool", "tool", "assistant"]
    assert chain.to_bytes() == json.dumps({"by": "ada@engine.dev", "messages": MESSAGES}).encode()


def test_what_cannot_be_is_one_sentence(file: Path) -> None:
    (chain,) = chainviz.load(file)
    with pytest.raises(OptionsError, match="There is no operation “paint”"):
        chain.apply("paint")
    with pytest.raises(OptionsError, match="There is no option “colour”"):
        chain.apply("repair", colour="red")
    with pytest.raises(OptionsError, match="min_bytes is invalid: it needs a whole number, not “some”"):
        chain.apply("redact", min_bytes="some")
    with pytest.raises(OptionsError, match="no provider “nobody”"):
        chain.problems(provider="nobody")
    with pytest.raises(PathError, match="s9"):
        chain.apply("edit", action="delete", path="s9")
    with pytest.raises(OptionsError, match="There is no estimate “Guess”"):
        chain.simulate({}, ["Guess"])
    with pytest.raises(OptionsError, match="There is no option “colour”"):
        chain.observations(colour="red")
    with pytest.raises(OptionsError, match="There is no option “colour”"):
        chainviz.parse("hm", colour="red")
    with pytest.raises(OptionsError, match="The option syntax is one of json, yaml"):
        chainviz.parse("hm", syntax="toml")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("none.json", "none.json cannot be opened"),
        ("a\0b", "cannot be opened: embedded null byte"),
        (None, "not NoneType"),
        (7, "load takes a path, bytes or a list of messages, not int"),
        ({"messages": MESSAGES}, "not dict"),
        ([{"role": "user", "content": b"x"}], "Object of type bytes is not JSON serializable"),
        ([], "The list of messages is empty"),
        (["hello"], "contains no list of messages"),
        (b"", "The file is empty"),
    ],
)
def test_what_is_no_chain_is_one_sentence(source: Any, said: str) -> None:
    with pytest.raises(ChainError, match=said) as caught:
        chainviz.load(source)
    assert "\n" not in str(caught.value)


def test_bytes_may_be_of_either_kind(file: Path) -> None:
    assert chainviz.load(bytearray(file.read_bytes()))[0].messages == chainviz.load(file)[0].messages


def test_a_comparison_prints_and_counts(file: Path) -> None:
    (chain,) = chainviz.load(file)
    found = chainviz.diff(chain, chain.apply("repair").chain)
    assert found.counts == {"changed": 1}
    assert [str(group.new.first) for group in found.changes] == ["s1.p1"]
    assert "4 → 5 messages" in str(found)


def test_generated_chains_are_valid() -> None:
    assert not chainviz.generate(messages=12, seed=3).problems()
    assert len(chainviz.generate(messages=12)) == 12
    with pytest.raises(OptionsError, match="There is no chain “none”"):
        chainviz.generate("none")


def test_results_are_the_text_that_a_model_reads(file: Path) -> None:
    (result,) = chainviz.load(file)[0].observations("xml")
    (part,) = result.as_content_parts()
    assert "in hall 2" in part.text and "no result is stored" in part.text  # type: ignore[union-attr]


def test_results_are_written_with_options_and_the_types_of_the_files_schemas(tmp_path: Path) -> None:
    tool = {"name": "look", "parameters": {}, "response": {"type": "string"}}
    result = {"role": "tool", "tool_call_id": "c1", "content": '{"bay": "<4>"}'}
    messages = [*MESSAGES[:1], {"role": "assistant", "content": None, "tool_calls": [CALL]}, result]
    path = tmp_path / "run.json"

    def text(tools: list[Any], **options: Any) -> str:
        path.write_text(json.dumps({"messages": messages, "tools": tools}))
        return chainviz.load(path)[0].observations("xml", **options)[0].text

    assert text([]) == '<observation>\n<look>\n{"bay":"<4>"}\n</look>\n</observation>'
    assert text([], wrapper="none", go_compatible=True) == '<look>\n{"bay":"\\u003c4\\u003e"}\n</look>\n'
    assert text([], wrapper="none", syntax="yaml") == "<look>\nbay: <4>\n</look>\n"
    typed = text([{"type": "function", "function": tool}], wrapper="none")
    assert typed == '<look>\n"{\\"bay\\": \\"<4>\\"}"\n</look>\n'
    with pytest.raises(OptionsError, match="The option wrapper is one of auto, none, section"):
        text([], wrapper="sections")
    (failed,) = chainviz.load(messages[:2])[0].observations(empty_when_all_failed=True)
    assert (failed.text, failed.raw.errors) == ("", ("no result is stored for this call",))


def test_a_reply_is_sections_and_calls() -> None:
    answer = chainviz.parse('<plan>x</plan>no<action>[{"tool": "f"}, {"x": 1}]</action>', ("plan", "action"), format="xml")
    assert [section.name for section in answer.text.sections] == ["plan", "action"]
    ((_, read),) = answer.actions
    assert ([entry.name for entry in read.entries], read.calls) == (["f", ""], ())


def test_states_calls_and_strategies(tmp_path: Path) -> None:
    talk = [{"role": "system", "content": "s"}, *({"role": role, "content": "x"} for role in ("user", "assistant") * 3)]
    (chain,) = [chainviz.load(talk)[0]]
    call = chain.next_call(user="And now?")
    assert (len(call.stored), call.sent_count, call.seen) == (6, 8, 6)
    path = tmp_path / "state.json"
    path.write_bytes(chainviz.state.write_state(chain.state()))
    file = chainviz.state.read_state(path)
    assert file.problem is None and len(file.found.messages) == 6
    reply = chainviz.state.Reply('{"role": "assistant", "content": "y"}', "stop", 900)
    limit = chainviz.state.compactor(max_messages=4)
    after = chainviz.state.next_state(file.opened(), ['{"role": "user", "content": "And now?"}'], [reply], {}, limit)
    assert after.state is not None and len(after.state.messages) == 4
    assert after.events == ("conversation_compacted",)
    simulation = chain.simulate({"Four": {"type": "message_limit", "max_messages": 4}})
    assert [each.turn for each in simulation.lines[1].firings] == [2]
    with pytest.raises(DocumentError, match="cannot be opened"):
        chainviz.state.read_state(tmp_path / "none.json")


def test_a_converted_chain_is_a_state_that_has_been_processed() -> None:
    """Seed 3, Processed Length Field. What is removed later is no longer counted."""
    messages = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant", "user")]
    (chain,) = chainviz.load(json.dumps(messages).encode())
    moved = chain.convert("goaitools_state").chain
    assert (moved.is_moved, json.loads(moved.to_bytes())["processed_length"], moved.state().processed_length) == (True, 5, 5)
    rest = moved.apply("compact", max_messages=3).chain
    document = json.loads(rest.to_bytes())
    assert document["processed_length"] == len(document["messages"]) == rest.state().processed_length == 3
