"""What each of the plain choices of the redact page comes to."""

from __future__ import annotations

from chainviz.core.operations.redact import RedactOptions
from chainviz.drafts.operations.redact.decision_rows import Filter
from chainviz.drafts.operations.redact.first_page import decided_table, other_policy
from chainviz.drafts.operations.redact.form import Asked
from chainviz.drafts.target import Target
from chainviz.recipes.redact_form import PLAIN

MOST_COUNTED = 20_000
"""Messages up to which all of them are counted."""


def counts_of(target: Target, options: RedactOptions, asked: Asked) -> dict[str, str]:
    """By policy, with the other options as they are."""
    if len(target.stored) > MOST_COUNTED:
        return {}
    found = {}
    for name in PLAIN:
        table = decided_table(target, options.model_copy(update={"policy": name}), asked, Filter(against=other_policy(name)))
        saves = f" · saves {table.saved}" if table.redacted else ""
        found[name] = f"{table.redacted:,} of {table.decided:,}{saves}"
    return found
