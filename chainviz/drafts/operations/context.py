"""What an operation on a stored chain may use beside its options."""

from __future__ import annotations

import os
from random import SystemRandom

from chainviz.core.operations.contract import Context
from chainviz.core.operations.redaction_switch import read_redaction_switch
from chainviz.core.progress import Progress, ignore_progress
from chainviz.store.content.chain import StoredChain
from chainviz.store.lineage import redacted_places


def context_for(chain: StoredChain, progress: Progress = ignore_progress) -> Context:
    return Context(
        random=SystemRandom(),
        progress=progress,
        redaction=read_redaction_switch(os.environ),
        redacted=lambda: redacted_places(chain),
    )
