"""The choices for a redaction: a policy and a selection, with the decision of every row beside them."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

from django.http import HttpResponse, QueryDict

from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Options, read_redaction_switch
from chainviz.core.operations.redact import POLICIES, RedactOptions
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.redact.decision_rows import SHOWN, Filter, Table
from chainviz.drafts.operations.redact.first_page import (
    FIRST,
    FirstPage,
    candidates,
    counts_of,
    decided_groups,
    decided_table,
    other_policy,
    tools,
)
from chainviz.drafts.operations.redact.form import (
    NOTHING,
    SEPARATOR,
    RedactForm,
    Tool,
    ToolList,
    by_hand,
    choices_of_options,
    form_of,
    has_selection,
    read_form_choices,
    selected_options,
    selection_note,
    settings_json,
    tool_list,
)
from chainviz.drafts.operations.redact.groups import KEYS, LABELS, Groups, Wish
from chainviz.web.http import small_number

MOST_SUGGESTED = 300
MOST_NAME = 200
KEPT = "kept"
"""The name of the list of kept rows; the buttons of groups send their grouping and name."""


class RedactChoices(Choices):
    template = "drafts/redact/redact.html"
    form: RedactForm
    asked = NOTHING
    chosen: RedactOptions | None = None
    """The chosen options, or None if the form is invalid."""

    first: FirstPage | None = None
    """The result of a job, for a long chain without chosen options."""

    def read(self) -> None:
        if self.sent is None and has_selection(self.request.GET):
            self._read_selection()
            return
        if self.sent is None:
            fixed = NOTHING.fixed((), read_redaction_switch(os.environ).is_on)
            self.form, self.chosen = RedactForm(fixed=fixed), RedactOptions.model_validate(fixed)
            return
        self.asked = read_form_choices(self.sent, self.tools)
        self.form = RedactForm(self.sent, fixed=self._fixed)
        if not self.form.is_valid():
            self.error = "Correct these settings to see their decisions in the table."
        elif self.form.options.context_management.strip():
            self.reopen(self.form.options.model_copy(update={"context_management": ""}))
            self.note = "Anthropic’s settings were read; the table shows their decisions."
        else:
            self.chosen = self.form.options

    def _read_selection(self) -> None:
        selected = selected_options(self.request.GET, self.target.stored)
        is_on = read_redaction_switch(os.environ).is_on
        self.chosen = (selected or RedactOptions.model_validate({})).model_copy(update={"enabled": is_on})
        self.form = form_of(self.chosen)
        if selected is None:
            self.error = "This selection no longer fits the chain. Choose again what to redact."
        elif not self.is_long:
            if not selected.redact_paths:
                selected = by_hand(selected, self.request.GET, self.target.stored, candidates(self.target))
            self.reopen(selected.model_copy(update={"enabled": is_on}))
            self.note = selection_note(selected)

    @property
    def first_options(self) -> RedactOptions | None:
        return self.chosen if self.asked is NOTHING else None

    def take_first(self, found: Any) -> None:
        self.first = FIRST.validate_python(found)
        assert self.chosen is not None
        self.asked = choices_of_options(self.chosen, self.tools)

    def reopen(self, options: Options) -> None:
        assert isinstance(options, RedactOptions)
        self.chosen, self.asked, self.form = options, choices_of_options(options, self.tools), form_of(options)

    def answer(self) -> HttpResponse | None:
        if self.chosen is None or self._post.get("act") != "write":
            return None
        text, _ = settings_json(self.chosen)
        headers = {"Content-Disposition": 'attachment; filename="context_management.json"'}
        return HttpResponse(text, content_type="application/json", headers=headers) if text else None

    @property
    def asks_for_step(self) -> bool:
        return self._post.get("act") == "apply" and self.chosen is not None and not self.note

    def options(self) -> RedactOptions:
        if self.chosen is None:
            raise Refused(self.error)
        return self.chosen

    @property
    def fragment(self) -> str:
        is_tools = self.request.htmx.target == "tools"  # type: ignore[attr-defined]
        return f"drafts/redact/_{'tools' if is_tools else 'decisions'}.html"

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        if self.first is not None:
            return self.first.tools
        return tools(self.target)

    def context(self) -> dict[str, Any]:
        switch = read_redaction_switch(os.environ)
        return {
            "form": self.form,
            "switch": switch.warning,
            "is_off": not switch.is_on,
            "tools": self._tool_list(),
            "uncalled": SEPARATOR.join(self.asked.uncalled),
            "uncalled_names": ", ".join(self.asked.uncalled),
            "tool_names": sorted({name for tool in self.tools for name in tool.names})[:MOST_SUGGESTED],
            "shown": list(SHOWN.items()),
            "plain": self.form.plain_choices(self._counts()),
            "is_live": "HX-Request" in self.request.headers,
            "policies": [(policy.name, policy.label) for policy in POLICIES],
            "filter": self._filter(),
            "table": self._table(),
            "views": list(LABELS.items()),
            "view": self._view,
            "groups": self._groups(),
            "by_hand_keep": self.asked.by_hand("keep"),
            "by_hand_redact": self.asked.by_hand("redact"),
            "json": settings_json(self.chosen) if self.chosen else ("", ""),
        }

    @property
    def _post(self) -> QueryDict:
        return self.request.POST

    @property
    def _fixed(self) -> dict[str, Any]:
        return self.asked.fixed(self.tools, read_redaction_switch(os.environ).is_on)

    def _counts(self) -> dict[str, str]:
        if self.chosen is None or self.first is not None:
            return {}
        return counts_of(self.target, self.chosen, self.asked)

    def _tool_list(self) -> ToolList:
        start = small_number(self._post.get("tools_from") or self._post.get("tools_at", "")) or 0
        return tool_list(self.tools, self.asked, self._post.get("tool_like", ""), start)

    def _table(self) -> Table | None:
        if self.chosen is None:
            return None
        if self.first is not None:
            return self.first.table

        return decided_table(self.target, self.chosen, self.asked, self._filter())

    @property
    def _view(self) -> str:
        """One of LABELS. A person who decides by hand sees every row."""
        if "list" in self._post or (self.chosen and self.chosen.policy == "by_hand"):
            return "row"
        asked = self._post.get("view", "")
        return asked if asked in LABELS else "tool"

    def _groups(self) -> Groups | None:
        view = self._view
        if self.chosen is None or view not in KEYS:
            return None
        if self.first is not None:
            return self.first.groups
        opened = self._post.get("open")
        example = small_number(self._post.get("example", "")) if self._post.get("open_before") == opened else None
        start = small_number(self._post.get("groups_from", "")) or 0
        return decided_groups(self.target, self.chosen, Wish(view, opened, example or 1, start), self._filter().against)

    def _filter(self) -> Filter:
        is_selection = self.sent is None and bool(self.asked.overrides)
        show, against = self._post.get("show", "by_hand" if is_selection else "all"), self._post.get("against", "")
        policy = self.chosen.policy if self.chosen else ""
        if against == policy or all(against != each.name for each in POLICIES):
            against = other_policy(policy)
        tool = self._post.get("only_tool", "").strip()[:MOST_NAME]
        listed = self._post.get("list", "")
        show = "keep" if listed == KEPT else show
        by, _, name = (listed or self._post.get("group", "")).partition(":")
        start = small_number(self._post.get("from", "")) or 0
        return Filter(show if show in SHOWN else "all", tool, start, against, (by, name) if by in KEYS else None)
