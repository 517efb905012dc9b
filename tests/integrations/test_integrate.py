"""`chainviz integrate`: the change is shown, asked for, written beside a backup, and taken out to the byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from chainviz.cli import main
from chainviz.integrations.agents import INTEGRATIONS

OLD = {
    ".claude/settings.json": '{\n\t"model": "opus", "hooks": {"SessionStart": [{"hooks": []}]}\n}',
    ".claude.json": '{"numStartups": 3}',
    ".codex/config.toml": 'model = "m"',
    ".codex/hooks.json": "{}",
    ".gemini/settings.json": '{\r\n  "ui": {"theme": "GitHub"}\r\n}\r\n',
    ".config/opencode/opencode.jsonc": '{\n  // the model\n  "model": "local/m",\n}\n',
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CHAINVIZ_DATA", str(tmp_path / "data"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def fill(home: Path) -> None:
    for name, text in OLD.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())


def contents(home: Path) -> dict[str, bytes]:
    files = (path for path in home.rglob("*") if path.is_file() and ".backup-" not in path.name and "data" not in path.parts)
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


@pytest.mark.parametrize("agent", INTEGRATIONS)
@pytest.mark.parametrize("is_filled", [True, False], ids=["with settings", "without settings"])
def test_settings_are_the_same_byte_for_byte_after_removal(home: Path, agent: str, is_filled: bool) -> None:
    if is_filled:
        fill(home)
    before = contents(home)
    assert main(["integrate", agent, "--yes"]) == 0
    changed = contents(home)
    assert any(b"hook" in text and b"check" in text for name, text in changed.items() if text != before.get(name))
    for name, text in before.items():
        if changed[name] != text:
            (backup,) = (home / name).parent.glob(f"{Path(name).name}.backup-*")
            assert backup.read_bytes() == text
    assert main(["integrate", agent, "--remove", "--yes"]) == 0
    assert contents(home) == before


@pytest.mark.parametrize("agent", INTEGRATIONS)
def test_what_others_changed_since_stays(home: Path, agent: str) -> None:
    fill(home)
    before = contents(home)
    assert main(["integrate", agent, "--yes"]) == 0
    own = [name for name, text in contents(home).items() if name in before and text != before[name]]
    assert own
    for name in own:
        (home / name).write_bytes((home / name).read_bytes() + b" \n")
    assert main(["integrate", agent, "--remove", "--yes"]) == 0
    assert contents(home) == {name: text + b" \n" if name in own else text for name, text in before.items()}


def test_claude_code_gets_hooks_a_command_and_the_server(home: Path) -> None:
    fill(home)
    assert main(["integrate", "claude-code", "--yes"]) == 0
    hooks = json.loads((home / ".claude/settings.json").read_text())["hooks"]
    assert hooks["SessionStart"][0]["matcher"] == "resume" and hooks["SessionStart"][1] == {"hooks": []}
    assert hooks["PreCompact"][0]["hooks"][0]["command"].endswith("hook copy claude-code")
    assert "hook open claude-code" in (home / ".claude/commands/chainviz.md").read_text()
    pytest.importorskip("mcp")
    assert json.loads((home / ".claude.json").read_text())["mcpServers"]["chainviz"]["args"][-1] == "mcp"


def test_settings_of_codex_and_gemini_are_valid(home: Path) -> None:
    fill(home)
    assert main(["integrate", "codex", "--yes"]) == main(["integrate", "gemini-cli", "--yes"]) == 0
    assert tomllib.loads((home / ".codex/config.toml").read_text())["model"] == "m"
    assert "{" in tomllib.loads((home / ".gemini/commands/chainviz.toml").read_text())["prompt"]
    assert set(json.loads((home / ".gemini/settings.json").read_text())["hooks"]) == {"SessionStart", "PreCompress"}


def test_without_a_terminal_nothing_is_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(home)
    before = contents(home)
    assert main(["integrate", "codex"]) == 2
    printed = capsys.readouterr()
    assert "+++ " in printed.out and "add --yes" in printed.err
    assert main(["integrate", "codex", "--check"]) == 1
    assert contents(home) == before


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1), ("\n", 1)])
def test_the_person_is_asked(home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return answer

    monkeypatch.setattr("sys.stdin", Terminal())
    assert main(["integrate", "codex"]) == code
    assert (home / ".codex/hooks.json").exists() is (code == 0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(["emacs"], "There is no integration “emacs”"), (["codex", "--remove"], "chainviz is not in the settings of codex.")],
)
def test_a_refusal_is_a_sentence(home: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str) -> None:
    assert main(["integrate", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_second_time_and_a_broken_file_change_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["integrate", "gemini-cli", "--yes"]) == 0
    before = contents(home)
    assert main(["integrate", "gemini-cli", "--yes"]) == 2
    assert contents(home) == before
    (home / ".codex").mkdir()
    (home / ".codex/hooks.json").write_text('{"hooks": ')
    assert main(["integrate", "codex", "--yes"]) == 2
    assert "hooks.json: The file is not valid JSON: it ends too early. Nothing was changed." in capsys.readouterr().err
    assert not (home / ".codex/config.toml").exists()


def test_removal_says_where_chainviz_cannot_be_taken_out(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["integrate", "gemini-cli", "--yes"]) == 0
    settings = home / ".gemini/settings.json"
    settings.write_text(json.dumps(json.loads(settings.read_text())))
    assert main(["integrate", "gemini-cli", "--remove", "--yes"]) == 1
    assert f"{settings} was changed where chainviz is; take it out by hand." in capsys.readouterr().err
    assert "chainviz" in settings.read_text()
