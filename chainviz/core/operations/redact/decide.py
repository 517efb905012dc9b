"""The decision table: the action for each part with its reason, and the totals.

Most of it needs only shapes; a message is read only if a policy wants to redact a part of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import byte_size
from chainviz.core.counts import count_text
from chainviz.core.errors import visible
from chainviz.core.operations.redact.candidates import SKIPS, Candidates, Selection, read_bodies
from chainviz.core.operations.redact.decision_matrix import History, MatrixRow, Place
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policies import POLICIES, get_policy
from chainviz.core.operations.redact.policy import EVERY, Candidate, Kind, Policy
from chainviz.core.operations.redact.rewriting import DEFAULT, Rewritten, render, rewritten

CHIPS = 12
"""The number of letters in `Row.follows`; `DecisionTable.followed_by` returns all."""


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    path: str
    candidate: Candidate
    size: int
    """Size of the content that is or would be replaced, in bytes."""
    redact: bool
    reason: str
    """The reason for the decision, for the user."""
    skip: str
    """Why no policy was asked or its verdict was overruled (one of SKIPS); "" if the policy or a person decided."""
    follows: str
    """The letters of the first messages that follow."""
    bytes_after: int
    differs: tuple[str, ...] = ()
    """The compared policies that would decide differently."""
    manual: bool = False
    """True if a person decided this row."""

    @property
    def kind(self) -> Kind:
        return self.candidate.kind

    @property
    def message(self) -> int:
        return self.candidate.message

    @property
    def part(self) -> int:
        return self.candidate.part

    @property
    def tool(self) -> str:
        return ", ".join(self.candidate.tools) or self.candidate.name

    @property
    def call_id(self) -> str:
        return self.candidate.call_id

    @property
    def matrix_row(self) -> str:
        return self.candidate.row.value

    @property
    def decision(self) -> str:
        return "redact" if self.redact else "keep"

    @property
    def saved(self) -> int:
        return self.size - self.bytes_after


@dataclass(frozen=True, slots=True)
class Metrics:
    rows: int
    selected: int
    redacted: int
    bytes_before: int
    bytes_saved: int
    distribution: dict[str, int]
    """The number of rows by matrix row, or by the reason why no policy was asked."""

    @property
    def rate(self) -> float:
        return self.redacted / self.rows if self.rows else 0.0


NOT_SELECTED = frozenset(("disabled", "missing_tool_call_id", "orphan_result", "tool_not_selected", "protected"))


@dataclass(frozen=True)
class DecisionTable:
    rows: tuple[Row, ...]
    letters: str
    warnings: tuple[str, ...] = ()

    def followed_by(self, row: Row) -> str:
        return self.letters[row.candidate.letter + 1 :]

    def metrics(self) -> Metrics:
        return Metrics(
            rows=len(self.rows),
            selected=sum(row.skip not in NOT_SELECTED for row in self.rows),
            redacted=sum(row.redact for row in self.rows),
            bytes_before=sum(row.size for row in self.rows),
            bytes_saved=sum(row.saved for row in self.rows),
            distribution=dict(Counter(row.skip or row.matrix_row for row in self.rows)),
        )


# The audit trail contains decisions and sizes, but never contents, placeholders or hashes of contents. The caller adds the
# person, the time, and the chain with its version.


def audit_record(table: DecisionTable, options: RedactOptions) -> dict[str, Any]:
    """Return JSON values for the audit trail. Control characters in names and ids, which come from a transcript, are escaped."""
    parameters = options.model_dump(mode="json", exclude={"policy", "placeholder", "context_management", "enabled"})
    metrics = table.metrics()
    return {
        "operation": "redact",
        "policy": options.policy,
        "enabled": options.enabled,
        "parameters": {**parameters, "own_placeholder": options.placeholder != DEFAULT},
        "rows": [_row(row) for row in table.rows],
        "rate": metrics.rate,
        "distribution": metrics.distribution,
        "bytes_saved": metrics.bytes_saved,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "message": row.message,
        "path": row.path,
        "part": row.kind,
        "tool_call_id": visible(row.call_id),
        "tool": visible(row.tool),
        "matrix_row": row.matrix_row,
        "followed_by": row.follows,
        "decision": row.decision,
        "skip": row.skip,
        "override": row.manual,
        "bytes_before": row.size,
        "bytes_after": row.bytes_after,
    }


NUMBER = 40
"""More digits than any size has."""
MANUAL = {True: "redacted by hand", False: "kept by hand"}


def decide(
    chain: Chain,
    options: RedactOptions,
    marked: Container[Place] = frozenset(),
    against: Collection[str] = (),
    candidates: Candidates | None = None,
) -> DecisionTable:
    """Decide what happens to each candidate. `marked` contains the parts that are already redacted, `against` names policies to
    compare with, and `candidates` are those of the chain, if they were read before."""
    candidates = candidates or Candidates(chain)
    history = candidates.history
    found, paths = candidates.select(chain, options)
    drafts = [_Draft(candidate, path) for candidate, path in zip(found, paths, strict=True)]
    _ask(drafts, history, options, [policy for policy in POLICIES if policy.name in against and policy.name != options.policy])
    _take_overrides(drafts, options)
    _measure(drafts, chain, options, marked)
    _limit(drafts, options)
    rows = tuple(draft.row(number, history) for number, draft in enumerate(drafts, 1))
    return DecisionTable(rows, history.letters, tuple(_warnings(rows, history, options)))


class _Draft:
    """A row that is not decided yet."""

    __slots__ = ("after", "before", "candidate", "differs", "manual", "path", "reason", "redact", "skip")

    def __init__(self, candidate: Candidate, path: str) -> None:
        self.candidate = candidate
        self.path = path
        self.skip = ""
        self.redact = False
        self.reason = ""
        self.differs: tuple[str, ...] = ()
        self.manual = False
        self.before = self.after = 0

    def leave(self, skip: str, reason: str = "") -> None:
        self.redact, self.skip, self.reason = False, skip, reason or SKIPS[skip]

    def row(self, number: int, history: History) -> Row:
        start = self.candidate.letter + 1
        return Row(
            number=number,
            path=self.path,
            candidate=self.candidate,
            size=self.before,
            redact=self.redact,
            reason=self.reason,
            skip=self.skip,
            follows=intern(history.letters[start : start + CHIPS]),
            bytes_after=self.after if self.redact else self.before,
            differs=self.differs,
            manual=self.manual,
        )


def _ask(drafts: Sequence[_Draft], history: History, options: RedactOptions, others: Sequence[Policy]) -> None:
    selection = Selection(history, options)
    chosen = []
    for draft in drafts:
        skip = selection.skip(draft.candidate)
        if skip:
            draft.leave(skip)
        else:
            chosen.append(draft)
    asked = [draft.candidate for draft in chosen]
    for draft, verdict in zip(chosen, get_policy(options.policy).verdicts(asked, history, options), strict=True):
        draft.redact, draft.reason = verdict.redact, verdict.reason
    for other in others:
        for draft, verdict in zip(chosen, other.verdicts(asked, history, options), strict=True):
            if verdict.redact != draft.redact:
                draft.differs += (other.name,)


def _take_overrides(drafts: Sequence[_Draft], options: RedactOptions) -> None:
    kept, redacted = frozenset(options.keep_paths), frozenset(options.redact_paths)
    if not options.enabled or not (kept or redacted):
        return
    for draft in drafts:
        if draft.path in kept or draft.path in redacted:
            draft.manual, draft.skip = True, ""
            draft.redact = draft.path not in kept
            draft.reason = MANUAL[draft.redact]


def _measure(drafts: list[_Draft], chain: Chain, options: RedactOptions, marked: Container[Place]) -> None:
    """Compute the sizes of all rows, and keep the parts that would save too little."""
    unread: dict[int, list[_Draft]] = {}
    for draft in drafts:
        known = draft.candidate.size
        if draft.redact and (draft.candidate.message, draft.candidate.part) in marked:
            draft.leave("already_redacted")
        foreseen = _foreseen(draft.candidate, options.placeholder) if draft.redact else None
        if known is not None and not draft.redact:
            draft.before = known
        elif foreseen is not None:
            _weigh(draft, foreseen, options)
        else:
            unread.setdefault(draft.candidate.message, []).append(draft)
    for place, message in read_bodies(chain, sorted(unread)):
        for draft in unread[place]:
            _weigh(draft, rewritten(message.parts[draft.candidate.part], draft.candidate, options.placeholder), options)


def _foreseen(candidate: Candidate, template: str) -> Rewritten | None:
    """Return the result of rewriting if it depends only on the size, so that most results need not be read."""
    tools = candidate.tools or (candidate.name,)
    longest = byte_size(template) + max(map(byte_size, tools)) + len(DEFAULT) + NUMBER
    size = candidate.size
    if size is None or "{lines}" in template or size <= longest:
        return None  # it could be a placeholder already
    return Rewritten(None, size, byte_size(render(template, "", tools[0], size)))


def _weigh(draft: _Draft, new: Rewritten, options: RedactOptions) -> None:
    draft.before, draft.after = new.before, new.after
    if not draft.redact:
        return
    if new.already:
        draft.leave("already_redacted")
    elif new.before < options.min_bytes and not draft.manual:
        draft.leave("too_small")
    elif options.min_bytes_saved and new.before - new.after < options.min_bytes_saved:
        draft.leave("no_saving", f"{SKIPS['no_saving']}: {count_text(new.before, 'byte')} before, {new.after:,} after")


def _limit(drafts: list[_Draft], options: RedactOptions) -> None:
    savings: dict[int, int] = {}
    for draft in drafts:
        if draft.redact and not draft.manual and draft.candidate.use >= 0:
            use = draft.candidate.use
            savings[use] = savings.get(use, 0) + draft.before - draft.after
    worth, reason = get_policy(options.policy).affordable(dict(sorted(savings.items())), options)
    for draft in drafts:
        if draft.redact and not draft.manual and draft.candidate.use >= 0 and draft.candidate.use not in worth:
            draft.leave("", reason)


def _warnings(rows: Sequence[Row], history: History, options: RedactOptions) -> Iterator[str]:
    if not options.enabled:
        yield "Redaction is turned off: everything is kept."
        return
    for skip, one, many in (
        ("missing_tool_call_id", "has no call id", "have no call id"),
        ("orphan_result", "answers no call", "answer no call"),
    ):
        left = [row for row in rows if row.skip == skip]
        if len(left) == 1:
            yield f"1 result {one}; it is kept: {left[0].path}."
        elif left:
            yield f"{count_text(len(left), 'result')} {many}; they are kept. The first is at {left[0].path}."
    odd = [row for row in rows if row.candidate.row is MatrixRow.MALFORMED and row.redact and not row.manual]
    if odd:
        yield f"{len(odd)} parts are followed by an unknown role and are redacted; the first is at {odd[0].path}."
    known = {row.path for row in rows}
    for path in (*options.keep_paths, *options.redact_paths):
        if path not in known:
            yield f"There is nothing to decide at {path}."
    yield from _unknown_tools(history, options)


def _unknown_tools(history: History, options: RedactOptions) -> Iterator[str]:
    called = set(history.last_called) | {result.name for _, result in history.results}
    for name in (*options.tools, *options.exclude_tools):
        if name != EVERY and name not in called:
            hint = "; patterns belong in tool_globs or exclude_globs" if set(name) & set("*?[") else ""
            yield f"No tool of this chain is called “{name[:80]}”{hint}."
    if not options.tools and not options.tool_globs and history.results:
        yield "No tool is selected."
