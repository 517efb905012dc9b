"""`chainviz check` in CI: reports that tools read, exit codes by severity, and errors that were pasted."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from chainviz.cli import main
from chainviz.core.chain.problems import RULE_TITLES
from tests import ROOT

CALL = {"id": "call_b", "type": "function", "function": {"name": "f", "arguments": "{}"}}
PENDING = [
    {"role": "user", "content": "a\x00,\n:%"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "user", "content": "Well?"},
]
FINE = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
STRANGE = [{"role": "user", "content": "hi", "mood": "good"}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bad.json").write_text(json.dumps(PENDING, indent=1))
    (tmp_path / "fine.json").write_text(json.dumps(FINE))
    (tmp_path / "strange.json").write_text(json.dumps(STRANGE))
    return tmp_path


def check(capsys: Any, *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out


def test_junit_has_a_case_a_chain(capsys: Any, folder: Path) -> None:
    code, out = check(capsys, str(folder), "--provider", "openai-chat", "--report", "junit")
    suite = ElementTree.fromstring(out)
    assert code == 1
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None and "openai-chat/result-missing" in (failure.text or "")


def test_junit_fails_what_the_exit_code_fails(capsys: Any, folder: Path) -> None:
    for fail_on, failures in (("warning", "1"), ("unchecked", "2")):
        words = (str(folder), "--provider", "openai-chat", "--report", "junit", "--fail-on", fail_on)
        assert ElementTree.fromstring(check(capsys, *words)[1]).attrib["failures"] == failures
    (folder / "bad.json").write_text(json.dumps([{"role": "assistant", "content": "hi"}]))
    words = (str(folder / "bad.json"), "--provider", "anthropic", "--report", "junit", "--fail-on")
    for fail_on, code, failures in (("warning", 1, "1"), ("error", 0, "0")):
        found, out = check(capsys, *words, fail_on)
        assert (found, ElementTree.fromstring(out).attrib["failures"]) == (code, failures)


def test_sarif_names_rule_file_and_line(capsys: Any, folder: Path) -> None:
    _, out = check(capsys, str(folder), "--provider", "openai-chat", "--report", "sarif")
    report = json.loads(out)
    results = report["runs"][0]["results"]
    assert report["version"] == "2.1.0"
    assert {each["ruleId"]: each["level"] for each in results} == {
        "pending-call": "error", "openai-chat/result-missing": "error", "openai-chat/not-understood": "note",
    }  # fmt: skip
    place = results[0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("bad.json") and place["region"]["startLine"] == 6


def test_github_annotations_are_one_line_each(capsys: Any, folder: Path) -> None:
    _, out = check(capsys, str(folder / "bad.json"), "--report", "github")
    assert out.startswith("::error file=") and out.count("\n") == 1 and ",line=6,title=pending-call::" in out


@pytest.mark.parametrize(
    ("file", "fail_on", "code"),
    [("bad.json", "error", 1), ("fine.json", "unchecked", 0), ("strange.json", "warning", 0), ("strange.json", "unchecked", 1)],
)
def test_the_exit_code_follows_the_severity(capsys: Any, folder: Path, file: str, fail_on: str, code: int) -> None:
    assert check(capsys, str(folder / file), "--provider", "openai-chat", "--fail-on", fail_on)[0] == code


def test_a_pasted_error_is_located(capsys: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = b'{"error": {"message": "No tool output found for function call call_b."}}'
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(message)))
    code, out = check(capsys, str(folder / "bad.json"), "--error", "-")
    assert code == 0
    assert "s1.p1.m0.c0" in out and "--set only=answer-call" in out
    (folder / "error.txt").write_text("messages.1: something else")
    code, out = check(capsys, str(folder / "fine.json"), "--error", str(folder / "error.txt"), "--json")
    assert (code, json.loads(out)["path"]) == (1, "s1.p1.m0")


def test_sarif_rules_have_titles_help_and_links(capsys: Any, folder: Path) -> None:
    _, out = check(capsys, str(folder), "--provider", "openai-chat", "--report", "sarif")
    rules = {rule["id"]: rule for rule in json.loads(out)["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["pending-call"]["shortDescription"]["text"] == "A tool call has no result"
    assert "--set only=answer-call" in rules["pending-call"]["help"]["text"]
    missing = rules["openai-chat/result-missing"]
    assert missing["shortDescription"]["text"].startswith("OpenAI Chat Completions: An assistant message")
    assert missing["helpUri"].startswith("https://") and "--set only=" in missing["help"]["text"]


def test_every_rule_of_the_structure_has_a_title() -> None:
    named = re.findall(r'Problem\(\s*"([a-z-]+)"', (ROOT / "chainviz/core/chain/problems.py").read_text())
    assert named and not set(named) - RULE_TITLES.keys()


def test_several_reports_are_written_in_one_run(capsys: Any, folder: Path) -> None:
    sarif, summary = folder / "out.sarif", folder / "summary.md"
    reports = ("--report", "github", "--report", f"sarif={sarif}", "--report", f"summary={summary}")
    (folder / "in").mkdir()
    (folder / "in" / "a|b.json").write_text(json.dumps(PENDING))
    code, out = check(capsys, str(folder / "in"), *reports)
    assert code == 1 and out.startswith("::error ")
    assert json.loads(sarif.read_text())["version"] == "2.1.0"
    assert "| 1 | 1 | 3 | " in summary.read_text() and "a\\|b.json | openai\\_chat | 3 | 1 | 0 |" in summary.read_text()
    assert main(["check", str(folder), "--report", "github", "--report", "junit"]) == 2


def test_summary_without_findings(capsys: Any, folder: Path) -> None:
    assert "Nothing was found." in check(capsys, str(folder / "fine.json"), "--report", "summary")[1]


def test_the_action_runs_one_check_with_its_inputs(folder: Path) -> None:
    action = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text())
    step = action["runs"]["steps"][1]
    names = {name: str(value).partition("inputs.")[2].removesuffix(" }}") for name, value in step["env"].items()}
    inputs = {"path": "bad.json fine.json", "provider": "openai-chat", "fail-on": "error", "sarif": "out.sarif"}
    assert set(names.values()) == inputs.keys() and inputs.keys() <= action["inputs"].keys()
    program = folder / "bin" / "chainviz"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m chainviz "$@"\n')
    program.chmod(0o755)
    environment = {name: inputs[given] for name, given in names.items()}
    environment |= {"PATH": f"{program.parent}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": "summary.md", "PYTHONPATH": str(ROOT)}
    script = ROOT / ".github/actions/check/check.sh"
    done = subprocess.run([script], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("::error file=bad.json,line=6,title=pending-call::")
    assert json.loads((folder / "out.sarif").read_text())["runs"] and "| 2 | 1 |" in (folder / "summary.md").read_text()
