"""Which parts of a chain a redaction wrote: the reports of its steps say so, whatever the placeholder looks like.

A message of a provider has no field for such a mark that its API would take, so the mark lies beside the message. It
holds until a later step writes the message anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.redact import REDACT
from chainviz.core.operations.redact.decision_matrix import Place
from chainviz.core.operations.redact.operation import CLEAN
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.models import Snapshot


def marks_of(chain: StoredChain) -> frozenset[Place]:
    """One query for a chain that nobody ever redacted."""
    steps = Snapshot.objects.filter(history=chain.snapshot.history_id, operation=REDACT.name).select_related("parent")
    marks: dict[int, list[list[int]]] = {}
    for step in steps:
        written = _run_of(step)
        if written is not None:
            marks[written] = _parts_by_message(unpack(step.report))
    return frozenset(_in(chain, marks)) if marks else frozenset()


def _run_of(step: Snapshot) -> int | None:
    assert step.parent is not None
    new = {piece.run for piece in pieces_of(step)} - {piece.run for piece in pieces_of(step.parent)}
    return new.pop() if len(new) == 1 else None


def _parts_by_message(report: list[dict[str, Any]]) -> list[list[int]]:
    """For each message of the step's run, in order, which of its parts were redacted; none where it was cleaned."""
    messages: dict[str, list[int]] = {}
    for row in report:
        if row["action"] not in ("redact", CLEAN):
            continue
        path = parse_path(row["path"])
        parts = messages.setdefault(str(replace(path, part=None)), [])
        if path.part is not None:
            parts.append(path.part)
    return list(messages.values())


def _in(chain: StoredChain, marks: dict[int, list[list[int]]]) -> Iterator[Place]:
    place = 0
    for run, start, length in pieces_of(chain.snapshot):
        parts = marks.get(run, [])
        for position in range(start, min(start + length, len(parts))):
            yield from ((place + position - start, part) for part in parts[position])
        place += length
