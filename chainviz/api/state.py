"""Conversation states in Python (documents checked, salvaged and written), and a model's answer as the program that reads it sees it.

`chainviz.load` opens a state document as a chain, and `Chain.state` gives the state of a chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Text
from chainviz.core.errors import DocumentError, OptionsError, Refused
from chainviz.core.formats import get_format
from chainviz.core.operations.compact.simulation import strategy_of
from chainviz.core.operations.compact.strategy import Strategy
from chainviz.core.state.call import CallRules, NextState, Reply, ToolFailed, add_event, append, leading_systems, next_state
from chainviz.core.state.document import State, members_beside, seen_messages, unknown_members, write_state
from chainviz.core.state.export import NextCall, is_state_format, next_call, provider_of, require_readable, state_of
from chainviz.core.state.faults import Salvaged, StateFile, salvage
from chainviz.core.state.faults import read_state as classified
from chainviz.core.text_formats.contract import RegisteredSection
from chainviz.core.toolchain import ParsedAnswer, ParseOptions, ResultOptions, parse_answer
from chainviz.core.toolchain.calls import USUAL

if TYPE_CHECKING:
    from chainviz.api.chain import Chain


AnyOptions = TypeVar("AnyOptions", ParseOptions, ResultOptions)


def parse(text: str, sections: Sequence[str] | None = None, **options: Any) -> ParsedAnswer:
    """Returns the sections with their ranges, and the calls of the action sections with the error of each entry.

    `sections`: their names; None for thinking, action and answer, () for every section. Options: `format` (markdown or xml,
    else the one that finds more), `strict`, `calls_in`, `syntax` (json or yaml), `schemas` of arguments by tool. The `format`
    of what comes back gives the values or the error (`parse`), and the text of the prompt (`describe_structure`).
    """
    registered = USUAL if sections is None else tuple(map(RegisteredSection, sections))
    return parse_answer(text, build_options(ParseOptions, {"sections": registered, **options}))


def build_options(kind: type[AnyOptions], options: Mapping[str, Any]) -> AnyOptions:
    """Return options of a kind. Raises OptionsError for an unknown name or word."""
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise OptionsError(f"There is no option “{name[:40]}”; there are {', '.join(known)}.")
    return kind(**options)


__all__ = [
    "CallRules",
    "NextState",
    "Reply",
    "Salvaged",
    "State",
    "StateFile",
    "ToolFailed",
    "add_event",
    "append",
    "compactor",
    "next_state",
    "read_state",
    "salvage",
    "write_state",
]


def read_state(source: str | Path | bytes, provider: str = "") -> StateFile:
    """Read a state document and its faults: `problem`, `checks`; `opened()` gives the state.
    `provider` is the one that must be able to continue it. Raises DocumentError if the file cannot be opened.
    """
    if isinstance(source, bytes):
        return classified(source, provider)
    try:
        return classified(Path(source).read_bytes(), provider)
    except OSError as error:
        raise DocumentError(f"{source} cannot be opened: {error.strerror or error}.") from None


def compactor(strategy: str | Mapping[str, Any] = "", **options: Any) -> Strategy:
    """Returns what `next_state` calls after a turn: a strategy as JSON, or limits such as `max_messages=50`.

    Raises OptionsError for an invalid strategy.
    """
    return strategy_of({"strategy": strategy, **options} if strategy else options)


def state_of_chain(chain: Chain, provider: str, processed_length: int | None) -> State:
    """See `Chain.state`."""
    provider = provider or provider_of(chain.format)
    if not provider:
        raise Refused(f"No provider stores messages in the format {get_format(chain.format).label}. Convert the chain first.")
    require_readable(_members(chain), chain.unread)
    state = state_of(chain.messages, chain.format, provider, processed_length=_seen(chain, processed_length))
    return replace(state, others=unknown_members(_members(chain)))


def next_call_of(chain: Chain, leading: Sequence[str] | None, user: str, processed_length: int | None) -> NextCall:
    """See `Chain.next_call`."""
    is_state = is_state_format(chain.format)
    own = chain.messages[: 0 if is_state else leading_systems(chain.messages)]
    systems = own if leading is None else tuple(Message(SYSTEM, (Text(text),)) for text in leading)
    human = Message(HUMAN, (Text(user),)) if user else None
    return next_call(chain.messages, systems, human, processed_length=_seen(chain, processed_length), is_state=is_state)


def _seen(chain: Chain, given: int | None) -> int | None:
    """Return the given value, else that of the chain's document, in messages of the chain."""
    recorded = _members(chain).get("processed_length")
    if given is not None or type(recorded) is not int:
        return given
    packs = get_format(chain.format).packs
    return seen_messages(recorded, (message.source for message in chain.messages)) if packs else recorded


def _members(chain: Chain) -> dict[str, Any]:
    return members_beside(chain.surroundings.texts()) if is_state_format(chain.format) else {}
