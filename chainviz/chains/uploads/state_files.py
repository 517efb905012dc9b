"""Check a file that is a state document, and offer what can be done if a check fails.

Nothing is discarded: the bytes are kept, and a person decides. The reference discards such a state and starts with an empty one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.documents.source import Source
from chainviz.core.errors import DocumentError, FaultPlace
from chainviz.core.formats.offers import Offer
from chainviz.core.state.document import DIALECTS
from chainviz.core.state.faults import MOST_BYTES, Check, Fault, StateFile, StateProblem, is_state_file, read_state, salvage, salvage_any

NEAR = 4_000
"""The number of bytes at each end of a broken file in which the member `processed_length` is searched."""
NAMES = {
    Fault.INVALID_JSON: "Valid JSON",
    Fault.UNSUPPORTED_VERSION: "Version 1",
    Fault.PROVIDER_MISMATCH: "Provider",
    Fault.CORRUPTED_MESSAGE: "Messages",
}
STATES = {"passed": ("ok", "ok"), "failed": ("problem", "failed"), "not checked": ("quiet", "pending")}
"""Colour and icon of each check."""


class StateRefused(DocumentError):
    """A state document with a problem; `checks` and `label` are for the page."""

    def __init__(self, file: StateFile, problem: StateProblem, offset: int) -> None:
        super().__init__(str(problem), FaultPlace(problem.line, problem.column, offset), raw=True)
        self.checks = checks_of(file)
        self.label = _label(file, problem)


def check_state(source: Source, offers: Sequence[Offer]) -> None:
    """Raise StateRefused if the file is a state document with a problem."""
    if not is_state_file(source, offers):
        return
    content = source.read(0, source.size)
    file = read_state(content)
    require_state(content, file)


def require_state(content: bytes, file: StateFile) -> None:
    """Raise StateRefused if the document has a problem."""
    if file.problem is not None:
        raise StateRefused(file, file.problem, _offset(content, file.problem))


def readable_messages(file: StateFile, provider: str) -> int:
    """Count the readable messages of a document with a problem; 0 if it belongs to another provider."""
    if file.problem is None or file.problem.fault is Fault.PROVIDER_MISMATCH:
        return 0
    return len(salvage(file, provider).state.messages)


def checks_of_broken(source: Source) -> list[dict[str, str]]:
    """Return the checks of a file that cannot be read at all; none if it does not look like a state document."""
    if source.size > MOST_BYTES:
        return []
    ends = source.read(0, NEAR) + source.read(max(0, source.size - NEAR), source.size)
    return checks_of(read_state(source.read(0, source.size))) if b'"processed_length"' in ends else []


def checks_of(file: StateFile) -> list[dict[str, str]]:
    return [_check(file, fault, check) for fault, check in file.checks]


def _check(file: StateFile, fault: Fault, check: Check) -> dict[str, str]:
    state, icon = STATES[check]
    said = file.problem.text if check == "failed" and file.problem else check
    return {"name": NAMES[fault], "state": state, "icon": icon, "text": said}


def _label(file: StateFile, problem: StateProblem) -> str:
    """Return the label of the button that imports the file in spite of the problem; "" if that is impossible."""
    if problem.fault is Fault.UNSUPPORTED_VERSION:
        return "Read as version 1"
    if problem.fault is Fault.PROVIDER_MISMATCH:
        return f"Read the messages as {next(iter(DIALECTS))}"
    count = len(salvage_any(file).state.messages) if problem.fault is Fault.CORRUPTED_MESSAGE else 0
    return f"Keep the {count:,} readable message{'' if count == 1 else 's'}" if count else ""


def _offset(content: bytes, problem: StateProblem) -> int:
    """Return the position of the problem in bytes; columns count characters."""
    line = content.split(b"\n", problem.line)[problem.line - 1]
    start = sum(len(each) + 1 for each in content.split(b"\n", problem.line)[: problem.line - 1])
    before = line.decode("utf-8", "surrogateescape")[: problem.column - 1]
    return start + len(before.encode("utf-8", "surrogateescape"))


def failure_of(error: DocumentError, source: Source | None) -> dict[str, Any]:
    """Return the facts of a failed state that the page shows beside the sentence."""
    if isinstance(error, StateRefused):
        return {"checks": error.checks, "state": error.label}
    return {"checks": checks_of_broken(source) if source is not None else []}
