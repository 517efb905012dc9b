"""The first view of the redact page: the tools of the chain, and the decisions of the default options."""

from __future__ import annotations

from time import perf_counter

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from chainviz.core.chain.paths import Path
from chainviz.core.operations.redact import DecisionTable, RedactOptions, decide
from chainviz.core.operations.redact.candidates import Candidates
from chainviz.drafts.operations.presets import cached
from chainviz.drafts.operations.redact.decision_rows import Filter, Table, table_of
from chainviz.drafts.operations.redact.form import NOTHING, FormChoices, Tool, tools_of
from chainviz.drafts.operations.redact.groups import Groups, Wish, groups_of
from chainviz.drafts.target import Target
from chainviz.recipes.step_form import PLAIN
from chainviz.store.lineage import redacted_places


@dataclass(frozen=True)
class FirstPage:
    tools: tuple[Tool, ...]
    table: Table
    groups: Groups


FIRST = TypeAdapter(FirstPage)


def first_page(target: Target, options: RedactOptions) -> FirstPage:
    chosen = Filter(against=other_policy(options.policy))
    table = decided_table(target, options, NOTHING, chosen)
    return FirstPage(tools(target), table, decided_groups(target, options, Wish(), chosen.against))


def tools(target: Target) -> tuple[Tool, ...]:
    return cached(target.stored, "tools", lambda: tools_of(target.stored, candidates(target).history))


def other_policy(policy: str) -> str:
    """Return the policy to compare with if the person chose none."""
    return "reference" if policy != "reference" else "seed"


def decided_table(target: Target, options: RedactOptions, asked: FormChoices, chosen: Filter) -> Table:
    begun = perf_counter()
    decided = _decisions(target, options, chosen.against)
    return table_of(decided, asked.overrides, chosen, lambda path: _address(target, path), perf_counter() - begun)


def decided_groups(target: Target, options: RedactOptions, wish: Wish, against: str) -> Groups:
    decided = _decisions(target, options, against)
    return groups_of(target.stored, decided, options, wish, lambda path: _address(target, path))


def _address(target: Target, path: Path) -> str:
    return target.address_of(path)


def _decisions(target: Target, options: RedactOptions, against: str) -> DecisionTable:
    stored = target.stored
    return cached(stored, (options, against), lambda: decide(stored, options, redacted_places(stored), (against,), candidates(target)))


def candidates(target: Target) -> Candidates:
    return cached(target.stored, "candidates", lambda: Candidates(target.stored))


# What each of the plain choices of the redact page comes to.


MOST_COUNTED = 20_000
"""The largest chain, in messages, of which all messages are counted."""


def counts_of(target: Target, options: RedactOptions, asked: FormChoices) -> dict[str, str]:
    """Count the redacted parts for each policy, with the other options unchanged."""
    if len(target.stored) > MOST_COUNTED:
        return {}
    found = {}
    for name in PLAIN:
        table = decided_table(target, options.model_copy(update={"policy": name}), asked, Filter(against=other_policy(name)))
        saves = f" · saves {table.saved}" if table.redacted else ""
        found[name] = f"{table.redacted:,} of {table.decided:,}{saves}"
    return found
