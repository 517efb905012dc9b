"""Several files and folders at once: each is written on its own, and nothing that goes wrong stops the others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.cli import main
from tests import ROOT
from tests.core.secrets.made import fake, join

KEY = join("gh", "p_", fake(36))
CHAIN = [{"role": "user", "content": f"push with {KEY}"}, {"role": "assistant", "content": "Done."}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = tmp_path / "runs"
    backups = ("a.json.backup-20261125-193238-585110", "talk.replaced-20261125-193238-585110/d.json")
    for name in ("a.json", "deep/b.json", ".hidden/c.json", *backups):
        (runs / name).parent.mkdir(parents=True, exist_ok=True)
        (runs / name).write_text(json.dumps(CHAIN))
    return runs


def test_every_file_of_a_folder_is_written_where_it_was(folder: Path, tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "masked"
    assert main(["apply", "mask", str(folder), "--out", str(out)]) == 0
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == ["a.json", "deep/b.json"]
    assert all(KEY not in path.read_text() for path in out.rglob("*.json"))
    assert capsys.readouterr().out.count("GitHub token") == 2


def test_a_file_that_cannot_be_read_does_not_stop_the_others(folder: Path, tmp_path: Path, capsys: Any) -> None:
    bad, out = tmp_path / "bad.json", tmp_path / "out"
    bad.write_text('[{"role": "user"')
    files = [str(bad), str(tmp_path / "none.json"), str(folder / "a.json")]
    assert main(["convert", *files, "--to", "neutral", "--out", str(out)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2 and str(bad) in told[0] and "none.json cannot be opened" in told[1]
    assert [path.name for path in out.iterdir()] == ["a.json"]
    assert main(["show", *files]) == main(["check", *files]) == 2
    assert capsys.readouterr().out.count(f"{folder / 'a.json'}: ") == 2


def test_two_files_of_one_name_are_not_written_over_each_other(folder: Path, tmp_path: Path, capsys: Any) -> None:
    other = tmp_path / "a.json"
    other.write_text(json.dumps(CHAIN[:1]))
    out = tmp_path / "out"
    assert main(["convert", str(folder / "a.json"), str(other), "--to", "same", "--out", str(out)]) == 2
    assert f"{other} is not written: {out / 'a.json'} is what {folder / 'a.json'} became." in capsys.readouterr().err
    assert json.loads((out / "a.json").read_text()) == CHAIN


def test_a_refused_chain_says_what_was_not_written(folder: Path, tmp_path: Path, capsys: Any) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps([*CHAIN, CHAIN[0]]))
    out = tmp_path / "out"
    words = ["--set", "action=delete", "--set", "path=s2.h.m0", "--out", str(out)]
    assert main(["apply", "edit", str(folder / "a.json"), str(good), *words]) == 1
    assert f"{out / 'a.json'} was not written." in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["good.json"]


@pytest.mark.parametrize("words", [["--out", "-"], ["--out", "FILE"], ["--json", "--out", "-"]], ids=["standard output", "a file", "both"])
def test_several_files_need_a_folder(words: list[str], folder: Path, capsys: Any) -> None:
    named = [str(folder / "a.json") if word == "FILE" else word for word in words]
    assert main(["apply", "mask", str(folder), *named]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_reader_that_leaves_early_swallows_no_file(tmp_path: Path) -> None:
    names = [f"{number}.json" for number in range(30)]
    for name in names:
        (tmp_path / name).write_text(json.dumps(CHAIN * 200))
    out = tmp_path / "out"
    running = subprocess.Popen(
        [sys.executable, "-m", "chainviz", "apply", "mask", *(str(tmp_path / name) for name in names), "--out", str(out)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdout is not None and running.stderr is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait(timeout=300) == 0
    assert sorted(path.name for path in out.iterdir()) == sorted(names)


def test_the_version_is_told(capsys: Any) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0 and capsys.readouterr().out == f"chainviz {chainviz.__version__}\n"


def test_a_broken_line_is_named(tmp_path: Path, capsys: Any) -> None:
    lines = [json.dumps({"messages": CHAIN}) for _ in range(5)]
    lines[3] = lines[3][:-5]
    (tmp_path / "runs.jsonl").write_text("\n".join(lines))
    assert main(["show", str(tmp_path / "runs.jsonl")]) == 0
    assert "note: Line 4, column" in capsys.readouterr().out


def test_a_strategy_is_read_from_a_file(tmp_path: Path, capsys: Any) -> None:
    strategy, file, out = tmp_path / "strategy.json", tmp_path / "run.json", tmp_path / "out.json"
    strategy.write_text('{"type": "message_limit", "max_messages": 2}')
    file.write_text(json.dumps(CHAIN * 4))
    assert main(["apply", "compact", str(file), "--set", f"strategy=@{strategy}", "--out", str(out)]) == 0
    assert len(json.loads(out.read_text())) == 2
    assert main(["apply", "compact", str(file), "--set", "strategy=@none.json"]) == 2
    assert capsys.readouterr().err == "chainviz: strategy: none.json cannot be read: No such file or directory.\n"
