"""Find every problem in the structure of a chain, with its place in the tree.

How a run begins and ends is not an error: many runs begin with an AI message, or end with a call without a result or with a
message of an unknown role. Only strict parsing refuses them. Each section is checked on its own, so that an edit of a long chain
rechecks only the sections it changes. The tree problems need only shapes; `content_problems` needs whole messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from chainviz.core.chain.arguments import is_json
from chainviz.core.chain.fast_init import fast_init
from chainviz.core.chain.messages import FREE_FORM, HUMAN, SYSTEM, TOOL, CallRef, Message, Shape, ToolCall, is_blank
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair, ChainAST, PairType, Section

M = TypeVar("M", bound=Shape)

Severity = Literal["error", "warning", "info", "unchecked"]
"""unchecked: the chain was not fully read, or a rule did not understand something, so there may or may not be a problem."""
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info", "unchecked")

LONGEST = 1_000
"""The longest text of a problem, in characters."""
END_MARK = " and ends the chain; agents mark the end of a run like that."
BEGINS_OR_ENDS_ODDLY = frozenset({"first-message", "missing-human", "terminal-call", "unknown-role"})
"""Rules that strict parsing refuses although they may not be errors."""

ORPHAN_FIXES = ("move-result", "result-to-text", "add-call", "drop-result")
UNMATCHED_FIXES = ("move-result", "rename-result", "add-call", "result-to-text", "drop-result")
DUPLICATE_FIXES = ("drop-copy", "move-result", "join-results", "result-to-text", "drop-result")
CONTENT_RULES = ("bad-arguments", "empty-arguments", "empty-content")
"""Rules of content_problems."""


@fast_init
@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a chain, in its tree or against a rule of `provider`."""

    rule: str
    """A stable id, such as `pending-call`."""
    severity: Severity
    path: Path
    message: int
    """Index in the flat list, from 0."""
    part: int | None
    """Index among the message's parts, if the problem concerns one part."""
    text: str
    """One sentence for a person; it names the place."""
    fixes: tuple[str, ...] = ()
    """Names of the fixes in operations/repair that solve it, best first."""
    provider: str = ""
    source: str = ""
    """The document or observation behind a provider's rule."""
    alike: int = 0
    """Number of further problems of this rule in the same node that are not listed (`fold` in store/outline/rules)."""

    @property
    def is_counted(self) -> bool:
        """Whether counts of problems include this one: an error or warning of the structure. Others are notes."""
        return self.severity in ("error", "warning") and not self.provider and self.rule not in CONTENT_RULES

    def __post_init__(self) -> None:
        """Shorten a sentence that quotes a very long id, because it would fill every page that lists problems."""
        if len(self.text) > LONGEST:
            object.__setattr__(self, "text", f"{self.text[: LONGEST // 2]}…{self.text[1 - LONGEST // 2 :]}")


def place_in_words(path: Path) -> str:
    """Return the place of a message, such as `A message in pair 2.1`. Providers number the messages of a request differently, so
    the sentence gives no number."""
    return f"A message in pair {path.number}" if path.pair else f"A message in the header of section {path.section}"


def tree_problems(tree: ChainAST[M], *, first_section: int = 1, first_message: int = 0, follows: bool = False) -> Iterator[Problem]:
    """Yield all problems of a tree. If the tree is a range of a chain's sections, `first_section` and `first_message` are its start,
    and `follows` says that more sections come after it."""
    index = first_message
    last = len(tree.sections) - 1
    for offset, section in enumerate(tree.sections):
        yield from section_problems(section, first_section + offset, index, follows or offset < last)
        index += len(section)


def strict_error(tree: ChainAST[M]) -> str | None:
    """Return the reason why the reference's strict parsing refuses the chain, or None if it is accepted."""
    problems = tree_problems(tree)
    return next((problem.text for problem in problems if problem.severity == "error" or problem.rule in BEGINS_OR_ENDS_ODDLY), None)


def section_problems(section: Section[M], number: int, index: int, follows: bool) -> Iterator[Problem]:
    """Yield the problems of one section. `index` is the index of its first message; `follows` says that another section follows."""
    yield from _header_problems(section, number, index)
    if number == 1 and section.header and follows:
        yield from opening_problem(section, index)
    index += len(section.header)
    for p, pair in enumerate(section.body, 1):
        count = len(pair.rest) + (pair.ai is not None)
        if pair.ai is not None and index == 0:
            yield _first_message()
        if not pair.is_plain:
            yield from _pair_problems(pair, Path(number, p), index, follows or p < len(section.body))
        index += count


def _first_message() -> Problem:
    path = Path(1, 1, 0)
    text = f"{place_in_words(path)} is an AI message and begins the chain; some APIs want a human message first."
    return Problem("first-message", "info", path, 0, None, text, ("insert-opening", "drop-leading"))


def _header_problems(section: Section[M], number: int, index: int) -> Iterator[Problem]:
    before: M | None = None
    for i, message in enumerate(section.header):
        path = Path(number, 0, i)
        if message.role == SYSTEM and index + i > 0:
            text = f"{place_in_words(path)} is a system message in the middle of the chain; only the first message can be one."
            fixes = ("note-system", "system-to-start", "drop-message")
            yield Problem("mid-system", "error", path, index + i, None, text, fixes)
        elif before is not None and are_two_turns(before, message):
            text = f"{place_in_words(path)} is a human message directly after another human message."
            yield Problem("double-human", "error", path, index + i, None, text, ("merge-human",))
        before = message


def are_two_turns(before: Shape, message: Shape) -> bool:
    """Return True if a human message directly follows another one. A user who calls tools may have several messages a turn."""
    return message.role == HUMAN == before.role and not (message.is_user_action or before.is_user_action)


def opening_problem(section: Section[M], index: int) -> Iterator[Problem]:
    """Yield the problem of a chain that begins system, ai, human. Strict parsing refuses it, because section 1 has no human message."""
    if any(message.role == HUMAN for message in section.header):
        return
    index += len(section.header)
    for p, pair in enumerate(section.body, 1):
        if pair.ai is not None:
            path = Path(1, p, 0)
            text = (
                f"{place_in_words(path)} is an AI message before any human message, "
                "though a human message comes later; some APIs want a human message first."
            )
            yield Problem("missing-human", "info", path, index, None, text, ("insert-opening", "move-human"))
            return
        index += len(pair.rest)


def _pair_problems(pair: BodyPair[M], path: Path, index: int, follows: bool) -> Iterator[Problem]:
    yield from _foreign_problems(pair, path, index, follows)
    if pair.ai is None or not pair.ai.calls:
        yield from _orphan_problems(pair, path, index)
        return
    yield from _call_problems(pair, path, index, follows)
    yield from _result_problems(pair, path, index)
    if pair.type is PairType.SUMMARIZATION and len(pair.rest) > 1:
        text = (
            f"{place_in_words(path)} is a summary with results in {len(pair.rest)} messages; "
            "a summarization pair has exactly one tool message."
        )
        at = Path(path.section, path.pair, 0)
        yield Problem("summary-results", "warning", at, index, None, text, ("pack-results",))


def _foreign_problems(pair: BodyPair[M], path: Path, index: int, follows: bool) -> Iterator[Problem]:
    start = index + (pair.ai is not None)
    end = len(pair.rest) if follows else end_markers(pair.rest)
    for i, message in enumerate(pair.rest):
        if message.role != TOOL:
            at = Path(path.section, path.pair, i + 1)
            where = f"{place_in_words(at)} has the role “{message.role[:40]}”"
            is_end = i >= end
            text = f"{where}{END_MARK if is_end else ', which is unknown.'}"
            yield Problem("unknown-role", "info" if is_end else "error", at, start + i, None, text, ("note-role", "drop-message"))


def end_markers(rest: Sequence[Shape]) -> int:
    """Return the index in `rest` after the last tool message. The messages from there on have unknown roles and end the pair."""
    start = len(rest)
    while start and rest[start - 1].role != TOOL:
        start -= 1
    return start


def _orphan_problems(pair: BodyPair[M], path: Path, index: int) -> Iterator[Problem]:
    """Yield the problems of tool messages after a completion, or before the first AI message of their section."""
    start = index + (pair.ai is not None)
    why = "the AI message before it calls no tool" if pair.ai is not None else "no AI message comes before it"
    for i, message in enumerate(pair.rest):
        if message.role != TOOL:
            continue
        at = Path(path.section, path.pair, i + 1)
        where = place_in_words(at)
        if not message.results:
            yield Problem("orphan-result", "error", at, start + i, None, f"{where} is a tool message, but {why}.", ORPHAN_FIXES)
        for result in message.results:
            text = f"{where} has the result of call “{result.id}”, but {why}."
            at_part = Path(at.section, at.pair, at.message, result.part)
            yield Problem("orphan-result", "error", at_part, start + i, result.part, text, ORPHAN_FIXES)


def _call_problems(pair: BodyPair[M], path: Path, index: int, follows: bool) -> Iterator[Problem]:
    assert pair.ai is not None
    calls: dict[str, list[CallRef]] = {}
    for call in pair.ai.calls:
        calls.setdefault(call.id, []).append(call)
    answers = dict.fromkeys(calls, 0)
    for message in pair.rest:
        for result in message.results:
            if result.id in answers:
                answers[result.id] += 1
    terminal = not follows and ends_with_calls(pair.rest)
    for id, same in calls.items():
        at = Path(path.section, path.pair, 0, same[0].part)
        where = place_in_words(at)
        if terminal:
            yield _terminal(same[0], at, index)
        elif not answers[id]:
            text = f"{where} calls {same[0].name or 'a tool'} as “{id}”, but no result follows."
            fixes = ("answer-call", "call-to-text")
            yield Problem("pending-call", "error", at, index, same[0].part, text, fixes)
        if len(same) > 1:
            text = f"{where} has {len(same)} calls that share the id “{id}” with {answers[id]} results."
            severity: Severity = "error" if answers[id] > 1 else "warning"
            at = Path(path.section, path.pair, 0, same[1].part)
            yield Problem("shared-call-id", severity, at, index, same[1].part, text, ("rename-calls",))


def ends_with_calls(rest: Iterable[Shape]) -> bool:
    """Return True if a run ends with the calls of its last pair: no tool message is among `rest`, the messages after the calls."""
    return all(message.role != TOOL for message in rest)


def _terminal(call: CallRef, at: Path, index: int) -> Problem:
    text = (
        f"{place_in_words(at)} ends the chain with the call {call.name or 'of a tool'} as “{call.id}” and no result; "
        "the run ended there, so nothing is repaired unless you ask."
    )
    return Problem("terminal-call", "info", at, index, call.part, text, ("answer-call", "call-to-text"))


def _result_problems(pair: BodyPair[M], path: Path, index: int) -> Iterator[Problem]:
    """Yield the problems of results that no open call of their pair matches."""
    assert pair.ai is not None
    waiting: dict[str, int] = {}
    for call in pair.ai.calls:
        waiting[call.id] = waiting.get(call.id, 0) + 1
    known = set(waiting)
    for i, message in enumerate(pair.rest, 1):
        for result in message.results:
            if waiting.get(result.id):
                waiting[result.id] -= 1
                continue
            at = Path(path.section, path.pair, i, result.part)
            where = place_in_words(at)
            if result.id in known:
                text = f"{where} is another result of call “{result.id}”, which already has one."
                yield Problem("duplicate-result", "error", at, index + i, result.part, text, DUPLICATE_FIXES)
            else:
                text = f"{where} has the result of call “{result.id}”, which is not in the AI message of its pair."
                yield Problem("unmatched-result", "error", at, index + i, result.part, text, UNMATCHED_FIXES)


def content_problems(section: Section[Message], number: int, first_message: int) -> Iterator[Problem]:
    index = first_message + len(section.header)
    for p, pair in enumerate(section.body, 1):
        if pair.ai is not None:
            yield from _ai_problems(pair.ai, Path(number, p, 0), index)
        index += len(pair.rest) + (pair.ai is not None)


def _ai_problems(message: Message, path: Path, index: int) -> Iterator[Problem]:
    where = place_in_words(path)
    if all(map(is_blank, message.parts)):
        why = f" ({message.note})" if message.note else ""
        text = f"{where} is an AI message without content{why}."
        yield Problem("empty-content", "info", path, index, None, text, ("drop-empty",))
    for call in message.calls:
        part = message.parts[call.part]
        if isinstance(part, ToolCall) and part.type != FREE_FORM and not is_json(part.arguments):
            at = Path(path.section, path.pair, path.message, call.part)
            what = f"{where} calls {call.name or 'a tool'} with arguments that are"
            if part.arguments.strip():
                yield Problem("bad-arguments", "warning", at, index, call.part, f"{what} not valid JSON.", ("mend-arguments",))
            else:
                text = f"{what} empty, which most APIs read as {{}}."
                yield Problem("empty-arguments", "info", at, index, call.part, text, ("mend-arguments",))


RULE_TITLES: Mapping[str, str] = {
    "bad-arguments": "Arguments of a tool call are not valid JSON",
    "double-human": "Two human messages follow one another",
    "duplicate-result": "A tool call has more than one result",
    "empty-arguments": "A tool call has empty arguments",
    "empty-content": "A message has no content",
    "first-message": "The chain begins with an AI message",
    "mid-system": "A system message is in the middle of the chain",
    "missing-human": "A section begins without a human message",
    "not-fully-read": "The file has records that chainviz does not know",
    "orphan-result": "A tool result has no call before it",
    "pending-call": "A tool call has no result",
    "shared-call-id": "Several tool calls have the same id",
    "summary-results": "A summary has results of its own",
    "terminal-call": "The last tool call has no result",
    "unknown-role": "A message has an unknown role",
    "unmatched-result": "A tool result belongs to no call of its pair",
}
_FLAGS = {
    "pending-call": "call without a result",
    "terminal-call": "last call is open",
    "orphan-result": "result without a call",
    "unmatched-result": "result without a call",
    "mid-system": "system message in the middle",
    "double-human": "two human messages",
    "first-message": "begins with AI",
    "missing-human": "no human message before it",
}


def rule_flag(rule: str) -> str:
    """Return a few words for a rule, short enough for a row of the explorer. The default is the rule's id."""
    return _FLAGS.get(rule, rule.replace("-", " "))


def rule_title(rule: str) -> str:
    """Return the title of a rule. The default is the rule's id."""
    return RULE_TITLES.get(rule, rule.replace("-", " "))
