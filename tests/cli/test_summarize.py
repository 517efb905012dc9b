"""`chainviz apply summarize`, as a person uses it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chainviz.cli import main
from chainviz.core.operations.summarize import Summary
from chainviz.core.usage.recorded import TokenUsage
from chainviz.llm.openai_writer import OpenAIWriter


@pytest.fixture
def long(tmp_path: Path) -> Path:
    path = tmp_path / "long.json"
    assert main(["generate", "--messages", "60", "--to", "openai_chat", "--out", str(path)]) == 0
    return path


def test_old_sections_are_folded_and_the_file_says_so(long: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "short.json"
    words = ["--set", "last_sec_bytes=40960", "--writer", "extractive", "--out", str(out), "--json"]
    assert main(["apply", "summarize", str(long), *words]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["after"]["size"] < printed["before"]["size"]
    assert all(len(section["body"]) == 1 for section in printed["after"]["sections"][:-1])
    assert {row["action"] for row in printed["report"]} == {"summarize"}
    assert all(row["becomes"].endswith(".p1") for row in printed["report"])
    assert main(["show", str(out), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["sections"] == printed["after"]["sections"] and shown["strict_error"] is None


def test_without_a_writer_the_one_that_needs_nothing_writes(long: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in ([], ["--writer", "extractive"]):
        assert main(["apply", "summarize", str(long), "--json", *words]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_the_reference_is_followed_on_request(long: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "summarize", str(long), "--set", "preset=pentagi", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["after"]["size"] > 0


@pytest.mark.parametrize(
    "words",
    [
        ["summarize", "FILE", "--writer", "nobody"],
        ["repair", "FILE", "--writer", "extractive"],
        ["summarize", "FILE", "--set", "last_sec_bytes=-4"],
        ["summarize", "FILE", "--set", "tool_call_id_template={r:9:q}"],
    ],
)
def test_what_cannot_be_is_said_in_one_line(words: list[str], long: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", *(str(long) if word == "FILE" else word for word in words)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_writer_that_cannot_write_leaves_the_chain_and_says_why(long: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "never.json"
    assert main(["apply", "summarize", str(long), "--writer", "manual", "--json", "--out", str(out)]) == 1
    assert "still empty" in json.loads(capsys.readouterr().out)["error"]
    assert not out.exists()


@pytest.mark.parametrize("counts", [True, False])
def test_what_a_model_costs_is_estimated_before_and_counted_after(
    long: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], counts: bool
) -> None:
    from chainviz import settings

    words = {"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "gpt-4o-mini", "llm_concurrency": 1}
    monkeypatch.setattr(settings, "CHAINVIZ", settings.CHAINVIZ.model_copy(update=words))
    said: list[str] = []

    def write(self: OpenAIWriter, request: object, **_: object) -> Summary:
        said.append(capsys.readouterr().err)
        return Summary("Short.", TokenUsage(1, 2_000, 0, 0, 30) if counts else None)

    monkeypatch.setattr(OpenAIWriter, "write", write)
    assert main(["apply", "summarize", str(long), "--set", "last_sec_bytes=40960", "--writer", "openai", "--json"]) == 0
    printed = capsys.readouterr()
    assert "estimate: " in said[0] and " to gpt-4o-mini, " in said[0] and "$0.0" in said[0] and "tokens in" in said[0]
    assert not any(said[1:])
    sums = f"counted: {len(said)} prompts to gpt-4o-mini, {2_000 * len(said):,} tokens in, {30 * len(said)} tokens out, $0.00"
    assert (sums in printed.err) == counts
    assert counts or not printed.err
    json.loads(printed.out)


def test_a_writer_that_asks_no_model_costs_nothing(long: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "summarize", str(long), "--writer", "extractive"]) == 0
    assert not capsys.readouterr().err


def test_a_chain_of_nothing_stays_nothing_where_its_format_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.json"
    file.write_text(" [\n]\n")
    assert main(["apply", "summarize", str(file)]) == 2
    assert "empty" in capsys.readouterr().err
    out = tmp_path / "out.json"
    assert main(["apply", "summarize", str(file), "--format", "neutral", "--json", "--out", str(out)]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["after"]["messages"], done["after"]["sections"], done["report"]) == (0, [], [])
    assert out.read_text() == " [\n]\n"
