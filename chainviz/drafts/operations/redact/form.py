"""The form of the redact page: which options a filled-in form means. Of the chain it knows only tools and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import QueryDict

from chainviz.core.chain.messages import byte_size
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import OptionsError
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.redact.anthropic_settings.write import write as write_settings
from chainviz.core.operations.redact.decision_matrix import History
from chainviz.recipes.redact_form import RuleForm
from chainviz.store.content.chain import StoredChain

TOOLS = 30
"""Boxes at once; buttons and a filter lead to the others."""
MOST_OVERRIDES = 20_000
OVERRIDES = ("keep", "redact")
SEPARATOR = "\t"
BY_PAGE = ("tools", "exclude_tools")
"""Fields that the page asks for in its own way."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A box to tick: the tools that share results are one."""

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
    """A window of the boxes, the tools with most bytes first."""

    boxes: tuple[Tool, ...]
    total: int
    found: int
    """Tools that the filter leaves."""
    start: int
    like: str
    excluded: tuple[int, ...]

    @property
    def shown(self) -> str:
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


def tool_list(tools: Sequence[Tool], asked: Asked, like: str = "", start: int = 0) -> ToolList:
    like = like.strip()
    found = [tool for tool in tools if like.casefold() in tool.label.casefold()]
    found.sort(key=lambda tool: (-tool.bytes, tool.index))
    start = min(start, max(0, (len(found) - 1) // TOOLS * TOOLS))
    boxes = tuple(replace(tool, is_chosen=tool.index not in asked.excluded) for tool in found[start : start + TOOLS])
    return ToolList(boxes, len(tools), len(found), start, like, tuple(sorted(asked.excluded)))


def tools_of(chain: StoredChain, history: History) -> tuple[Tool, ...]:
    """Tools with results; their order, by name, is what the form's numbers mean. Bytes as the table counts them: contents."""
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
    """Tools and decisions about single rows come from the page."""

    def __init__(self, data: QueryDict | None = None, *, fixed: dict[str, Any] | None = None) -> None:
        super().__init__(data, fixed=fixed)
        for name in BY_PAGE:
            del self.fields[name]


def form_of(options: RedactOptions) -> RedactForm:
    """The form that says what the options say; the JSON they were read from is taken in, so it is gone."""
    form = RedactForm()
    form.begin_with(options.model_copy(update={"context_management": ""}))
    return form


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form says beside the options' own fields."""

    excluded: frozenset[int]
    """Tools whose box is not ticked."""
    overrides: Mapping[str, str]
    """By path: keep or redact."""
    uncalled: tuple[str, ...] = ()
    """Names left out although no result here is theirs: Anthropic's settings may name them."""

    def fixed(self, tools: Sequence[Tool], enabled: bool) -> dict[str, Any]:
        names = [name for tool in tools if tool.index in self.excluded for name in tool.names]
        return {
            "exclude_tools": tuple(dict.fromkeys((*names, *self.uncalled))),
            "keep_paths": self._paths("keep"),
            "redact_paths": self._paths("redact"),
            "enabled": enabled,
        }

    def by_hand(self, decision: str) -> str:
        """Returns the paths with this decision, as the form sends them back."""
        return ",".join(self._paths(decision))

    def _paths(self, decision: str) -> tuple[str, ...]:
        return tuple(path for path, said in self.overrides.items() if said == decision)


NOTHING = Asked(frozenset(), {})


def asked_in(form: QueryDict, tools: Sequence[Tool]) -> Asked:
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
    return Asked(excluded, dict(known[:MOST_OVERRIDES]), uncalled)


def asked_by(options: RedactOptions, tools: Sequence[Tool]) -> Asked:
    """The same, of options that were read from elsewhere."""
    gone = frozenset(tool.index for tool in tools if set(tool.names) & set(options.exclude_tools))
    kept = dict.fromkeys(options.redact_paths, "redact") | dict.fromkeys(options.keep_paths, "keep")
    called = {name for tool in tools for name in tool.names}
    return Asked(gone, kept, tuple(name for name in options.exclude_tools if name not in called))


def _numbers(text: str) -> frozenset[int]:
    return frozenset(int(word) for word in text.split(",") if word.isdecimal() and word.isascii() and len(word) < 9)


def _is_path(path: str) -> bool:
    try:
        return str(parse_path(path)) == path
    except Exception:
        return False


def settings_json(options: RedactOptions) -> tuple[str, str]:
    """Anthropic's settings for these options, or why there are none."""
    try:
        return write_settings(options), ""
    except OptionsError as refused:
        return "", str(refused)
