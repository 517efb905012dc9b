"""The command line ends cleanly if its output is a closed stream, a full device, or a pipe whose reader ended."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.commands.test_serve import environment
from tests.shared_folder import SAMPLES

FILE = SAMPLES / "openai_chat" / "ok_request.json"
PRINTING = (f"show {FILE}", f"check {FILE}", f"apply repair {FILE} --out -", f"convert {FILE} --to gemini --out -", "generate")


def chainviz(command: str, output: str, folder: Path) -> tuple[int, str]:
    """The exit code and what is printed as errors."""
    line = f"{shlex.quote(sys.executable)} -m chainviz {command} {output}"
    done = subprocess.run(["bash", "-c", line], stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment(folder), check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("command", PRINTING)
@pytest.mark.parametrize(
    ("output", "reason"), [(">&-", "the standard output is closed"), (">/dev/full", "the disk is full; free some space and try again")]
)
def test_an_output_that_takes_nothing_ends_the_command_with_a_sentence(command: str, output: str, reason: str, tmp_path: Path) -> None:
    assert chainviz(command, output, tmp_path) == (2, f"chainviz: {reason}.\n")


def test_a_file_is_written_before_anything_is_printed(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert chainviz(f"apply repair {FILE} --out {shlex.quote(str(out))}", ">&-", tmp_path)[0] == 2
    assert out.read_bytes() == FILE.read_bytes()


def test_an_error_is_not_printed_where_errors_are_closed(tmp_path: Path) -> None:
    assert chainviz("show missing.json", "2>&- | cat >&2; exit ${PIPESTATUS[0]}", tmp_path) == (2, "")
