"""Rewrite messages whose JSON is not as their API takes it: members that another program added, or values of another type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import Message, Part
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.formats.vendors import PROVIDERS, SERVERS
from chainviz.core.operations.repair.fixes import REWRITE, Proposal
from chainviz.core.operations.repair.session import Worklist
from chainviz.core.providers.contract import fixes_of_fault
from chainviz.core.providers.wire import sent_value


def has_source(message: Message) -> bool:
    return bool(message.source)


def fix_members(work: Worklist) -> None:
    """Rewrite such messages. Only on demand, since most APIs ignore what they do not know."""
    if not work.options.asks_for(REWRITE):
        return
    for place, message in work.read(has_source):
        new = _rewritten(message, work.chain.format) if any(_odd(message, work.chain.format)) else None
        if new is None:
            continue
        about = work.about[place]
        problem = f"{work.where(about)} has a member or a value that its API does not accept."
        if work.offer(Proposal("not-understood", about, None, "", problem, message.parts, {REWRITE: new.parts}, default=False)):
            work.edit(place).whole = new
    work.settle()


def _odd(message: Message, format: str) -> Iterator[bool]:
    """Yield True for each fault that a rewritten message does not have."""
    for provider in (*PROVIDERS, *SERVERS):
        for fault in provider.wire(message) if format in provider.formats else ():
            rule = provider.wire_rule(fault)
            yield rule is not None and REWRITE in fixes_of_fault(rule, message, fault.part)


def _rewritten(message: Message, name: str) -> Message | None:
    """Return the message in its format's usual form, or None if that would change its parts, or nothing."""
    format = get_format(name)
    new = format.message(message.role, format.write(replace(message, source=()), Style()))
    return new if _content(new) == _content(message) and sent_value(new) != sent_value(message) else None


def _content(message: Message) -> list[Part]:
    return [replace(part, origin=-1) for part in message.parts]
