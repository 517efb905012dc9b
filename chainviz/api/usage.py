"""Tokens, cost and context window of a chain outside of the web application, with the figures that the settings name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from chainviz.core.chain.messages import Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.usage.document_usage import last_call_beside
from chainviz.core.usage.model_catalog import Models, read_overrides
from chainviz.core.usage.recorded import LastCall, recorded_in


@lru_cache(maxsize=1)
def models() -> Models:
    from chainviz.settings import CHAINVIZ  # only here: other commands need no environment that can be read

    return Models(read_overrides(CHAINVIZ.models))


def last_call_of(messages: Sequence[Message], context: DocumentContext | None) -> LastCall | None:
    """The last call that a session counts beside its messages (`context`), else the one that its last answer counts."""
    beside = None if context is None else last_call_beside(context)
    if beside is not None:
        return beside
    last = next(filter(None, map(recorded_in, reversed(messages))), None)
    return None if last is None else LastCall(last[1], None)
