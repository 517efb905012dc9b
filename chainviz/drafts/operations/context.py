"""What an operation on a stored chain may use beside its options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from random import SystemRandom

from chainviz.core.operations.contract import Context
from chainviz.core.operations.redaction_switch import read_redaction_switch
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.secrets import WordList
from chainviz.store.content.chain import StoredChain
from chainviz.store.lineage import redacted_places


def context_for(
    chain: StoredChain, progress: Progress = ignore_progress, word_lists: Mapping[str, WordList] | None = None
) -> Context:
    return Context(
        random=SystemRandom(),
        progress=progress,
        redaction=read_redaction_switch(os.environ),
        word_lists=word_lists or {},
        redacted=lambda: redacted_places(chain),
    )
