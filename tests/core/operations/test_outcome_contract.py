"""What an operation returns is checked before anything keeps it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from chainviz.core.errors import OutcomeError
from chainviz.core.load import load_file
from chainviz.core.operations import execute as module
from chainviz.core.operations.contract import Context, Decision, Options, Outcome
from chainviz.core.operations.execute import execute

FILE = b'[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]'


def run_with(monkeypatch: pytest.MonkeyPatch, *report: Decision) -> Outcome:
    operation = SimpleNamespace(run=lambda chain, options, context: Outcome((), report))
    monkeypatch.setattr(module, "get_operation", lambda name: operation)
    (chain,) = load_file(FILE)
    return execute("shorten", Options(), chain, Context())


@pytest.mark.parametrize("path", ["m0", "s0", "messages[0]", "s1-p1", "s1.p1.m0.c0 ", 3])
@pytest.mark.parametrize("field", ["path", "until", "becomes"])
def test_report_that_names_no_path_is_refused(monkeypatch: pytest.MonkeyPatch, field: str, path: Any) -> None:
    row: dict[str, Any] = {"path": "s1", "action": "shorten", "reason": "long"} | {field: path}
    with pytest.raises(OutcomeError, match="“shorten” is faulty") as raised:
        run_with(monkeypatch, Decision(**row))
    assert str(path)[:40] in str(raised.value)


def test_report_with_paths_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (Decision("s1.p1.m0.c0", "shorten", "long", until="s1.p2", becomes="s1.h.m0"), Decision("", "keep", "whole chain"))
    assert run_with(monkeypatch, *rows).report == rows
