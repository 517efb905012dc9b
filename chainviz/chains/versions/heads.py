"""Copies what the library's table shows of the newest version into the chain's row. Called whenever the head moves."""

from __future__ import annotations

from django.utils import timezone

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.chains.usage import recorded_usage
from chainviz.core.chain.messages import Message, text_of
from chainviz.store.content.codec import unpack
from chainviz.store.models import Version
from chainviz.store.outline.build import outline_of

FIRST_WORDS = 90
HEAD = (
    "version", "format", "sections", "pairs", "messages", "size", "problems", "warnings", "verdicts", "usage", "tokens", "rules",
)  # fmt: skip
"""What `copy_head` writes."""


def store_name(user: User) -> str:
    """How the store names a person."""
    return f"user:{user.pk}"


def head_moved(chain: Chain, version: Version, by: User) -> None:
    """A new version was saved: the library shows it from now on."""
    copy_head(chain, version)
    chain.changed_at = timezone.now()
    chain.changed_by = by
    # no more than that: a title that was read before may have been purged since
    chain.save(update_fields=[*HEAD, "changed_at", "changed_by"])


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
    usage = recorded_usage(outline)
    chain.usage = {model: list(each) for model, each in usage.by_model.items()} or None
    chain.tokens = usage.total.input + usage.total.output if usage.is_recorded else None
    chain.rules = outline.rules


def first_words(message: Message) -> str:
    return marks(one_line(text_of(message), FIRST_WORDS))
