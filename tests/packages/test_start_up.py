"""What a command imports. Modules are counted instead of seconds, since a busy machine does not change them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT

PROGRAM = """
import json, sys
before = set(sys.modules)
from chainviz.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def modules_of(*words: str) -> set[str]:
    done = subprocess.run([sys.executable, "-S", "-c", PROGRAM, *words], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(json.loads(done.stdout.splitlines()[-1]))


def libraries_of(folder: Path, *words: str) -> set[str]:
    program = PROGRAM.replace("set(sys.modules) - before", "{name.partition('.')[0] for name in sys.modules}")
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True, cwd=folder)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_version_imports_no_library_and_few_modules() -> None:
    modules = modules_of("--version")
    assert {name for name in modules if name.startswith("chainviz")} == {"chainviz", "chainviz.cli"}
    assert len(modules) < 60, sorted(modules)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "run.json", "--provider", "anthropic"),
        ("fix", "run.json"),
        ("convert", "run.json", "--to", "anthropic", "--out", "other.json"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_for_files_imports_neither_django_nor_a_client(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "run.json").write_text(json.dumps([{"role": "user", "content": "Hello"}]))
    libraries = libraries_of(tmp_path, *words)
    assert "pydantic" in libraries
    assert not libraries & {"django", "openai", "gunicorn", "httpx2", "pydantic_settings", "psycopg", "markdown_it"}
