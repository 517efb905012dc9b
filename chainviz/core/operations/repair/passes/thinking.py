"""Drop reasoning that an API refuses, since it cannot be signed or restored."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, groupby
from typing import NamedTuple

from chainviz.core.chain.messages import AI, Message, Part, Role, Thinking, ToolCall
from chainviz.core.chain.reasoning import (
    acts_unsigned,
    acts_unthinking,
    is_emptied,
    is_signed,
    is_signed_thought,
    is_unsigned,
    thinks,
    thinks_signed,
    with_own_signatures,
    with_signed_call,
)
from chainviz.core.formats import get_format, read_only
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors.deepseek import PROVIDER as DEEPSEEK
from chainviz.core.operations.repair.fixes import DROP_REASONING, DROP_SIGNED, Proposal
from chainviz.core.operations.repair.passes.items import without_encrypted
from chainviz.core.operations.repair.session import Worklist

UNSIGNABLE = "This chain's format cannot store a call's signature: convert the chain to Gemini, and sign its calls there."


def is_thought(part: Part) -> bool:
    return isinstance(part, Thinking)


def reasons(message: Message) -> bool:
    return message.role == AI and thinks(message)


def fix_thinking(work: Worklist) -> None:
    """Drop refused reasoning. Only on demand, since other APIs require the same reasoning."""
    ends = list(accumulate(len(section) for section in work.tree.sections))
    unthinking = {bisect_right(ends, place) for place in work.places(acts_unthinking)}
    for number, found in groupby(work.read(reasons), lambda item: bisect_right(ends, item[0])):
        section = [(place, message, _fault(message, _role_at(work, place + 1))) for place, message in found]
        # if one call has no reasoning or loses it, all reasoning of its section has to be dropped
        incomplete = number in unthinking or any(message.calls and fault for _, message, fault in section)
        for place, message, fault in section:
            if fault is None and incomplete:
                fault = Flaw("thinking-missing", "has reasoning, while another message of its section calls tools without it")
            if fault is not None:
                _offer(work, place, message, fault)
    work.settle()


def fix_signed(work: Worklist) -> None:
    """Drop signed reasoning, or all. Only on demand: a signature does not show whether it or an earlier message was changed, and only
    some servers refuse any reasoning."""
    for fix, look, flaw in (
        (DROP_SIGNED, thinks_signed, Flaw("thinking-signed", "has signed reasoning", DROP_SIGNED)),
        (DROP_REASONING, reasons, Flaw("reasoning-refused", "has reasoning", DROP_REASONING)),
    ):
        if work.options.asks_for(fix):
            for place, message in work.read(look):
                _offer(work, place, message, flaw)
            work.settle()


def fix_foreign_signatures(work: Worklist) -> None:
    """Replace thought signatures. Only on demand, since only Gemini can tell which ones it accepts."""
    if not work.options.asks_for("replace-signatures"):
        return
    for place, message in work.read(is_signed):
        about, new = work.about[place], with_own_signatures(message)
        problem = f"{work.where(about)} has a thought signature."
        outcomes = {"replace-signatures": new.parts}
        if work.offer(Proposal("signature-foreign", about, None, "", problem, message.parts, outcomes, default=False)):
            edit = work.edit(place)
            edit.whole, edit.removed = new, not new.parts
    work.settle()


class Flaw(NamedTuple):
    rule: str
    what: str
    """The rest of the sentence that begins with the name of the message."""
    fix: str = "drop-thinking"


def _role_at(work: Worklist, place: int) -> Role | None:
    return work.shapes[place].role if place < len(work.shapes) else None


def _fault(message: Message, after: Role | None) -> Flaw | None:
    """Return the problem of the message's own reasoning. `after` is the role of the next message, or None at the end."""
    if any(map(is_unsigned, message.parts)):
        return Flaw("thinking-unsigned", "has reasoning without a signature")
    if any(map(is_emptied, message.parts)):
        return Flaw("thinking-emptied", "has signed reasoning without text")
    if isinstance(message.parts[-1], Thinking) and after != AI:
        return Flaw("thinking-last-block", "ends with reasoning")
    if after is None and thinks(message):
        return Flaw("thinking-final", "ends the chain with its reasoning")
    return None


def fix_missing_reasoning(work: Worklist) -> None:
    """Add empty reasoning to calls without any. Only on demand: DeepSeek requires reasoning with every call."""
    if work.chain.format not in DEEPSEEK.formats or not work.options.asks_for("empty-reasoning"):
        return
    for place, message in work.read(acts_unthinking):
        first = message.parts[0]
        problem = f"{work.where(work.about[place])} calls tools without reasoning."
        after: tuple[Part, ...] = (Thinking(" "), first)
        proposal = Proposal("reasoning-missing", work.about[place], None, "", problem, (first,), {"empty-reasoning": after}, default=False)
        if work.offer(proposal):
            work.edit(place).parts[0] = after
    work.settle()


def fix_unsigned_calls(work: Worklist) -> None:
    """Sign unsigned calls of the last section. Only on demand, since Gemini 3 is the only API that checks signatures on
    calls."""
    if not work.options.asks_for("sign-calls"):
        return
    start = len(work.shapes) - len(work.tree.sections[-1]) if work.tree.sections else 0
    for place, message in list(work.read(acts_unsigned)):
        if place >= start and not _offer_signature(work, place, message):
            work.warnings.append(UNSIGNABLE)
            break
    work.settle()


def _offer_signature(work: Worklist, place: int, message: Message) -> bool:
    """Offer to mark the call as not signed. Return False if the chain's format cannot store a signature."""
    about, part = work.about[place], message.calls[0].part
    signed = with_signed_call(message)
    if not _holds_signature(work.chain.format, signed):
        return False
    problem = f"{work.where(about)} calls a tool without a thought signature."
    before, outcomes = (message.parts[part],), {"sign-calls": (signed.parts[part],)}
    if work.offer(Proposal("thought-signature-missing", about, part, message.calls[0].id, problem, before, outcomes, default=False)):
        work.edit(place).parts[part] = outcomes["sign-calls"]
    return True


def _holds_signature(format: str, message: Message) -> bool:
    """Return True if the signature of the message's first call is kept when the message is written and read again."""
    if read_only(format):
        return False
    written = get_format(format)
    parts = written.message(message.role, written.write(message, Style())).parts
    return any(isinstance(part, ToolCall) and part.reasoning is not None and part.reasoning.signature for part in parts)


def _offer(work: Worklist, place: int, message: Message, flaw: Flaw) -> None:
    about = work.about[place]
    is_meant = is_signed_thought if flaw.fix == DROP_SIGNED else is_thought
    thoughts = {i: part for i, part in enumerate(message.parts) if is_meant(part)}
    problem = f"{work.where(about)} {flaw.what}."
    nothing: tuple[Part, ...] = ()
    outcomes = {flaw.fix: nothing}
    if work.offer(Proposal(flaw.rule, about, None, "", problem, tuple(thoughts.values()), outcomes, default=False)):
        edit = work.edit(place)
        edit.whole = without_encrypted(message, work.chain.format) if flaw.fix == DROP_SIGNED else None
        edit.parts.update({} if edit.whole else dict.fromkeys(thoughts, nothing))
