"""A chain of system messages alone: APIs with a system parameter of its own get a request without any message."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.messages import SYSTEM
from chainviz.core.chain.paths import Path
from chainviz.core.providers.contract import Broken, Excerpt, SectionCheck
from chainviz.core.providers.rules.rule import Rule


def system_only(rule: Rule) -> SectionCheck:
    """Return a check of the chain's first section, which breaks this rule."""

    def check(excerpt: Excerpt) -> Iterator[tuple[Path, int, Broken]]:
        section = excerpt.section
        if excerpt.is_last and not section.body and all(message.role == SYSTEM for message in section.header):
            yield Path(excerpt.number, 0, 0), excerpt.first_message, (rule, None, "is a system message without any message after it")

    return check
