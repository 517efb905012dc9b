"""Repair with a goal: the smallest set of fixes after which a provider's API accepts the chain.

Only the provider's errors decide which fixes are made, including opt-in ones. Everything else stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from chainviz.core.chain.chain import MemoryChain, Splice, apply_splices
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.surroundings import Rewrite
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Format, Style
from chainviz.core.operations.repair.fixes import NO_FIX, Fix, RepairOptions
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.pictures import refused_among_many
from chainviz.core.providers.check import check
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.request import Request, request_of

MOST_ROUNDS = 6
"""One fix may cause another error; for example, a message that loses its only part is empty."""

NEXT = Message(HUMAN, (Text("go on"),))
REFUSED_BY_SOME = frozenset(("reasoning-without-item",))
"""Rules whose warnings count as errors in a session, because only some models refuse and the fix loses nothing that a model
reads."""
NONE = RepairOptions(only=(NO_FIX,))
"""Offers all fixes and makes none."""

Work = Callable[[MemoryChain, RepairOptions], Worklist]


@dataclass(frozen=True, slots=True)
class Reached:
    messages: tuple[Message, ...]
    fixes: tuple[Fix, ...]
    """All fixes that were made. Each path refers to the chain at the start of the fix's round."""
    left: tuple[Problem, ...]
    """Errors that no fix removes."""
    around: Rewrite | None = None
    """Rewrites the JSON beside the messages."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A provider to repair for. With `resumes`, the chain must be valid with one more human message, as an agent sends it
    when it resumes a session."""

    provider: Provider
    resumes: bool = False

    def errors(self, chain: MemoryChain, request: Request | None = None) -> tuple[Problem, ...]:
        """Return the errors of a chain. `request` is what its document records, if that was already read."""
        messages = (*chain.messages, NEXT) if self.resumes else chain.messages
        problems = check(self.provider, parse(messages), chain.format, request or request_of(chain.surroundings))
        return tuple(each for each in self._judged(problems, chain) if each.severity == "error" and each.message < len(chain.messages))

    def _judged(self, problems: Iterable[Problem], chain: MemoryChain) -> Iterator[Problem]:
        """Raise the severity of problems that depend on the rest of the session. A large image is an error if the same
        request has many others. A problem that only some models refuse is an error in a session, because any model may
        resume it. A signature that looks cut is an error if other signatures of the session are missing."""
        found = list(problems)
        is_asked = self.resumes and any(each.rule == "image-large" for each in found)
        is_stripped = any(each.rule == "thinking-unsigned" for each in found)
        refused = refused_among_many(enumerate(chain.messages)) if is_asked else frozenset()
        parts = {(place.message, place.part) for place in refused}
        for each in found:
            if each.rule == "image-large" and (each.message, each.part) in parts:
                each = replace(each, severity="error", fixes=("image-to-text",))
            elif self.resumes and (each.rule in REFUSED_BY_SOME or (each.rule == "thinking-signature-cut" and is_stripped)):
                each = replace(each, severity="error")
            yield each


def sent_places(format: Format, messages: Sequence[Message]) -> list[int]:
    """Return the places of the messages that an agent sends when it resumes the session."""
    start = format.sent_from(messages)
    return [place for place in range(start, len(messages)) if format.is_sent(messages[place])]


def resume_errors(provider: Provider, chain: MemoryChain, request: Request | None = None) -> tuple[Problem, ...]:
    """Return why a provider's API would refuse the next request of a session. Places count only the messages that are sent. `request`
    is what its document records, if that was already read."""
    sent = tuple(chain.messages[place] for place in sent_places(get_format(chain.format), chain.messages))
    return Goal(provider, resumes=True).errors(replace(chain, messages=sent), request)


def reach(goal: Goal, chain: MemoryChain, work: Work) -> Reached:
    """Repair the chain in rounds until the provider has no errors or a round changes nothing."""
    known = {id(message) for message in chain.messages}
    now, fixes, around = chain, list[Fix](), list[Rewrite]()
    left = goal.errors(chain)
    for round in range(MOST_ROUNDS if left else 0):
        options = _options(work(now, NONE).fixes, left, round)
        worked = work(now, options) if options else None
        changes = worked.splices() if worked else ()
        if worked is None or not (changes or worked.around):
            break
        fixes += [fix for fix in worked.fixes if fix.accepted]
        around += [worked.around] if worked.around is not None else []
        now = _after(now, changes, worked.around)
        left = goal.errors(_judged(now, known))
        if not left:
            break
    if left:
        rewritten = replace(now, messages=_rewritten(now.messages, left, chain.format))
        known |= {id(message) for message in rewritten.messages} - {id(message) for message in now.messages}
        still = goal.errors(_judged(rewritten, known))
        if len(still) < len(left):
            fixes += _rewrites(now.messages, rewritten.messages, left)
            now, left = rewritten, still
    return Reached(now.messages, tuple(fixes), left, _composed(around))


def _after(chain: MemoryChain, changes: Sequence[Splice], around: Rewrite | None) -> MemoryChain:
    surroundings = chain.surroundings.rewritten(around) if around is not None else None
    return MemoryChain(apply_splices(chain.messages, changes), chain.format, surroundings or chain.surroundings)


def _composed(rewrites: Sequence[Rewrite]) -> Rewrite | None:
    return (lambda text: reduce(lambda given, rewrite: rewrite(given), rewrites, text)) if rewrites else None


def _judged(chain: MemoryChain, known: Container[int]) -> MemoryChain:
    """Return a chain in which each changed message is as its format would write it, so that the checks see the new text."""
    format = get_format(chain.format)
    has_slot = bool(format.slot_key) and next(chain.surroundings.holders(), None) is not None
    written = (
        message if id(message) in known or not format.writes else _as_written(format, message, slot=has_slot and not place)
        for place, message in enumerate(chain.messages)
    )
    return replace(chain, messages=tuple(written))


def _as_written(format: Format, message: Message, *, slot: bool) -> Message:
    """Write the message in the format and read it again. With `slot`, a system message goes to the member beside the list."""
    style = Style(slot=slot and message.role == SYSTEM and not message.source)
    return format.message(message.role, format.write(message, style))


def _rewritten(messages: Sequence[Message], errors: Sequence[Problem], name: str) -> tuple[Message, ...]:
    """Rewrite the messages with these errors, since an error may only be about their spelling."""
    format, wanted = get_format(name), {error.message for error in errors}
    return tuple(
        format.message(message.role, format.write(replace(message, source=()), _style(format, message))) if place in wanted else message
        for place, message in enumerate(messages)
    )


def _style(format: Format, message: Message) -> Style:
    """Return the style of a new message. In formats with one record a line it follows a neighbour's record, such as its
    time."""
    return Style(near=message.source[0].text) if format.lines and message.source else Style()


def _rewrites(before: Sequence[Message], after: Sequence[Message], errors: Sequence[Problem]) -> Iterator[Fix]:
    choice = ("rewrite-message",)
    for error in {error.message: error for error in errors}.values():
        path, sizes = replace(error.path, part=None), (before[error.message].size, after[error.message].size)
        id = f"{choice[0]}@{path}"
        yield Fix(id, error.rule, path, error.message, error.text, choice, choice[0], True, False, *sizes)


def _options(offered: Sequence[Fix], errors: Sequence[Problem], round: int) -> RepairOptions | None:
    """Choose one fix for each error. If an error remains after a round, its next fix is tried."""
    wanted = dict(_choices_for(offered, errors, round))
    if not wanted:
        return None
    return RepairOptions(only=tuple(wanted), choose=tuple(f"{id}={choice}" for id, choice in wanted.items()))


def _choices_for(offered: Sequence[Fix], errors: Sequence[Problem], round: int) -> Iterator[tuple[str, str]]:
    """Yield the id of each fix to make, with the choice."""
    for error in errors:
        near = [fix for fix in offered if fix.message == error.message] or [
            fix for fix in offered if (fix.path.section, fix.path.pair) == (error.path.section, error.path.pair)
        ]
        for name in error.fixes[min(round, len(error.fixes) - 1) :]:
            fitting = [fix for fix in near if name in fix.choices]
            exact = [fix for fix in fitting if fix.path.part == error.part]
            yield from ((fix.id, name) for fix in exact or fitting)
            if fitting:
                break
