"""Find the parts of a chain that could be redacted, and the reason why some are skipped before a policy is asked.
Messages are read in batches, so that memory stays small.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import AI, Binary, Image, Message, Shape, Text, Thinking, ToolCall, ToolResult, byte_size
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import SUMMARIZATION_TOOL, message_paths
from chainviz.core.operations.redact.decision_matrix import History, Place, read_history
from chainviz.core.operations.redact.options import RedactOptions
from chainviz.core.operations.redact.policy import EVERY, Candidate, Kind

SKIPS = {
    "disabled": "redaction is turned off",
    "missing_tool_call_id": "the result has no call id",
    "orphan_result": "no call in this chain has this id",
    "tool_not_selected": "the tool is not selected",
    "summary": "it is a summary of earlier messages, and its tool is not named",
    "protected": "it is outside the selected messages",
    "too_small": "it is smaller than the minimum size",
    "already_redacted": "it is already redacted",
    "no_saving": "the placeholder would not save enough",
}


class Candidates:
    """The candidates and the history of a chain. They are read once and reused for other options."""

    def __init__(self, chain: Chain) -> None:
        self.history = read_history(chain.shapes())
        self._paths = list(message_paths(chain.tree))
        self._known: tuple[Hashable, Sequence[Candidate], Sequence[str]] = (None, (), ())
        self._same_calls: SameCalls | None = None

    def select(self, chain: Chain, options: RedactOptions) -> tuple[Sequence[Candidate], Sequence[str]]:
        """Return the candidates of the kinds that the options name, with their paths."""
        if options.superseded_by == "same_call" and self._same_calls is None:
            self._same_calls = find_same_calls(chain)
            self.history.last_same_call.update(self._same_calls)
        kinds = (options.parts, options.roles, options.policy == "clear_tool_uses" and options.clear_tool_inputs)
        known = self._known  # another thread may request other kinds meanwhile
        if known[0] != kinds:
            found = find_candidates(chain, self.history, options)
            known = self._known = kinds, found, [self._path(each) for each in found]
        return known[1:]

    def _path(self, candidate: Candidate) -> str:
        path = self._paths[candidate.message]
        return str(Path(path.section, path.pair, path.message, candidate.part))


def find_candidates(chain: Chain, history: History, options: RedactOptions) -> list[Candidate]:
    """Return the candidates in the order of the chain. Results and arguments are found in shapes; for other kinds every message
    is read."""
    found = list(_results(history)) if "result" in options.parts else []
    if "arguments" in options.parts or (options.policy == "clear_tool_uses" and options.clear_tool_inputs):
        found += _arguments(history, options)
    others = {kind for kind in options.parts if kind in ("reasoning", "media", "text")}
    if others:
        for index, message in enumerate(chain.stream(0, len(chain))):
            if message.role in options.roles:
                found += (
                    Candidate(kind, index, part, message.role, history.starts[index], history.rows[history.starts[index]])
                    for part, kind in _kinds(message)
                    if kind in others and not (kind == "media" and _goes_with_result(message, part, options))
                )
    found.sort(key=lambda each: (each.message, each.part))
    return found


def _results(history: History) -> Iterator[Candidate]:
    at = -1
    for use, (message, result) in enumerate(history.results):
        at = at + 1 if use and history.results[use - 1][0] == message else history.starts[message]
        tools = history.tools.get(result.id, ()) if result.id else ()
        shape = history.shapes[message]
        size = _only_size(shape)
        yield Candidate("result", message, result.part, shape.role, at, history.rows[at], result.id, tools, result.name, use, size)


def _only_size(shape: Shape) -> int | None:
    """Return the size of a message's only result: the size of the message less that of the id and the name."""
    if len(shape.results) != 1:
        return None
    result = shape.results[0]
    return shape.size - byte_size(result.id) - byte_size(result.name)


def _arguments(history: History, options: RedactOptions) -> Iterator[Candidate]:
    named = options.clear_tool_inputs if "arguments" not in options.parts else (EVERY,)
    for message, shape in enumerate(history.shapes):
        for call in shape.calls:
            if EVERY in named or call.name in named:
                at = history.starts[message]
                use = history.use_of_call.get((message, call.part), -1)
                row = history.rows[at]
                yield Candidate("arguments", message, call.part, AI, at, row, call.id, (call.name,), call.name, use)


def _kinds(message: Message) -> Iterator[tuple[int, Kind]]:
    for place, part in enumerate(message.parts):
        if isinstance(part, Text):
            yield place, "text"
        if isinstance(part, Thinking) or (isinstance(part, Text | ToolCall) and part.reasoning is not None):
            yield place, "reasoning"
        if isinstance(part, Image | Binary) or (isinstance(part, ToolResult) and part.media):
            yield place, "media"


def _goes_with_result(message: Message, part: int, options: RedactOptions) -> bool:
    return "result" in options.parts and isinstance(message.parts[part], ToolResult)


class Selection:
    """Decides for which candidates a policy is asked."""

    def __init__(self, history: History, options: RedactOptions) -> None:
        self._options = options
        self._first = options.protect_first
        self._end = len(history.shapes) - options.protect_last

    def skip(self, candidate: Candidate) -> str:
        """Return the reason to skip the candidate, one of SKIPS, or "" if it is selected."""
        options = self._options
        if not options.enabled:
            return "disabled"
        if candidate.kind == "result" and options.unmatched == "keep":
            if not candidate.call_id:
                return "missing_tool_call_id"
            if not candidate.tools:
                return "orphan_result"
        if candidate.is_tool_use and not selects(candidate.tools or (candidate.name,), options):
            return "tool_not_selected"
        if SUMMARIZATION_TOOL in candidate.tools and SUMMARIZATION_TOOL not in options.tools and options.policy != "reference":
            return "summary"
        return "" if self._first <= candidate.message < self._end else "protected"


def selects(tools: Sequence[str], options: RedactOptions) -> bool:
    """Return True if the options select one of the tools and exclude none. Several tools may be called with the same id."""
    if any(name in options.exclude_tools or _matches(name, options.exclude_globs) for name in tools):
        return False
    every = EVERY in options.tools and not options.tool_globs
    return every or any(name in options.tools or _matches(name, options.tool_globs) for name in tools)


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


SameCalls = Mapping[Place, int]
"""For each call (message, part), the last message with a call of the same tool and arguments."""


def find_same_calls(chain: Chain) -> SameCalls:
    """Find calls that repeat an earlier one, by reading every message that calls a tool. Arguments are compared as JSON."""
    shapes = chain.shapes()
    asked: dict[Place, tuple[str, str]] = {}
    last: dict[tuple[str, str], int] = {}
    places = [index for index, shape in enumerate(shapes) if shape.calls]
    for place, message in read_bodies(chain, places):
        for call in shapes[place].calls:
            key = call.name, _meaning(getattr(message.parts[call.part], "arguments", ""))
            asked[place, call.part] = key
            last[key] = place
    return {call: last[key] for call, key in asked.items()}


def _meaning(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


STRETCH = 200
GAP = 10
"""Two requested messages with up to this many messages between them are read together, to save a query."""


def read_bodies(chain: Chain, places: Iterable[int]) -> Iterator[tuple[int, Message]]:
    """Yield each place with its message. `places` must be in rising order."""
    for stretch in _stretches(places):
        start = stretch[0]
        messages = chain.slice(start, stretch[-1] + 1)
        for place in stretch:
            yield place, messages[place - start]


def _stretches(places: Iterable[int]) -> Iterator[list[int]]:
    stretch: list[int] = []
    for place in places:
        if stretch and (place - stretch[-1] > GAP or place - stretch[0] >= STRETCH):
            yield stretch
            stretch = []
        stretch.append(place)
    if stretch:
        yield stretch
