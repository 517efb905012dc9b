"""A flat list of messages to ChainAST. Total: every list has a tree, and flatten(parse(m)) is m (DESIGN 4.2).

A system or human message after a body opens a section, an AI message opens a pair, and everything else joins the open
pair, or a pair without AI message where none is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Shape
from chainviz.core.chain.tree import BodyPair, ChainAST, Section

M = TypeVar("M", bound=Shape)


def parse(messages: Iterable[M]) -> ChainAST[M]:
    sections: list[Section[M]] = []
    header: list[M] = []
    body: list[BodyPair[M]] = []
    ai: M | None = None
    rest: list[M] = []

    def close_pair() -> None:
        nonlocal ai, rest
        if ai is not None or rest:
            body.append(BodyPair(ai, tuple(rest)))
        ai, rest = None, []

    def close_section() -> None:
        nonlocal header, body
        close_pair()
        if header or body:
            sections.append(Section(tuple(header), tuple(body)))
        header, body = [], []

    for message in messages:
        role = message.role
        if role in (SYSTEM, HUMAN):
            if ai is not None or rest or body:
                close_section()
            header.append(message)
        elif role == AI:
            close_pair()
            ai = message
        else:
            rest.append(message)
    close_section()
    return ChainAST(tuple(sections))
