"""The acts for many chains at once, in the order of their buttons. A new act needs a class like these and a line below."""

from __future__ import annotations

from chainviz.bulk.acts.change import Change, CompactAll
from chainviz.bulk.acts.contract import Act
from chainviz.bulk.acts.export import ExportZip
from chainviz.bulk.acts.label import SetLabel, ToBin
from chainviz.bulk.acts.recipe import RunRecipe
from chainviz.core.operations.execute import get_operation

ACTS: tuple[Act, ...] = (
    Change(get_operation("repair"), "repaired", "Nothing to repair."),
    Change(get_operation("mask"), "masked", "Nothing to mask was found."),
    Change(get_operation("redact"), "redacted", "Nothing to redact."),
    CompactAll(),
    Change(get_operation("summarize"), "summarized", "Nothing to summarize."),
    RunRecipe(),
    ExportZip(),
    SetLabel(),
    ToBin(),
)


def act_named(name: str) -> Act | None:
    return next((act for act in ACTS if act.name == name), None)
