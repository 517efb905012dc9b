"""What an address of the redact page asks for: the parts that somebody selected in the chart of where the bytes go.

`policy`, `parts`, `roles` and `paths` are options; `only` names the one tool whose results are meant, `from` and `to` the
nodes between which they lie.
"""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from pydantic import ValidationError

from chainviz.chains.bytes.groups import RESULT, groups_of
from chainviz.chains.bytes.level import level_of
from chainviz.chains.render.numbers import count_text
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import PathError
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.candidates import Candidates, Selection
from chainviz.core.operations.redact.policies.by_hand import ByHand
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Outline
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.measures import unpack_charts

NOUNS = {"result": "result", "arguments": "call", "text": "text"}
SELECTION = ("policy", "parts", "roles", "paths", "only", "from", "to")


def has_selection(query: QueryDict) -> bool:
    return "parts" in query


def selected_options(query: QueryDict, chain: StoredChain) -> RedactOptions | None:
    """None where the address says nothing that this chain has."""
    try:
        return RedactOptions.model_validate({**_said(query), **_tools(query, chain), **_between(query, chain)})
    except (PathError, ValidationError):
        return None


def by_hand(options: RedactOptions, query: QueryDict, chain: StoredChain, candidates: Candidates) -> RedactOptions:
    """The same selection as decisions by hand, so that page and report say what a person chose."""
    selection = Selection(candidates.history, options)
    found = zip(*candidates.asked(chain, options), strict=True)
    paths = _counted(query, chain) or tuple(path for candidate, path in found if not selection.skip(candidate))
    chosen = {"policy": ByHand.name, "parts": options.parts, "roles": options.roles, "redact_paths": paths}
    return RedactOptions.model_validate(chosen)


def _counted(query: QueryDict, chain: StoredChain) -> tuple[str, ...]:
    """The results that the chart counts for a tool: it tells tools apart whose calls share one id. Empty where the chart
    knows only their total."""
    if "only" not in query:
        return ()
    level = level_of(chain, query.get("from", ""), query.get("to", ""))
    groups = groups_of(chain, outline_of(chain.snapshot), level) or []
    nodes = (node for group in groups if group.is_tool and group.name == query["only"] for node in group.nodes)
    return tuple(str(part.path) for node in nodes for part in node.parts if part.kind == RESULT)


def selection_note(options: RedactOptions) -> str:
    noun = NOUNS.get(options.parts[0], "part") if len(options.parts) == 1 else "part"
    count = len(options.redact_paths)
    return f"{count_text(count, f'selected {noun}')} {'is' if count == 1 else 'are'} redacted by hand. All others are kept."


def _said(query: QueryDict) -> dict[str, Any]:
    lists = {"parts": "parts", "roles": "roles", "paths": "redact_paths"}
    said: dict[str, Any] = {option: tuple(query.get(word, "").split(",")) for word, option in lists.items() if query.get(word)}
    return {**said, "policy": query["policy"]} if query.get("policy") else said


def _tools(query: QueryDict, chain: StoredChain) -> dict[str, Any]:
    """All other tools are left out, as the boxes of the page say it."""
    if "only" not in query:
        return {}
    outline: Outline = outline_of(chain.snapshot)
    return {"exclude_tools": tuple(name for name in unpack_charts(outline.charts).tools if name and name != query["only"])}


def _between(query: QueryDict, chain: StoredChain) -> dict[str, int]:
    """The messages before and behind are protected."""
    if not query.get("from"):
        return {}
    at = query.get("from", "")
    first, last = chain.span(parse_path(at)), chain.span(parse_path(query.get("to") or at))
    return {"protect_first": min(first.start, last.start), "protect_last": len(chain) - max(first.stop, last.stop)}

