"""Strategies: a compactor with the settings of a run. Reads and writes their JSON, and describes them in words, such as “Composite
(compact above 8,000 tokens; keep the last 50 messages)”."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from itertools import groupby
from types import NoneType
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import AI, SYSTEM
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError
from chainviz.core.operations.compact.compactors import COMPACTORS
from chainviz.core.operations.compact.contract import Boundary, Compactor, Settings, Titled, Trial, Trigger
from chainviz.core.state.call import CompactionRequest

EVERYTHING_REMOVED = "Everything is removed: the next call would start a new conversation."


@dataclass(frozen=True, slots=True)
class Compacted:
    """The effect of a strategy on a request, and the reason."""

    request: CompactionRequest
    trial: Trial
    """The result of the whole strategy. Its parts are the trace."""

    @property
    def did_compact(self) -> bool:
        return self.trial.did_compact

    @property
    def splices(self) -> tuple[Splice, ...]:
        """The changes, by index of the stored messages."""
        change = self.trial.change
        return tuple(splice for splice in change.splices if splice.removed or splice.messages) if change else ()

    @property
    def boundary(self) -> Boundary | None:
        return self.trial.change.boundary if self.trial.change else None

    @property
    def removed(self) -> int:
        return sum(splice.removed for splice in self.splices)

    def with_first_request(self) -> Compacted:
        """Return the run with the first human message kept, and with the answer that ended its turn, so that roles alternate."""
        messages, change = self.request.messages, self.trial.change
        first = messages.human_from(0)
        if change is None or change.boundary is None or first is None:
            return self
        following = messages.human_from(first + 1)
        answer = (len(messages) if following is None else following) - 1
        kept = {first, answer} if messages[answer].role == AI and not messages[answer].calls else {first}
        splices = tuple(part for splice in change.splices for part in _without(splice, kept))
        return replace(self, trial=replace(self.trial, change=replace(change, splices=splices)))

    @property
    def removes_everything(self) -> bool:
        messages = self.request.messages
        return self.removed == len(messages) > 0 and not any(splice.messages for splice in self.splices)

    def warnings(self) -> Iterator[str]:
        """Yield sentences that a person should read before the change is applied."""
        yield from self.trial.change.warnings if self.trial.change else ()
        if self.removes_everything:
            yield EVERYTHING_REMOVED
            return
        cut = self.splices if self.boundary is not None else ()
        places = [place for splice in cut for place in range(splice.start, splice.start + splice.removed)]
        removed = [self.request.messages[place] for place in places]
        systems = sum(message.role == SYSTEM for message in removed)
        if systems:
            last = " The last one is directly before the cut: only human messages are boundaries."
            yield f"Removed: {count_text(systems, 'stored system message')}.{last if removed[-1].role == SYSTEM else ''}"
        if self.request.messages.human_from(0) in places:
            yield "The first request is removed: the next call does not see what it asked for."


def _without(splice: Splice, kept: Container[int]) -> Iterator[Splice]:
    """Yield splices that remove the same messages, except those in `kept`."""
    places = range(splice.start, splice.start + splice.removed)
    for is_kept, run in groupby(places, lambda place: place in kept):
        found = list(run)
        if not is_kept:
            yield Splice(found[0], len(found))


@dataclass(frozen=True, slots=True)
class Strategy:
    """A compactor with settings. Call it with a request; it raises CompactionFailed if a compactor fails."""

    root: Compactor
    settings: Settings = field(default_factory=Settings)

    def __call__(self, request: CompactionRequest) -> Compacted:
        return Compacted(request, self.root.compact(request, self.settings))


# In JSON each member is a field of its compactor: `{"type": "split", "trigger": {…}, "strategy": {…}}`. Every error
# names its place in the JSON, such as `compactors[1].trigger`.


Registry = Sequence[type[Trigger]]
MOST_DEPTH = 32


def parse_strategy(given: str | Mapping[str, Any], registry: Registry = COMPACTORS) -> Compactor:
    """Parse a strategy. Raises OptionsError, in one sentence with the place, if it is invalid."""
    value = _load(given) if isinstance(given, str) else given
    return cast(Compactor, _Parser(registry).node(value, "", Compactor))


def print_strategy(compactor: Trigger, indent: int | None = None) -> str:
    """Return the JSON of a strategy, without fields that have their default value."""
    return json.dumps(as_value(compactor), indent=indent, ensure_ascii=False)


def as_value(node: Trigger) -> dict[str, Any]:
    """Return a compactor or trigger as a JSON value."""
    value: dict[str, Any] = {"type": node.type}
    for name, kind in kinds_of(type(node)).items():
        found = getattr(node, name)
        if is_open(kind):
            value |= found
        elif isinstance(found, tuple):
            value[name] = [as_value(item) for item in found]
        elif isinstance(found, Trigger):
            value[name] = as_value(found)
        elif found != defaults_of(type(node)).get(name, MISSING):
            value[name] = found
    return value


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise OptionsError(f"The strategy is not JSON: {error.msg} at {place}.") from None
    except (ValueError, RecursionError):
        raise OptionsError("The strategy is not JSON: it is nested too deeply or contains a huge number.") from None


def kinds_of(node: type[Trigger]) -> dict[str, Any]:
    """Return the type of each field."""
    hints = get_type_hints(node)
    return {one.name: hints[one.name] for one in _fields(node)}


def titles_of(node: type[Trigger]) -> dict[str, Titled]:
    """Return the title and unit of each field in a form."""
    hints = get_type_hints(node, include_extras=True)
    return {one.name: next(iter(getattr(hints[one.name], "__metadata__", ())), Titled(one.name)) for one in _fields(node)}


def defaults_of(node: type[Trigger]) -> dict[str, Any]:
    return {one.name: one.default for one in _fields(node) if one.default is not MISSING}


def _fields(node: type[Trigger]) -> tuple[Field[Any], ...]:
    return fields(cast(Any, node))


def is_open(kind: Any) -> bool:
    """Return True for the type of a field that collects all members without a field of their own."""
    return get_origin(kind) is Mapping


class _Parser:
    def __init__(self, registry: Registry) -> None:
        self._types = {each.type: each for each in registry}

    def node(self, value: Any, place: str, wanted: type) -> Trigger:
        """Return the compactor or trigger of a JSON object."""
        where = place or "The strategy"
        if not isinstance(value, Mapping):
            raise OptionsError(f"{where} must be an object with a type.")
        if place.count(".") >= MOST_DEPTH:
            raise OptionsError(f"{place[:80]}… is nested too deeply.")
        found = self._types.get(value["type"]) if isinstance(value.get("type"), str) else None
        if found is None or not issubclass(found, wanted):
            names = ", ".join(name for name, each in self._types.items() if issubclass(each, wanted))
            said = f"no type “{str(value['type'])[:40]}”" if "type" in value else "no type"
            what = "compactor" if wanted is Compactor else "trigger"
            raise OptionsError(f"{where}: there is {said} for a {what}; choose {names}.")
        return found(**self._members(found, value, place))

    def _members(self, found: type[Trigger], value: Mapping[str, Any], place: str) -> dict[str, Any]:
        kinds = kinds_of(found)
        where = place or "The strategy"
        members: dict[str, Any] = {}
        rest = {name: item for name, item in value.items() if name != "type" and name not in kinds}
        for name, kind in kinds.items():
            if is_open(kind):
                members[name], rest = rest, {}
            elif name in value:
                members[name] = self._member(value[name], kind, f"{place}.{name}" if place else name)
            elif name not in defaults_of(found):
                raise OptionsError(f"{where}: {found.type} needs “{name}”.")
        if rest:
            has = f"it has {', '.join(kinds)}" if kinds else "it takes no members"
            raise OptionsError(f"{where}: {found.type} has no “{next(iter(rest))[:40]}”; {has}.")
        return members

    def _member(self, value: Any, kind: Any, place: str) -> Any:
        if kind is int:
            return _checked(value, place, "a whole number", lambda: type(value) is int)
        if get_origin(kind) is tuple:
            items = _checked(value, place, "a list", lambda: isinstance(value, list))
            return tuple(self.node(item, f"{place}[{i}]", get_args(kind)[0]) for i, item in enumerate(items))
        if isinstance(kind, type) and issubclass(kind, Trigger):
            return self.node(value, place, kind)
        words = words_of(kind)
        return _checked(value, place, " or ".join(words), lambda: isinstance(value, str) and value in words)


def words_of(kind: Any) -> tuple[str, ...]:
    """Return the values of a Literal, optional or not."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return next(words_of(each) for each in get_args(kind) if each is not NoneType)


def _checked(value: Any, place: str, wanted: str, is_right: Callable[[], bool]) -> Any:
    if not is_right():
        raise OptionsError(f"{place} must be {wanted}.")
    return value


def strategy_words(node: Trigger) -> str:
    """Return a strategy in words, as the Compact page shows it. Members that have their default value are left out."""
    text = _phrase(node)
    return text[:1].upper() + text[1:]


def _phrase(node: Trigger) -> str:
    said = ", ".join(_numbers(node)) or node.label.lower()
    inner = "; ".join(_inner(node))
    return f"{said} ({inner})" if inner else said


def _numbers(node: Trigger) -> Iterator[str]:
    for name, titled in titles_of(type(node)).items():
        found = getattr(node, name)
        if isinstance(found, int) and found != defaults_of(type(node)).get(name):
            yield f"{titled.title.lower()} {found:,} {titled.unit}".rstrip()


def _inner(node: Trigger) -> Iterator[str]:
    for name, titled in titles_of(type(node)).items():
        found = getattr(node, name)
        if isinstance(found, Trigger):
            yield f"{titled.title.lower()} {_phrase(found)}"
        elif isinstance(found, tuple):
            yield from map(_phrase, found)
