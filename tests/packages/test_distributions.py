"""The two distributions: their metadata, the files in them, and the commands of the small one without the libraries of the large one."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import chainviz
from tests import ROOT
from tests.commands.test_serve import Server, assert_serves

pytestmark = pytest.mark.slow
ONLY_ALLOWED = """
import sys
class OnlyAllowed:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        known = top in ALLOWED or top in sys.stdlib_module_names or top.startswith(("chainviz", "_sysconfigdata"))
        if not known:
            raise ModuleNotFoundError(f"No module named {top!r}", name=top)
sys.meta_path.insert(0, OnlyAllowed())
"""
"""Refuses to import what is neither in `ALLOWED`, a set of the program before, nor of Python itself."""


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]  # type: ignore[no-any-return]


WHOLE, SMALL = project(ROOT), project(ROOT / "packaging/cli")


def closure(names: Sequence[str], extras: Collection[str] = ("",)) -> Iterator[str]:
    """Return the names of distributions and of everything that they require on this Python."""
    for text in names:
        requirement = Requirement(text)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in extras):
            yield normal(requirement.name)
            yield from closure(requires(requirement.name) or [], {"", *requirement.extras})


def normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def only_libraries_of(dependencies: Sequence[str]) -> str:
    """Return a program after which nothing but the modules of these dependencies can be imported."""
    names = set(closure(dependencies))
    modules = {module for module, owners in packages_distributions().items() if names & {normal(each) for each in owners}}
    return f"ALLOWED = {modules!r}\n{ONLY_ALLOWED}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    for words in ((str(ROOT),), ("--wheel", str(ROOT / "packaging/cli"))):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), *words]
        subprocess.run(command, check=True, capture_output=True, timeout=600)
    return folder


def test_the_small_distribution_requires_a_part_of_the_whole_one() -> None:
    assert len(SMALL["dependencies"]) == 6
    assert set(SMALL["dependencies"]) <= set(WHOLE["dependencies"])
    assert SMALL["scripts"] == WHOLE["scripts"] and SMALL["requires-python"] == WHOLE["requires-python"]


def test_the_metadata_is_complete_and_names_no_site(built: Path) -> None:
    for name in ("chainviz", "chainviz_cli"):
        wheel = zipfile.ZipFile(next(built.glob(f"{name}-*.whl")))
        folder = f"{name}-{chainviz.__version__}.dist-info"
        metadata = wheel.read(f"{folder}/METADATA").decode()
        head = metadata.partition("\n\n")[0]
        for line in ("License-Expression: Apache-2.0", "Author: chainviz contributors", f"Version: {chainviz.__version__}"):
            assert line in head
        assert "Classifier: " in head and "Project-URL" not in head and "Home-page" not in head
        assert "](" not in metadata.partition("\n\n")[2], "a package page shows neither pictures nor links without an address"


def test_the_archives_have_what_runs_and_documents_and_nothing_else(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    documents = {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE"}
    made = {"PKG-INFO", "pyproject.toml", ".gitignore"}
    assert tops == {"chainviz", "templates", "static", "packaging", ".images", *documents, *made}
    names = zipfile.ZipFile(next(built.glob("chainviz-*.whl"))).namelist()
    assert {"chainviz/help/start.md", "chainviz/templates/base.html", "chainviz/static/css/help.css"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("tests", "data"))]


def test_the_small_distribution_checks_fixes_and_converts_with_its_libraries_alone(built: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(next(built.glob("chainviz_cli-*.whl"))).extractall(tmp_path)
    start = "from chainviz.cli import main; raise SystemExit(main(sys.argv[1:]))"
    program = only_libraries_of(SMALL["dependencies"]) + start
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    chain = [{"role": "user", "content": "Look"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    (tmp_path / "run.json").write_text(json.dumps([*chain, {"role": "user", "content": "Well?"}]))

    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, done.stdout + done.stderr

    assert run("check", "run.json")[0] == 1
    assert run("fix", "run.json")[0] == 0
    assert run("check", "run.json", "--provider", "openai-chat")[0] == 0
    assert run("convert", "run.json", "--to", "anthropic", "--out", "other.json")[0] == 0
    assert run("help", "fix")[0] == 0
    code, text = run("serve")
    assert code == 2 and "install chainviz instead" in text


def test_the_wheel_serves_pages_far_from_the_checkout(built: Path, tmp_path: Path) -> None:
    """In an empty environment, with the libraries that it requires and no others."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*pip, *map(str, built.glob("chainviz-*.whl"))], check=True)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (packages / "only_allowed.py").write_text(only_libraries_of(WHOLE["dependencies"]))
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\nimport only_allowed\n")
    server = Server([str(tmp_path / "venv" / "bin" / "chainviz")], tmp_path / "data", cwd=tmp_path)
    assert_serves(server)
    assert server.stop() == 0
