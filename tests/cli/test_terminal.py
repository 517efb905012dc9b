"""Nothing that a transcript, a file's name or an argument holds reaches the terminal as a control: every command, and Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz import cli
from chainviz.commands.check.reports import REPORTS
from chainviz.core.operations import OPERATIONS
from tests import ROOT
from tests.attacks.transcripts import whole
from tests.commands.test_serve import environment
from tests.waiting import PATIENCE

HOSTILE = [
    "\x1b[31mred\x1b]0;title\x07\x1b]8;;http://127.0.0.1/\x1b\\link", "a\r\x08\x7fb\nchainviz: forged", "\x9b31m\x9d0;t\x9c\x85",
    "\u202eright\u2066to\u200fleft\u061c", "\u2028\u2029\u200b\ufeff\U000e0041", "\udc9b31m\ud800",
]  # fmt: skip
NAME = "".join(HOSTILE).replace("/", "").replace("\ud800", "")
"""The name of a file; its last byte is invalid in UTF-8."""
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]")
FORGED = re.compile("^chainviz: forged", re.MULTILINE)
RECIPE = {"recipe": 1, "name": NAME, "steps": [{"operation": "mask", "options": {"rules": [NAME]}}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / NAME[:40]
    folder.mkdir()
    (folder / f"{NAME}.json").write_bytes(whole(HOSTILE))
    (folder / f"{NAME[:-4]}.json").write_bytes(whole(HOSTILE))
    (folder / f"{NAME} cut.json").write_bytes(whole(HOSTILE)[:-30])
    (folder / "state.json").write_text(json.dumps({"version": 9, "provider": NAME, "messages": [{NAME: NAME}], "checksum": NAME}))
    (folder / "error.txt").write_text(NAME, errors="replace")
    (folder / "recipe.json").write_text(json.dumps(RECIPE))
    return folder


def without_store(folder: Path) -> dict[str, list[list[str]]]:
    """Return the arguments of the calls of each command."""
    good, cut, missing, written = (str(folder / name) for name in (f"{NAME}.json", f"{NAME} cut.json", f"{NAME} none", "written"))
    files = [good, cut, missing]
    return {
        "show": [files, ["--tokens", good], ["--json", good], ["--salvage", cut], ["--chain", "9", good], ["--format", NAME, good]],
        "check": [
            files, ["--provider", "anthropic", good], ["--json", "--provider", "openai_chat", good],
            *(["--report", report, *files] for report in REPORTS),
            ["--error", str(folder / "error.txt"), good], ["--provider", NAME, good], ["--error", missing, good],
        ],
        "apply": [
            *([each.name, good, *more] for each in OPERATIONS for more in ([], ["--json"])),
            ["mask", good, "--out", written, "--to", "anthropic"], ["mask", good, "--set", f"{NAME}={NAME}"],
            ["repair", good, "--set", f"only={NAME}"], ["edit", good, "--set", "action=text", "--set", f"path={NAME}"], [NAME, good],
        ],
        "help": [[], ["fix"], [NAME]],
        "sessions": [["--agent", NAME], ["--project", NAME], ["--json"]],
        "doctor": [["--agent", NAME], ["--project", NAME]],
        "open": [[f"{NAME} none", "--no-browser"]],
        "mcp": [[NAME]],
        "integrate": [[NAME], ["codex", "--check"]],
        "hook": [["check", NAME], ["check", "claude-code", "--session", f"{NAME} none"]],
        "recipe": [[str(folder / "recipe.json"), good], [good, good], [missing, good]],
        "convert": [
            *([each, "--to", "openai_chat", "--out", written] for each in files), [good, "--to", NAME, "--out", written],
            [good, "--to", "same", "--out", f"{missing}/{NAME}"],
        ],
        "fix": [["--check", each] for each in files] + [["--restore", missing], ["--provider", NAME, good]],
        "diff": [[good, str(folder / "state.json")], [good, good], [good, missing], ["--json", good, cut]],
        "parse": [[f"<action>{NAME}</action>{NAME}"], [f'<{NAME}><action>{{"tool": "{NAME}"', "--sections", NAME], [good, "--strict"]],
        "state": [[str(folder / "state.json"), "--salvage"], [good], [missing], [good, "--leading", NAME, "--provider", NAME]],
        "simulate": [[good], [good, "--strategy", f"{NAME}={NAME}"], [good, "--strategy", NAME], [missing]],
        "observations": [[*files, "--tools", NAME], ["--as", "xml", good], ["--as", "json", good], ["--json", good]],
        "generate": [["--name", NAME], ["--out", f"{missing}/{NAME}"]],
        "push": [[*files, "--to", "http://127.0.0.1:9/"], [good, "--to", NAME], [good, "--to", f"http://127.0.0.1:9/{NAME}"]],
        NAME: [[]],
    }  # fmt: skip


def of_store(folder: Path, data: Path) -> dict[str, list[list[str]]]:
    """Return the calls in order, by mode."""
    good, cut, missing = (str(folder / name) for name in (f"{NAME}.json", f"{NAME} cut.json", f"{NAME} none"))
    valid, backup = str(folder / f"{NAME[:-4]}.json"), str(data / f"{NAME} backup")
    local = [
        ["add", valid, good, cut, missing, str(folder)], ["check", "--review", "1", "2", "3"], ["check", "--review", NAME], ["token", NAME],
        ["serve", valid, good, cut, missing, "--without-jobs", "--port", "0"], ["serve", "--format", NAME], ["worker"],
        ["fsck"], ["backup", backup], ["backup", backup], ["backup", f"{missing}/{NAME}"], ["restore", backup], ["restore", missing],
        ["restore", good],
    ]  # fmt: skip
    team = [
        ["add", valid], ["serve", good, "--without-jobs"], ["createowner", f"{NAME}@example.org"],
        ["createowner", "lin@example.org", "--name", NAME, "--team", NAME],
        ["changepassword", NAME], ["changepassword", "lin@example.org"], ["token", NAME, "--account", NAME], ["fsck"],
    ]  # fmt: skip
    return {"local": local, "team": team}


RUN_EACH = """
import json, sys
from tests.cli.test_terminal import NAME
from chainviz import cli
from chainviz.commands.server import installation, serve
serve.serve = lambda *words, **more: None
installation.read_password = lambda: "a long enough passphrase"
for words in json.load(sys.stdin):
    print("##", words[0], flush=True)
    if words == ["worker"]:
        import chainviz.jobs.worker
        chainviz.jobs.worker.run_worker = lambda: None
    if words == ["fsck"]:
        from django.db import connection
        with connection.cursor() as cursor:
            cursor.execute("UPDATE accounts_team SET name = %s, audit_number = 9", [NAME[:-4]])
    try:
        cli.main(words)
    except SystemExit:
        pass
"""


def acting(told: str) -> list[str]:
    return [line for line in told.splitlines() if ACTS.search(line)] + FORGED.findall(told)


def test_no_command_sends_a_control(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINVIZ_TOKEN", "x")
    sessions = tmp_path / ".claude" / "projects" / f"-{NAME.replace('/', '-')}"
    sessions.mkdir(parents=True)
    row = {"type": "user", "uuid": "u1", "sessionId": NAME, "cwd": NAME, "version": "2.0", "message": {"role": "user", "content": NAME}}
    (sessions / "run.jsonl").write_text(json.dumps(row) + "\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    lines = 0
    for command, calls in without_store(folder).items():
        for words in calls:
            with suppress(SystemExit):
                cli.main([command, *words])
            said = capfd.readouterr()
            assert acting(said.err) == ACTS.findall(said.out) == [], (command, words)
            assert "--as" in words or not FORGED.search(said.out), (command, words)
            assert said.out or said.err or "--out" in words, (command, words)
            lines += (said.out + said.err).count("\n")
    assert lines > 1_000


def test_no_command_of_the_store_sends_a_control(folder: Path, tmp_path: Path) -> None:
    modes = of_store(folder, tmp_path)
    assert {*without_store(folder), *(words[0] for calls in modes.values() for words in calls)} - {NAME} == set(cli.COMMANDS)
    for mode, calls in modes.items():
        chosen = {"CHAINVIZ_MODE": mode, "CHAINVIZ_BASE_URL": "https://chainviz.example.org"}
        done = subprocess.run(
            [sys.executable, "-c", RUN_EACH], cwd=ROOT, env=environment(tmp_path, **chosen), input=json.dumps(calls).encode(),
            capture_output=True, timeout=4 * PATIENCE,
        )  # fmt: skip
        out, err = (each.decode(errors="surrogateescape") for each in (done.stdout, done.stderr))
        assert done.returncode == 0 and "Traceback" not in err, err
        assert acting(out) == acting(err) == []
        assert out.count("## ") == len(calls) and "error: Audit log of team" in out


def test_python_shows_no_control(folder: Path) -> None:
    file = folder / f"{NAME}.json"
    [chain] = chainviz.load(str(file))
    result = chain.apply("mask")
    shown: list[Any] = [chain, repr(chain), result, result.report, chainviz.diff(chain, result.chain), chain.problems()]
    for each in shown:
        assert acting(str(each)) == [], type(each)
    assert ACTS.findall(chain._repr_html_()) == []
    assert "\\u001b" in str(chain) and "\\u202e" in chain._repr_html_()


def test_exported_content_stays_byte_for_byte(folder: Path, tmp_path: Path, capfdbinary: Any) -> None:
    file = folder / f"{NAME}.json"
    raw = whole(HOSTILE[:5]).replace(b"\\u001b", b"\\u001b")
    content = json.dumps(json.loads(raw), ensure_ascii=False).encode()
    file.with_name("raw.json").write_bytes(content)
    assert b"\x7f" in content and "\u202e".encode() in content
    assert cli.main(["convert", str(file.with_name("raw.json")), "--to", "same", "--out", "-"]) == 0
    assert capfdbinary.readouterr().out == content
    chainviz.load(str(file))[0].save(tmp_path / "saved.json")
    assert (tmp_path / "saved.json").read_bytes() == file.read_bytes()
