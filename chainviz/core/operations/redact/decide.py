"""Makes the decision table. Shapes suffice for most of it; only what a policy wants to redact is read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.messages import Shape, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import ChainAST
from chainviz.core.operations.redact.body_reader import read_bodies
from chainviz.core.operations.redact.candidates import SKIPS, Selection, find_candidates
from chainviz.core.operations.redact.decision_matrix import History, MatrixRow, Place, read_history
from chainviz.core.operations.redact.decision_table import CHIPS, DecisionTable, Row
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.placeholder import DEFAULT, render
from chainviz.core.operations.redact.policies import POLICIES, get_policy
from chainviz.core.operations.redact.policies.contract import EVERY, Candidate
from chainviz.core.operations.redact.rewriting import Rewritten, rewritten
from chainviz.core.operations.redact.same_calls import SameCalls, find_same_calls

NUMBER = 40
"""More than the digits of any size."""
MANUAL = {True: "redacted by hand", False: "kept by hand"}


def decide(
    chain: Chain,
    options: RedactOptions,
    marked: Container[Place] = frozenset(),
    same_calls: Callable[[Chain], SameCalls] = find_same_calls,
) -> DecisionTable:
    """`marked`: parts that are known to be redacted already, whatever they hold. `same_calls`: those found before."""
    history = read_history(chain.shapes())
    if options.superseded_by == "same_call":
        history.last_same_call.update(same_calls(chain))
    drafts = _asked(find_candidates(chain, history, options), history, options)
    _take_overrides(drafts, chain.tree, options)
    _measure(drafts, chain, history, options, marked)
    _limit(drafts, options)
    rows = tuple(draft.row(number, history) for number, draft in enumerate(drafts, 1))
    return DecisionTable(rows, history.letters, tuple(_warnings(rows, history, options)), options.bytes_per_token)


class _Draft:
    """A row in the making."""

    def __init__(self, candidate: Candidate, skip: str) -> None:
        self.candidate = candidate
        self.skip = skip
        self.redact = False
        self.reason = SKIPS.get(skip, "")
        self.differs: tuple[str, ...] = ()
        self.manual = False
        self.path = ""
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
            follows=history.letters[start : start + CHIPS],
            bytes_after=self.after if self.redact else self.before,
            differs=self.differs,
            manual=self.manual,
        )


def _asked(candidates: Sequence[Candidate], history: History, options: RedactOptions) -> list[_Draft]:
    selection = Selection(history, options)
    drafts = [_Draft(each, selection.skip(each)) for each in candidates]
    chosen = [draft for draft in drafts if not draft.skip]
    asked = [draft.candidate for draft in chosen]
    for draft, verdict in zip(chosen, get_policy(options.policy).verdicts(asked, history, options), strict=True):
        draft.redact, draft.reason = verdict.redact, verdict.reason
    for other in POLICIES:
        if other.name != options.policy:
            for draft, verdict in zip(chosen, other.verdicts(asked, history, options), strict=True):
                if verdict.redact != draft.redact:
                    draft.differs += (other.name,)
    return drafts


def _take_overrides(drafts: list[_Draft], tree: ChainAST[Shape], options: RedactOptions) -> None:
    paths = list(message_paths(tree))
    kept, redacted = frozenset(options.keep_paths), frozenset(options.redact_paths)
    for draft in drafts:
        path = paths[draft.candidate.message]
        draft.path = str(Path(path.section, path.pair, path.message, draft.candidate.part))
        if options.enabled and (draft.path in kept or draft.path in redacted):
            draft.manual, draft.skip = True, ""
            draft.redact = draft.path not in kept
            draft.reason = MANUAL[draft.redact]


def _measure(
    drafts: list[_Draft], chain: Chain, history: History, options: RedactOptions, marked: Container[Place]
) -> None:
    """Sizes of all rows; what a row to redact would save decides whether it is."""
    unread: dict[int, list[_Draft]] = {}
    for draft in drafts:
        known = _known_size(draft.candidate, history)
        if draft.redact and (draft.candidate.message, draft.candidate.part) in marked:
            draft.leave("already_redacted")
        foreseen = _foreseen(draft.candidate, known, options.placeholder) if draft.redact else None
        if known is not None and not draft.redact:
            draft.before = known
        elif foreseen is not None:
            _weigh(draft, foreseen, options)
        else:
            unread.setdefault(draft.candidate.message, []).append(draft)
    for place, message in read_bodies(chain, sorted(unread)):
        for draft in unread[place]:
            _weigh(draft, rewritten(message.parts[draft.candidate.part], draft.candidate, options.placeholder), options)


def _foreseen(candidate: Candidate, size: int | None, template: str) -> Rewritten | None:
    """What rewriting a result comes to, where its size alone tells: most results need not be read to be judged."""
    tools = candidate.tools or (candidate.name,)
    longest = byte_size(template) + max(map(byte_size, tools)) + len(DEFAULT) + NUMBER
    if size is None or "{lines}" in template or size <= longest:
        return None  # it could be a placeholder already
    return Rewritten(None, size, byte_size(render(template, "", tools[0], size)))


def _known_size(candidate: Candidate, history: History) -> int | None:
    """A message's only result is what the message's size leaves beside id and name."""
    shape = history.shapes[candidate.message]
    if candidate.kind != "result" or len(shape.results) != 1:
        return None
    result = shape.results[0]
    return (
        shape.size - len(result.id.encode("utf-8", "surrogatepass")) - len(result.name.encode("utf-8", "surrogatepass"))
    )


def _weigh(draft: _Draft, new: Rewritten, options: RedactOptions) -> None:
    draft.before, draft.after = new.before, new.after
    if not draft.redact:
        return
    if new.already:
        draft.leave("already_redacted")
    elif new.before < options.min_bytes and not draft.manual:
        draft.leave("too_small")
    elif options.min_bytes_saved and new.before - new.after < options.min_bytes_saved:
        draft.leave("no_saving", f"{SKIPS['no_saving']}: {new.before:,} bytes before, {new.after:,} after")


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
        yield "Redaction is switched off: everything stays."
        return
    for skip, one, many in (
        ("missing_tool_call_id", "has no call id", "have no call id"),
        ("orphan_result", "answers no call", "answer no call"),
    ):
        left = [row for row in rows if row.skip == skip]
        if len(left) == 1:
            yield f"1 result {one}; it is kept: {left[0].path}."
        elif left:
            yield f"{len(left):,} results {many}; they are kept. The first is at {left[0].path}."
    odd = [row for row in rows if row.candidate.row is MatrixRow.MALFORMED and row.redact and not row.manual]
    if odd:
        yield f"{len(odd)} parts are followed by a role nobody knows and are redacted; the first is at {odd[0].path}."
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
