"""The core works where neither Django nor openai is installed."""

from __future__ import annotations

import subprocess
import sys

IMPORT_EVERYTHING = """
import importlib, pkgutil, sys
for name in ("django", "openai", "httpx2", "gunicorn", "psycopg"):
    sys.modules[name] = None
import chainviz.core
modules = [module.name for module in pkgutil.walk_packages(chainviz.core.__path__, "chainviz.core.")]
for module in modules:
    importlib.import_module(module)
print(len(modules))
"""


def test_every_core_module_imports_without_django_and_openai() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_EVERYTHING], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5


def test_the_command_line_starts_without_django() -> None:
    code = "import sys; sys.modules['django'] = None; from chainviz.cli import main; main(['--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "serve" in done.stdout
