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

import pytest

from tests import ROOT

FORMAT = '''
import json
from dataclasses import replace
from chainviz.core.chain.messages import AI, HUMAN, NEW, Fragment, Message, Text
from chainviz.core.formats.contract import Format

class Dummy(Format):
    name, label, blocks_at, hints = "dummy", "Dummy", (), ("said",)
    def is_message(self, value): return isinstance(value, dict) and "said" in value
    def confidence(self, sample): return float(all(map(self.is_message, sample.values)))
    def read(self, units):
        for unit in units:
            yield self.message("", (unit.fragment(),))
    def message(self, role, source):
        value = json.loads(source[0].text)
        return Message(AI if value["by"] == "bot" else HUMAN, (Text(value["said"], origin=0),), source=source)
    def write(self, message, style):
        text = "".join(part.text for part in message.parts if isinstance(part, Text))
        said = json.dumps({"by": "bot" if message.role == AI else "me", "said": text})
        return (replace(message.source[0], text=said, start=-1) if message.source else Fragment(NEW, "", said),)
    def losses(self, message): return ()
'''
PROVIDER = '''
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import ALL_MODELS, Rule
NEVER = Rule(
    "dummy-never", "error", "calls are not answered here", "https://example.org",
    models=ALL_MODELS, since="2026-01", checked="2026-11-27",
)
PROVIDER = Provider("dummy", "Dummy API", "Dummy", {"pending-call": NEVER, "terminal-call": NEVER}, lambda call, before: None)
'''
OPERATION = '''
from dataclasses import replace
from pydantic import Field
from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import Text
from chainviz.core.operations.contract import Badge, Decision, Options, Outcome

class DummyOptions(Options):
    word: str = Field("hm", title="Word", description="What the first message becomes.")

class Dummy:
    name, label, doing, nothing, Options = "dummy", "Dummy", "Doing", "Nothing.", DummyOptions
    badge = Badge("Dummied", "convert", "changed")
    def run(self, chain, options, context):
        new = replace(chain[0], parts=(Text(options.word, origin=0),))
        return Outcome((Splice(0, 1, (new,)),), (Decision("s1.h.m0", "say", options.word),))
'''
POLICY = '''
from chainviz.core.operations.redact.policy import Policy, Verdict
class Dummy(Policy):
    name, label = "dummy", "Dummy"
    def verdicts(self, candidates, history, options): return [Verdict(True, "the dummy says so") for _ in candidates]
'''
WRITER = '''
class Dummy:
    name, label = "dummy", "Dummy"
    def write(self, request, *, cancelled=None, progress=None): return "All in a dummy's words."
'''
COMPACTOR = '''
from dataclasses import dataclass
from chainviz.core.operations.compact.compactor_types import MessageLimit
@dataclass(frozen=True, slots=True)
class Dummy(MessageLimit):
    type, label = "dummy", "Dummy"
'''
# what the table calls it: the file's text and the entry in the registry
KINDS = {
    "a format": (FORMAT, "Dummy", "Dummy()"),
    "a provider": (PROVIDER, "PROVIDER", "PROVIDER"),
    "an operation": (OPERATION, "Dummy", "Dummy()"),
    "a redaction policy": (POLICY, "Dummy", "Dummy()"),
    "a writer of summaries": (WRITER, "Dummy", "Dummy()"),
    "a compactor, trigger or strategy": (COMPACTOR, "Dummy", "Dummy"),
}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "a long view of the bay " * 900}
CHAIN = [
    {"role": "user", "content": "Look"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT,
    {"role": "assistant", "content": "Seen."}, {"role": "user", "content": "Well"}, {"role": "assistant", "content": "Bye."},
]  # fmt: skip


def table() -> Iterator[tuple[str, str, str, str]]:
    """Kind, file, name of the registry and file of the registry, as the help says."""
    section = (ROOT / "chainviz/help/extending.md").read_text()
    yield from re.findall(r"^\| (\w[^|]*?) \| `([^`]+)`[^|]*\| in `(\w+)`, `([^`]+)` \|$", section, re.MULTILINE)


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
    (folder / "open.json").write_text(json.dumps(CHAIN[:2]))
    return folder


def run(copy: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", "chainviz", *words], cwd=copy, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout + done.stderr


def test_the_table_names_every_kind() -> None:
    assert {kind for kind, *_ in table()} == set(KINDS)


def test_a_new_format_is_detected_written_and_read(copy: Path) -> None:
    assert run(copy, "convert", "run.json", "--to", "dummy", "--out", "said.json")[0] == 0
    code, told = run(copy, "show", "said.json")
    assert (code, "said.json: dummy, " in told) == (0, True), told


def test_a_new_provider_judges(copy: Path) -> None:
    code, told = run(copy, "check", "open.json", "--provider", "dummy")
    assert code == 1 and "Dummy API: 1 error" in told and "dummy-never" in told, told


def test_a_new_operation_has_its_help_and_runs(copy: Path) -> None:
    assert "What the first message becomes." in run(copy, "apply", "dummy", "--help")[1]
    code, told = run(copy, "apply", "dummy", "run.json", "--set", "word=So", "--out", "-")
    assert code == 0 and json.loads(told)[0] == {"role": "user", "content": "So"}, told


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


def test_whole_examples_of_the_help_run() -> None:
    page = (ROOT / "chainviz/help/extending.md").read_text()
    examples = re.findall(r'^```python\n(""".*?)^```', page, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2, "a format and an operation"
    for example in examples:
        exec(compile(example, "extending.md", "exec"), {"__name__": "example"})
