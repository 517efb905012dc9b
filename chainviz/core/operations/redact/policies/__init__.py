"""When a part of a chain has served its purpose. One file a policy; once released, a policy keeps its name and meaning."""

from __future__ import annotations

from chainviz.core.operations.redact.policies.by_hand import ByHand
from chainviz.core.operations.redact.policies.clear_tool_uses import ClearToolUses
from chainviz.core.operations.redact.policies.contract import Policy
from chainviz.core.operations.redact.policies.every import Every
from chainviz.core.operations.redact.policies.keep_last_n import KeepLastN
from chainviz.core.operations.redact.policies.reference import Reference
from chainviz.core.operations.redact.policies.seed import Seed
from chainviz.core.operations.redact.policies.superseded import Superseded

POLICIES: tuple[Policy, ...] = (Seed(), Every(), ByHand(), Reference(), Superseded(), KeepLastN(), ClearToolUses())


def get_policy(name: str) -> Policy:
    return next(policy for policy in POLICIES if policy.name == name)
