"""Rows whose checksum does not match their columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.store.checksums import Checked
from chainviz.store.fsck.findings import Finding, guarded

Model = type[Checked]


def changed_rows(models: Sequence[Model]) -> Iterator[Finding]:
    for model in models:
        name = f"{model._meta.verbose_name}".capitalize()
        for key in list(model._base_manager.order_by("pk").values_list("pk", flat=True)):
            yield from guarded(f"{name} {key}", _row(model, key, f"{name} {key}"))


def _row(model: Model, key: Any, name: str) -> Iterator[Finding]:
    # twice: what a checksum covers beside the row may be written meanwhile
    if not (_matches(model, key) or _matches(model, key)):
        yield Finding("error", f"{name} has changed: its checksum does not match its columns.")


def _matches(model: Model, key: Any) -> bool:
    row = model._base_manager.filter(pk=key).first()
    return row is None or (row.checksum is not None and bytes(row.checksum) == row.computed_checksum())
