"""The console script itself: help, bad usage, and errors of a person's input in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from chainviz import cli
from chainviz.commands.server import serve
from chainviz.core.errors import ChainError


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert [name for name in cli.COMMANDS if name not in text] == []


@pytest.mark.parametrize("words", [[], ["nothing"], ["serve", "--port", "x"]], ids=["nothing", "unknown", "bad option"])
def test_bad_usage_is_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and told.startswith("chainviz") and told.endswith("--help.\n")


def test_an_error_of_input_is_one_line_and_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(arguments: object) -> int:
        raise ChainError("line 3, column 9: a comma is missing.")

    monkeypatch.setattr(serve, "run_worker", refuse)
    assert cli.main(["worker"]) == 2
    assert capsys.readouterr().err == "chainviz: line 3, column 9: a comma is missing.\n"


def test_every_command_module_can_be_asked_for_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in cli.COMMANDS:
        with pytest.raises(SystemExit, match="0"):
            cli.main([name, "--help"])
        assert capsys.readouterr().out.startswith(f"usage: chainviz {name}")


SPEAK = """
import sys, types
from chainviz import cli
talk = types.SimpleNamespace(add_talk_arguments=lambda parser: None, run_talk=lambda arguments: print("half \\ud83d\\n" * {lines}) or 0)
sys.modules["talk"] = talk
cli.COMMANDS["talk"] = ("talk", "talks")
raise SystemExit(cli.main(["talk"]))
"""


def test_text_that_no_terminal_can_show_is_printed_escaped() -> None:
    done = subprocess.run([sys.executable, "-c", SPEAK.format(lines=1)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "half \\ud83d" in done.stdout


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_reader_that_leaves_early_is_no_error(lines: int) -> None:
    speaker = subprocess.Popen([sys.executable, "-c", SPEAK.format(lines=lines)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert speaker.stdout is not None
    speaker.stdout.close()
    assert speaker.stderr is not None
    assert speaker.stderr.read() == ""
    assert speaker.wait(timeout=120) == 0


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_full_disk_is_one_sentence_and_2(lines: int) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", SPEAK.format(lines=lines)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "chainviz: the disk is full; free some space and try again.\n")
