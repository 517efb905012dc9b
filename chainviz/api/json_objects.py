"""The JSON objects that the command line and the HTTP API give about a chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from chainviz.api.chain import Chain, Result
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, strict_error
from chainviz.core.chain.surroundings import Unread, describe_unread
from chainviz.core.chain.tree import BodyPair, Section
from chainviz.core.diff import ChainDiff, FirstDifference, Group, Measure, Side
from chainviz.core.diff.runs import RunFacts
from chainviz.core.providers.check import Verdict
from chainviz.core.providers.rules import reason_without_fix
from chainviz.core.usage.recorded import usage_warning

SAID_BY_ALL = ("path", "action", "reason")


def result_object(before: Chain, made: Result) -> dict[str, Any]:
    """The object that `--json` prints for what an operation made of a chain."""
    report, warnings = [row_object(asdict(row)) for row in made.report], list(made.warnings)
    found = {"before": describe(before), "after": describe(made.chain), "report": report, "warnings": warnings}
    return {**found, "verdicts": verdict_objects(made.verdicts)} if made.chain.is_moved else found


def verdict_objects(verdicts: Mapping[str, Verdict]) -> dict[str, Any]:
    """Verdicts by the name of their provider."""
    return {name: {"verdict": verdict.state, **asdict(verdict)} for name, verdict in verdicts.items()}


def row_object(row: Mapping[str, Any]) -> dict[str, Any]:
    """A decision without what only some operations say."""
    return {name: value for name, value in row.items() if value != "" or name in SAID_BY_ALL}


def describe(chain: Chain) -> dict[str, Any]:
    """The object that `--json` prints for a chain."""
    tree = chain.tree
    return {
        "format": chain.format,
        "source": chain.title,
        "size": tree.size,
        "messages": len(chain),
        "sections": [_section(section, Path(s)) for s, section in enumerate(tree.sections, 1)],
        "problems": [problem_object(problem) for problem in chain.problems()],
        "unread": [unread_object(each) for each in chain.unread],
        "strict_error": strict_error(tree),
        "lost_on_resume": [lost._asdict() for lost in chain.lost_on_resume],
    }


def describe_tokens(chain: Chain) -> dict[str, Any]:
    """Return the members that `--tokens` adds to the object of a chain. Cost is in dollars; null means not recorded or
    not known."""
    usage = chain.usage
    return {
        "tokens_estimated": chain.tokens,
        "tokens_recorded": {model: each._asdict() for model, each in usage.by_model.items()} or None,
        "model": usage.model or None,
        "cost": None if chain.cost is None else float(chain.cost),
        "context_window": chain.context_window,
        "last_call_tokens": chain.last_call.tokens if chain.last_call else None,
    }


def usage_lines(chain: Chain) -> Iterator[str]:
    """Return lines with the tokens of the whole chain."""
    usage, window = chain.usage, chain.context_window
    share = f", {100 * chain.tokens / window:.1f}% of the {window:,} that {usage.model or 'the model'} takes" if window else ""
    yield f"tokens: ≈ {chain.tokens:,} estimated{share}"
    if not usage.is_recorded:
        yield "usage: none recorded"
    for model, each in usage.by_model.items():
        cached = f" ({each.cached:,} cached)" if each.cached else ""
        reasoning = f" ({each.reasoning:,} reasoning)" if each.reasoning else ""
        yield f"usage: {model or 'model not recorded'}, {each.input:,} in{cached}, {each.output:,} out{reasoning}"
    warning = usage_warning(chain.last_call, window)
    if warning:
        yield f"warning: {warning}"
    if chain.cost is not None:
        yield f"cost: ${chain.cost:,.4f} at list prices"


def _section(section: Section[Message], path: Path) -> dict[str, Any]:
    roles = [message.role for message in section.header]
    return {
        "path": str(path),
        "size": section.size,
        "header": {"size": section.header_size, "system": roles.count(SYSTEM), "human": roles.count(HUMAN)},
        "body": [_pair(pair, Path(path.section, p)) for p, pair in enumerate(section.body, 1)],
    }


def _pair(pair: BodyPair[Message], path: Path) -> dict[str, Any]:
    calls = pair.tool_calls
    return {
        "path": str(path),
        "type": str(pair.type),
        "size": pair.size,
        "valid": pair.is_valid,
        "pending": list(calls.pending),
        "unmatched": list(calls.unmatched),
        "completed": list(calls.completed),
        "messages": len(pair.messages),
    }


def unread_object(unread: Unread) -> dict[str, Any]:
    """Return unread content of a chain's file as an object: its amount, and the first places."""
    return {**asdict(unread), "places": [asdict(place) for place in unread.places], "text": describe_unread(unread)}


def problem_object(problem: Problem) -> dict[str, Any]:
    return {
        "rule": problem.rule,
        "severity": problem.severity,
        "path": str(problem.path),
        "message": problem.message,
        "part": problem.part,
        "text": problem.text,
        "fixes": list(problem.fixes),
        "without_fix": reason_without_fix(problem),
    }


def diff_object(diff: ChainDiff) -> dict[str, Any]:
    return {
        "before": _measure(diff.before),
        "after": _measure(diff.after),
        "counts": diff.counts,
        "changes": [change_object(group) for group in diff.changes],
        "notes": list(diff.notes),
    }


def comparison_object(diff: ChainDiff, old: RunFacts, new: RunFacts, *, are_runs: bool) -> dict[str, Any]:
    """Return the comparison with the facts of both chains and their first difference."""
    return {
        **diff_object(diff),
        "runs": are_runs,
        "first": first_object(diff.first),
        "little_in_common": diff.little_in_common or None,
        "facts": {"old": facts_object(old), "new": facts_object(new)},
    }


def facts_object(facts: RunFacts) -> dict[str, Any]:
    return {
        "messages": facts.messages,
        "pairs": facts.pairs,
        "size": facts.size,
        "problems": facts.problems,
        "verdicts": dict(facts.verdicts),
        "tools": dict(facts.tools),
        "tool_errors": facts.tool_errors,
        "usage": facts.usage._asdict() if facts.usage else None,
        "model": facts.model or None,
        "cost": None if facts.cost is None else float(facts.cost),
        "seconds": facts.seconds or None,
        "outcome": facts.outcome.line if facts.outcome else None,
        "recorded_outcome": dict(facts.recorded_outcome),
    }


def first_object(first: FirstDifference | None) -> dict[str, Any] | None:
    """The first node of each chain that differs, and the number of the change that shows it, from 1."""
    if first is None:
        return None
    old, new = (str(path) if path else None for path in (first.old, first.new))
    return {"old": old, "new": new, "change": first.change}


def change_object(group: Group) -> dict[str, Any]:
    return {"kind": group.kind, "old": _side(group.old), "new": _side(group.new), "other": str(group.other) if group.other else None}


def _side(side: Side) -> dict[str, Any] | None:
    if side.is_empty:
        return None
    return {"first": str(side.first), "last": str(side.last), "start": side.start, **_measure(side.measure)}


def _measure(measure: Measure) -> dict[str, int]:
    return {"size": measure.size, "messages": measure.messages, "pairs": measure.pairs}
