"""What the redact page shows first: the tools of the chain, and what the default options decide."""

from __future__ import annotations

from time import perf_counter

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from chainviz.core.chain.paths import Path
from chainviz.core.operations.redact import DecisionTable, RedactOptions, decide
from chainviz.core.operations.redact.candidates import Candidates
from chainviz.drafts.operations.reading_cache import kept
from chainviz.drafts.operations.redact.decision_rows import Filter, Table, table_of
from chainviz.drafts.operations.redact.form import NOTHING, Asked, Tool, tools_of
from chainviz.drafts.operations.redact.groups import Groups, Wish, groups_of
from chainviz.drafts.target import Target
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
    return kept(target.stored, "tools", lambda: tools_of(target.stored, candidates(target).history))


def other_policy(policy: str) -> str:
    """The one to compare with where nobody chose one."""
    return "reference" if policy != "reference" else "seed"


def decided_table(target: Target, options: RedactOptions, asked: Asked, chosen: Filter) -> Table:
    begun = perf_counter()
    decided = _decisions(target, options, chosen.against)
    return table_of(decided, asked.overrides, chosen, lambda path: _address(target, path), perf_counter() - begun)


def decided_groups(target: Target, options: RedactOptions, wish: Wish, against: str) -> Groups:
    decided = _decisions(target, options, against)
    return groups_of(target.stored, decided, options, wish, lambda path: _address(target, path))


def _address(target: Target, path: Path) -> str:
    return f"{target.explorer}at/{path}#{path.node.dom_id}"


def _decisions(target: Target, options: RedactOptions, against: str) -> DecisionTable:
    stored = target.stored
    return kept(
        stored,
        (options, against),
        lambda: decide(stored, options, redacted_places(stored), (against,), candidates(target)),
    )


def candidates(target: Target) -> Candidates:
    return kept(target.stored, "candidates", lambda: Candidates(target.stored))
