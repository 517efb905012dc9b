"""The cases of seed 3's state, run through `next_state` and `append`."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from chainviz.core.operations.compact import REFERENCE, Settings, Strategy, parse_strategy
from chainviz.core.state.call import CallRules, Compaction, CompactionFailed, CompactionRequest, Reply, ToolFailed, append, next_state
from chainviz.core.state.document import State, write_state
from chainviz.core.state.faults import EVENTS, StateFile, read_state
from tests.cases import cases

CASES = {case["id"]: case for case in cases("state/state.json")}
ERRORS = {
    "length": "max_tokens_exceeded",
    "finish_reason": "unknown_finish_reason",
    "rounds": "max_iterations_exceeded",
    "compaction": "compaction_failed",
}
"""The event behind each kind of error."""


def broken(arguments: str) -> str:
    raise ToolFailed("disk on fire")


TOOLS = {"lookup": lambda arguments: "tool says 42", "broken": broken}


class Outcome(NamedTuple):
    sent: list[list[Any]]
    state: Any
    events: list[str]


def run(case: dict[str, Any], *, reference: bool) -> Outcome:
    file = read_state((case["state_in"] or "").encode(), "openai", reference=reference)
    state = None if file.problem and reference else file.opened()
    options = [json.dumps(message) for message in case["options"]]
    if case["op"] == "append":
        return Outcome([], as_value(append(state, options)), logged(file))
    rules = CallRules(reference=reference, most_rounds=case.get("max_iterations", 10))
    compact = compactor(case["compactor"], REFERENCE if reference else Settings()) if case["compactor"] else None
    sent, new, events = next_state(state, options, replies(case), TOOLS, compact, rules=rules)
    return Outcome([[json.loads(text) for text in request] for request in sent], as_value(new), [*logged(file), *events])


def replies(case: dict[str, Any]) -> list[Reply]:
    return [Reply(json.dumps(answer["message"]), answer["finish_reason"], answer["usage"]["prompt_tokens"]) for answer in case["api"]]


def compactor(value: dict[str, Any], settings: Settings) -> Any:
    if value["type"] == "error":
        return failing
    return Strategy(parse_strategy(value), settings)


def failing(request: CompactionRequest) -> Compaction:
    raise CompactionFailed("boom")


def as_value(state: State | None) -> Any:
    return None if state is None else json.loads(write_state(state))


def logged(file: StateFile) -> list[str]:
    return [EVENTS[file.problem.fault]] if file.problem else []


def label(file: StateFile) -> str:
    """How the cases name what became of a state."""
    if not file.content:
        return "none"
    return f"discarded:{file.problem.fault}" if file.problem else "accepted"
