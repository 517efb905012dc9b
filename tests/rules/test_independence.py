"""What stands in one registry does not know its neighbours, so that adding or removing one touches nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import ROOT

REGISTRIES = {"formats": "FORMATS", "formats.vendors": "PROVIDERS", "operations": "OPERATIONS", "text_formats": "TEXT_FORMATS"}
SHARED = {"openai_form", "streams", "vendors.openai_form"}
"""What no member owns: several vendors share the form, and all of them the recorded streams."""

FORMAT_FOLDERS = ("vendors", "agents", "frameworks", "traces", "chats")


def members(registry: str) -> set[str]:
    """The modules from which the literal tuple in the registry's `__init__.py` takes its entries."""
    tree = ast.parse((folder_of(registry) / "__init__.py").read_text())
    constant = REGISTRIES[registry]
    listed = next(node.value for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and constant in ast.unparse(node))
    assert isinstance(listed, ast.Tuple), f"{constant} is not a literal tuple"
    used = {node.id for node in ast.walk(listed) if isinstance(node, ast.Name)}
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    paths = {f"{node.module}.{alias.name}" for node in imports for alias in node.names if (alias.asname or alias.name) in used}
    package = f"chainviz.core.{registry}."
    inside = [path.removeprefix(package).split(".") for path in paths if path.startswith(package)]
    return {".".join(parts[:2] if parts[0] in FORMAT_FOLDERS else parts[:1]) for parts in inside} - SHARED


def folder_of(registry: str) -> Path:
    return (ROOT / "chainviz" / "core").joinpath(*registry.split("."))


def imported_modules(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative imports hide who knows whom"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


@pytest.mark.parametrize("registry", REGISTRIES)
def test_members_of_a_registry_do_not_import_one_another(registry: str) -> None:
    folder = folder_of(registry)
    names = members(registry)
    assert len(names) >= 2
    wrong = []
    for name in names:
        path = folder.joinpath(*name.split("."))
        files = [path.with_suffix(".py")] if path.with_suffix(".py").exists() else list(path.rglob("*.py"))
        free = "vendors." if not name.startswith("vendors.") else "none"  # an agent may use a vendor's reading
        others = {f"chainviz.core.{registry}.{other}" for other in names - {name} if not other.startswith(free)}
        for file in files:
            known = {module for module in imported_modules(file) for other in others if f"{module}.".startswith(f"{other}.")}
            wrong += [f"{file.relative_to(ROOT)} imports {module}" for module in sorted(known)]
    assert wrong == []
