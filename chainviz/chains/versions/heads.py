"""Copies what the library's table shows of the newest version into the chain's row. Called whenever the head moves."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import Message, text_of
from chainviz.core.providers import PROVIDERS
from chainviz.store.content.codec import unpack
from chainviz.store.models import Version
from chainviz.store.outline.build import outline_of

FIRST_WORDS = 90
HEAD = ("version", "format", "sections", "pairs", "messages", "size", "problems", "warnings", "verdicts")
"""What `copy_head` writes."""


def store_name(user: Any) -> str:
    """How the store names a person: it keeps the word and asks nothing."""
    return f"user:{user.pk}"


def head_moved(chain: Chain, version: Version, by: Any) -> None:
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
    found = unpack(outline.verdicts)
    chain.verdicts = {provider.name: found.get(provider.name, (0,))[0] for provider in PROVIDERS}


def first_words(message: Message) -> str:
    return marks(one_line(text_of(message), FIRST_WORDS))
