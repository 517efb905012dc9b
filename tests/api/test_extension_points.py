"""The table of extension points in chainviz/help/extending.md, followed to the letter in a copy: one dummy of each kind.

Each is a new file and an entry in the registry that the table names; then the command line has it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chainviz.core.chain.messages import Text
from tests import ROOT

HELP = (ROOT / "chainviz/help/extending.md").read_text()
READ_ONLY, FORMAT, OPERATION = re.findall(r'^```python\n(""".*?)^```', HELP, re.MULTILINE | re.DOTALL)
"""The complete examples of the help."""
PROVIDER = """
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import ALL_MODELS, Rule
NEVER = Rule(
    "dummy-never", "error", "calls are not answered here", "https://example.org",
    models=ALL_MODELS, since="2026-01", checked="2026-11-27",
)
PROVIDER = Provider("dummy", "Dummy API", "Dummy", {"pending-call": NEVER, "terminal-call": NEVER}, lambda call, before: None)
"""
POLICY = """
from chainviz.core.operations.redact.policy import Policy, Verdict
class Dummy(Policy):
    name, label = "dummy", "Dummy"
    def verdicts(self, candidates, history, options): return [Verdict(True, "the dummy says so") for _ in candidates]
"""
WRITER = """
class Dummy:
    name, label = "dummy", "Dummy"
    def write(self, request, *, cancelled=None, progress=None): return "All in a dummy's words."
"""
COMPACTOR = """
from dataclasses import dataclass
from chainviz.core.operations.compact.compactor_types import MessageLimit
@dataclass(frozen=True, slots=True)
class Dummy(MessageLimit):
    type, label = "dummy", "Dummy"
"""
# what the table calls it: the file's text and the entry in the registry
KINDS = {
    "a format": (FORMAT, "Heron", "Heron()"),
    "a provider": (PROVIDER, "PROVIDER", "PROVIDER"),
    "an operation": (OPERATION, "Shout", "Shout()"),
    "a redaction policy": (POLICY, "Dummy", "Dummy()"),
    "a writer of summaries": (WRITER, "Dummy", "Dummy()"),
    "a compactor, trigger or strategy": (COMPACTOR, "Dummy", "Dummy"),
}
TEXTS = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a long view of the bay " * 900}
CHAIN = [
    {"role": "user", "content": "Look"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT,
    {"role": "assistant", "content": "Seen."}, {"role": "user", "content": "Well"}, {"role": "assistant", "content": "Bye."},
]  # fmt: skip


def table() -> Iterator[tuple[str, str, str, str]]:
    """Kind, file, name of the registry and file of the registry, as the help says."""
    yield from re.findall(r"^\| (\w[^|]*?) \| `([^`]+)`[^|]*\| in `(\w+)`, `([^`]+)` \|$", HELP, re.MULTILINE)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a dummy of every kind."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "chainviz", folder / "chainviz", ignore=shutil.ignore_patterns("__pycache__"))
    for kind, file, registry, where in table():
        text, name, entry = KINDS[kind]
        path = folder / re.sub(r"<\w+(?:, \w+)* or (\w+)>", r"\1", file).replace("<name>", "dummy")
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        module = str(path.relative_to(folder)).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        alias = f"{registry.title()}Dummy"
        old = (folder / where).read_text()
        new = re.sub(rf"^({registry}: .* = \()", rf"\g<1>{entry.replace(name, alias)}, ", old, count=1, flags=re.MULTILINE)
        assert new != old, registry
        imported = f"from __future__ import annotations\nfrom {module} import {name} as {alias}\n"
        (folder / where).write_text(new.replace("from __future__ import annotations\n", imported, 1))
    (folder / "run.json").write_text(json.dumps(CHAIN))
    (folder / "texts.json").write_text(json.dumps([{"role": "user", "content": TEXTS}]))
    (folder / "open.json").write_text(json.dumps(CHAIN[:2]))
    return folder


def run(copy: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", "chainviz", *words], cwd=copy, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_the_table_names_every_kind() -> None:
    assert {kind for kind, *_ in table()} == set(KINDS)


def test_a_new_format_is_detected_written_and_read(copy: Path) -> None:
    assert run(copy, "convert", "run.json", "--to", "heron", "--out", "said.json")[0] == 0
    code, told = run(copy, "show", "said.json")
    assert (code, "said.json: heron, 6 messages" in told) == (0, True), told
    code, told = run(copy, "apply", "edit", "said.json", "--set", "path=s1.p2", "--set", "action=delete", "--out", "-")
    assert code == 0 and json.loads(told)["turns"][1]["calls"] == [{"id": "c1", "tool": "look", "args": {}}], told


def test_texts_are_joined_if_a_format_has_no_list_for_them(copy: Path) -> None:
    code, told = run(copy, "convert", "texts.json", "--to", "heron", "--out", "-")
    assert code == 0 and json.loads(told.partition("\nwarning")[0])["turns"][0]["say"] == "one\ntwo", told


def test_a_new_provider_judges(copy: Path) -> None:
    code, told = run(copy, "check", "open.json", "--provider", "dummy")
    assert code == 1 and "Dummy API: 1 error" in told and "dummy-never" in told, told


def test_a_new_operation_has_its_help_and_runs(copy: Path) -> None:
    assert "Longer texts are kept, in characters." in run(copy, "apply", "shout", "--help")[1]
    code, told = run(copy, "apply", "shout", "run.json", "--set", "longest=4", "--out", "-")
    assert code == 0 and [json.loads(told)[place]["content"] for place in (3, 5)] == ["Seen.", "BYE."], told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["redact", "run.json", "--set", "policy=dummy"], "the dummy says so"),
        (["summarize", "run.json", "--writer", "dummy", "--out", "-"], "dummy's words"),
        (["compact", "run.json", "--set", 'strategy={"type": "dummy", "max_messages": 3}'], "6 → "),
    ],
    ids=["policy", "writer", "compactor"],
)
def test_a_new_policy_writer_or_compactor_is_chosen_by_its_name(copy: Path, words: list[str], said: str) -> None:
    code, told = run(copy, "apply", *words)
    assert code == 0 and said in told, told


def test_the_read_only_format_of_the_help_reads() -> None:
    example: dict[str, Any] = {"__name__": "example"}
    exec(compile(READ_ONLY, "extending.md", "exec"), example)
    assert example["Otter"]().messages_in({"otter": 1, "by": "me", "text": "Look"}) == [("user", [Text("Look")])]
