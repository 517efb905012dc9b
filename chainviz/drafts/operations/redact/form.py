"""The form of the redact page: converts between the fields of the form and options. It uses only the tools and sizes of
the chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict
from pydantic import ValidationError

from chainviz.chains.bytes.level import RESULT, groups_of, level_of
from chainviz.core.chain.messages import byte_size
from chainviz.core.chain.paths import parse_path
from chainviz.core.counts import count_text
from chainviz.core.errors import OptionsError, PathError
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.candidates import Candidates, Selection
from chainviz.core.operations.redact.decision_matrix import History
from chainviz.core.operations.redact.options import write_anthropic_settings as write_settings
from chainviz.core.operations.redact.policies import ByHand
from chainviz.recipes.step_form import RuleForm
from chainviz.store.content.chain import StoredChain
from chainviz.store.models import Outline
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.measures import unpack_charts

TOOLS = 30
"""The number of checkboxes at once; buttons and a filter lead to the others."""
MOST_OVERRIDES = 20_000
OVERRIDES = ("keep", "redact")
SEPARATOR = "\t"
BY_PAGE = ("tools", "exclude_tools")
"""Fields that have a special form on the page."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A checkbox. Tools that share results have one together."""

    index: int
    names: tuple[str, ...]
    results: int
    bytes: int
    is_chosen: bool = True

    @property
    def label(self) -> str:
        return ", ".join(self.names) or "no name"


@dataclass(frozen=True, slots=True)
class ToolList:
    """A window of the checkboxes; the tools with the most bytes come first."""

    boxes: tuple[Tool, ...]
    total: int
    found: int
    """The number of tools that match the filter."""
    start: int
    like: str
    excluded: tuple[int, ...]

    @property
    def indexes(self) -> str:
        return ",".join(str(tool.index) for tool in self.boxes)

    @property
    def out(self) -> str:
        return ",".join(map(str, self.excluded))

    @property
    def is_long(self) -> bool:
        return self.total > TOOLS

    @property
    def end(self) -> int:
        return self.start + len(self.boxes)

    @property
    def previous(self) -> int | None:
        return max(0, self.start - TOOLS) if self.start else None

    @property
    def following(self) -> int | None:
        return self.end if self.end < self.found else None


def tool_list(tools: Sequence[Tool], asked: FormChoices, like: str = "", start: int = 0) -> ToolList:
    like = like.strip()
    found = [tool for tool in tools if like.casefold() in tool.label.casefold()]
    found.sort(key=lambda tool: (-tool.bytes, tool.index))
    start = min(start, max(0, (len(found) - 1) // TOOLS * TOOLS))
    boxes = tuple(replace(tool, is_chosen=tool.index not in asked.excluded) for tool in found[start : start + TOOLS])
    return ToolList(boxes, len(tools), len(found), start, like, tuple(sorted(asked.excluded)))


def tools_of(chain: StoredChain, history: History) -> tuple[Tool, ...]:
    """Return the tools with results. The form refers to them by their number in alphabetical order. Sizes are those of
    contents, as in the table."""
    shapes = chain.shapes()
    totals: dict[tuple[str, ...], tuple[int, int]] = {}
    for message, result in history.results:
        names = history.tools.get(result.id, ()) if result.id else ()
        key = names or ((result.name,) if result.name else ())
        count, size = totals.get(key, (0, 0))
        content = shapes[message].parts[result.part].size - byte_size(result.id) - byte_size(result.name)
        totals[key] = (count + 1, size + content)
    return tuple(Tool(i, names, *totals[names]) for i, names in enumerate(sorted(totals)))


class RedactForm(RuleForm):
    """Read the form. Tools and decisions about single rows come from the page."""

    def __init__(self, data: QueryDict | None = None, *, fixed: dict[str, Any] | None = None) -> None:
        super().__init__(data, fixed=fixed)
        for name in BY_PAGE:
            del self.fields[name]


def form_of(options: RedactOptions) -> RedactForm:
    """Return a form with these options. The JSON from which they were read is merged into them."""
    form = RedactForm()
    form.begin_with(options.model_copy(update={"context_management": ""}))
    return form


@dataclass(frozen=True, slots=True)
class FormChoices:
    """The values of a form outside the options' own fields."""

    excluded: frozenset[int]
    """Tools whose checkbox is not ticked."""
    overrides: Mapping[str, str]
    """By path: `keep` or `redact`."""
    uncalled: tuple[str, ...] = ()
    """Excluded names without a result in this chain, which Anthropic's settings may contain."""

    def fixed(self, tools: Sequence[Tool], enabled: bool) -> dict[str, Any]:
        names = [name for tool in tools if tool.index in self.excluded for name in tool.names]
        return {
            "exclude_tools": tuple(dict.fromkeys((*names, *self.uncalled))),
            "keep_paths": self._paths("keep"),
            "redact_paths": self._paths("redact"),
            "enabled": enabled,
        }

    def by_hand(self, decision: str) -> str:
        """Return the paths with this decision, as the form sends them back."""
        return ",".join(self._paths(decision))

    def _paths(self, decision: str) -> tuple[str, ...]:
        return tuple(path for path, said in self.overrides.items() if said == decision)


NOTHING = FormChoices(frozenset(), {})


def read_form_choices(form: QueryDict, tools: Sequence[Tool]) -> FormChoices:
    excluded: frozenset[int] = frozenset()
    if "tools_shown" in form:
        shown = _numbers(form.get("tools_shown", ""))
        unticked = shown - _numbers(",".join(form.getlist("tool")))
        elsewhere = _numbers(form.get("tools_out", "")) - shown
        excluded = (unticked | elsewhere) & {tool.index for tool in tools}
    overrides = {path: said for said in OVERRIDES for path in form.get(f"by_hand_{said}", "").split(",") if path}
    for name in form:
        if name.startswith("row-"):
            path, said = name.removeprefix("row-"), form[name]
            overrides.pop(path, None)
            if said in OVERRIDES:
                overrides[path] = said
    known = [(path, said) for path, said in overrides.items() if _is_path(path)]
    uncalled = tuple(name for name in form.get("uncalled", "").split(SEPARATOR) if name)
    return FormChoices(excluded, dict(known[:MOST_OVERRIDES]), uncalled)


def choices_of_options(options: RedactOptions, tools: Sequence[Tool]) -> FormChoices:
    """Return the form's state for options that were read from elsewhere."""
    gone = frozenset(tool.index for tool in tools if set(tool.names) & set(options.exclude_tools))
    kept = dict.fromkeys(options.redact_paths, "redact") | dict.fromkeys(options.keep_paths, "keep")
    called = {name for tool in tools for name in tool.names}
    return FormChoices(gone, kept, tuple(name for name in options.exclude_tools if name not in called))


def _numbers(text: str) -> frozenset[int]:
    return frozenset(int(word) for word in text.split(",") if word.isdecimal() and word.isascii() and len(word) < 9)


def _is_path(path: str) -> bool:
    try:
        return str(parse_path(path)) == path
    except Exception:
        return False


def settings_json(options: RedactOptions) -> tuple[str, str]:
    """Return Anthropic's settings for these options, and an error if there are none."""
    try:
        return write_settings(options), ""
    except OptionsError as refused:
        return "", str(refused)


# Addresses of the redact page with the parts that a person selected in the chart of bytes. `policy`, `parts`, `roles`
# and `paths` are options. `only` names a tool whose results are meant, `from` and `to` the first and the last node.


NOUNS = {"result": "result", "arguments": "call", "text": "text"}
SELECTION = ("policy", "parts", "roles", "paths", "only", "from", "to")


def has_selection(query: QueryDict) -> bool:
    return "parts" in query


def selected_options(query: QueryDict, chain: StoredChain) -> RedactOptions | None:
    """Read the options of a selection from an address, or return None if they are invalid or this chain has none of its
    nodes."""
    try:
        return RedactOptions.model_validate({**_policy_options(query), **_tools(query, chain), **_between(query, chain)})
    except (PathError, ValidationError):
        return None


def by_hand(options: RedactOptions, query: QueryDict, chain: StoredChain, candidates: Candidates) -> RedactOptions:
    """Return the same selection as manual decisions, so that page and report name the choice of a person."""
    selection = Selection(candidates.history, options)
    found = zip(*candidates.select(chain, options), strict=True)
    paths = _counted(query, chain) or tuple(path for candidate, path in found if not selection.skip(candidate))
    chosen = {"policy": ByHand.name, "parts": options.parts, "roles": options.roles, "redact_paths": paths}
    return RedactOptions.model_validate(chosen)


def _counted(query: QueryDict, chain: StoredChain) -> tuple[str, ...]:
    """Return the paths of the results that the chart counts for a tool; it separates tools whose calls share one id.
    Empty if the chart knows only their total."""
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


def _policy_options(query: QueryDict) -> dict[str, Any]:
    lists = {"parts": "parts", "roles": "roles", "paths": "redact_paths"}
    said: dict[str, Any] = {option: tuple(query.get(word, "").split(",")) for word, option in lists.items() if query.get(word)}
    return {**said, "policy": query["policy"]} if query.get("policy") else said


def _tools(query: QueryDict, chain: StoredChain) -> dict[str, Any]:
    """Exclude all other tools, as the boxes of the page do."""
    if "only" not in query:
        return {}
    outline: Outline = outline_of(chain.snapshot)
    return {"exclude_tools": tuple(name for name in unpack_charts(outline.charts).tools if name and name != query["only"])}


def _between(query: QueryDict, chain: StoredChain) -> dict[str, int]:
    """Return the options that protect the messages before and after."""
    if not query.get("from"):
        return {}
    at = query.get("from", "")
    first, last = chain.span(parse_path(at)), chain.span(parse_path(query.get("to") or at))
    return {"protect_first": min(first.start, last.start), "protect_last": len(chain) - max(first.stop, last.stop)}
