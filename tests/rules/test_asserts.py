"""An assert only states what the types do not say: `python -O` removes it, so nothing may depend on it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests import ROOT


def states_a_type(test: ast.expr) -> bool:
    """Whether the expression is `isinstance(…)`, `… is (not) None`, `type(…) is …`, or such joined with `and`/`or`."""
    if isinstance(test, ast.BoolOp):
        return all(map(states_a_type, test.values))
    if isinstance(test, ast.Compare):
        return all(isinstance(operator, ast.Is | ast.IsNot) for operator in test.ops)
    return isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"


def asserts_in(source: str) -> list[ast.Assert]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assert)]


def test_product_asserts_types_only() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{each.lineno} {ast.unparse(each.test)}"
        for path in sorted(Path(ROOT, "chainviz").rglob("*.py"))
        for each in asserts_in(path.read_text())
        if not states_a_type(each.test)
    ]
    assert wrong == []


@pytest.mark.parametrize("source", ["assert self.edition >= 0", "assert lock.acquire()", "assert a is not None and check(a)"])
def test_other_asserts_are_found(source: str) -> None:
    assert not states_a_type(asserts_in(source)[0].test)
