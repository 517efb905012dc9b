"""Copies what the library's table shows of the newest version into the chain's row. Called whenever the head moves."""

from __future__ import annotations

from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.facts import FACTS, copy_facts
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.titles import save_title
from chainviz.chains.verdicts import verdicts_by_provider
from chainviz.core.chain.messages import Message, text_of
from chainviz.store.content.codec import unpack
from chainviz.store.models import Version
from chainviz.store.outline.build import outline_of

FIRST_WORDS = 90
HEAD = (
    "version", "format", "sections", "pairs", "messages", "size", "problems", "warnings", "verdicts", "rejections", "rules",
    *FACTS,
)  # fmt: skip
"""What `copy_head` writes."""


_PERSON = "user:"


def store_name(user: User) -> str:
    """How the store names a person."""
    return f"{_PERSON}{user.pk}"


def person_named(name: str) -> int | None:
    """Key of the person whom the store names so; None for any other name."""
    key = name.removeprefix(_PERSON)
    return int(key) if key != name and key.isdecimal() else None


def head_moved(chain: Chain, version: Version, by: User) -> None:
    """A new version was saved: the library shows it from now on."""
    copy_head(chain, version)
    chain.changed_at = timezone.now()
    chain.changed_by = by
    # no more than that: a title that was read before may have been purged since
    chain.save(update_fields=[*HEAD, "changed_at", "changed_by"])
    save_title(chain, version.snapshot)


def copy_head(chain: Chain, version: Version) -> None:
    snapshot = version.snapshot
    outline = outline_of(snapshot)
    chain.version = version.number
    chain.format = snapshot.format
    chain.sections = snapshot.sections
    chain.pairs = snapshot.pairs
    chain.messages = snapshot.messages
    chain.size = snapshot.size
    chain.problems = outline.errors
    chain.warnings = outline.warnings
    chain.verdicts = unpack(outline.verdicts)
    chain.rejections = sum(verdict.state == "rejected" for verdict in verdicts_by_provider(chain.verdicts).values())
    chain.rules = outline.rules
    copy_facts(chain, outline)


def first_words(message: Message) -> str:
    return marks(one_line(text_of(message), FIRST_WORDS))
