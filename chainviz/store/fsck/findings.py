"""The findings of fsck, and a check of rows against their checksums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from chainviz.store.checksums import Checked


@dataclass(frozen=True, slots=True)
class Finding:
    severity: Literal["error", "note"]
    text: str


def guarded(what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Damaged bytes may break any reader; that is a finding, not a crash."""
    try:
        yield from findings
    except Exception as error:
        yield Finding("error", f"{what} cannot be read: {type(error).__name__}: {error}")


Model = type[Checked]


def changed_rows(models: Sequence[Model]) -> Iterator[Finding]:
    """Yield a finding for each row whose checksum does not match its columns."""
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
