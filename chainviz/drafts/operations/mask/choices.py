"""What a person chooses about masking: which findings, and what to replace them with. Findings come from scans.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, get_args

from django.http import HttpResponse, QueryDict

from chainviz.accounts.models import member_of
from chainviz.chains.secrets.excerpts import Reader
from chainviz.chains.secrets.findings import Spot, is_long
from chainviz.core.chain.paths import Path
from chainviz.core.errors import ChainError
from chainviz.core.operations.contract import Options
from chainviz.core.operations.mask import MaskOptions
from chainviz.core.operations.mask.options import STRATEGIES
from chainviz.core.secrets import Strategy, WordList
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.mask.cards import Selection, declined_in, review_of, rules_off
from chainviz.drafts.operations.mask.scans import OwnScan, Scan, Scanning
from chainviz.recipes.models import WordList as KeptList
from chainviz.recipes.services import lists_of, save_list
from chainviz.web.query_params import small_number


class MaskChoices(Choices):
    template = "drafts/mask/mask.html"
    chosen: MaskOptions | None = None
    """Options that are shown again."""
    spots: Sequence[Spot] = ()
    typed = WordList("")
    """Words and patterns of the form."""
    lists: tuple[str, ...] = ()
    """Names of the ticked word lists."""
    own_used = ""

    def read(self) -> None:
        self.typed = WordList("", self._given.get("own_words", ""), self._given.get("own_patterns", ""))
        self.lists = tuple(name for name in self._given.getlist("word_list") if name in self.known_lists)

    def reopen(self, options: Options) -> None:
        assert isinstance(options, MaskOptions)
        self.chosen, self.typed = options, WordList("", options.own_words, options.own_patterns)
        self.lists = tuple(name for name in options.word_lists if name in self.known_lists)

    @cached_property
    def known_lists(self) -> dict[str, WordList]:
        return lists_of(self.target.chain.team_id)

    def answer(self) -> HttpResponse | None:
        if self._given.get("act") == "keep_list":
            self._keep()
        try:
            own = OwnScan(self)
            own.show_progress()
            saved = [self.known_lists[name] for name in self.lists]
            self.spots, self.own_used, error = own.spots(Scan(self).spots(), self.typed, saved)
            self.error = error or self.error
        except Scanning as scanning:
            return scanning.answer
        return None

    def _keep(self) -> None:
        """What was typed becomes a word list of the team, which is ticked from now on."""
        typed = replace(self.typed, name=self._given.get("list_name", ""))
        try:
            row = save_list(KeptList(team=self.target.chain.team), typed, by=member_of(self.request), seen=0)
        except ChainError as refused:
            self.error = str(refused)
            return
        self.note = f"“{row.name}” was saved and ticked."
        self.known_lists[row.name] = row.value
        self.lists, self.typed = (*self.lists, row.name), WordList("")

    @property
    def asks_for_step(self) -> bool:
        return self._given.get("act") == "apply" and not self.error

    def options(self) -> MaskOptions:
        chosen = self._selection()
        gone = chosen.declined | {spot.id for spot in self.spots if spot.rule in chosen.off}
        own = {"own_patterns": self.typed.patterns, "own_words": self.typed.words, "word_lists": self.lists}
        given = {"strategy": chosen.strategy, **own, "decline": tuple(gone)}
        return MaskOptions.model_validate(given)

    def context(self) -> dict[str, Any]:
        def at(path: Path) -> str:
            return f"{self.target.explorer}at/{path}#{path.node.dom_id}"

        chosen = self._selection()
        return {
            "review": review_of(self.spots, chosen, Reader(self.target.stored), at),
            "strategies": [(name, label, name == chosen.strategy) for name, label in STRATEGIES.items()],
            "typed": self.typed,
            "lists": [(name, name in self.lists) for name in self.known_lists],
            "list_name": self._given.get("list_name", "") if self.error else "",
            "own_used": self.own_used,
        }

    @property
    def is_long(self) -> bool:
        return is_long(self.target.stored)

    @property
    def _given(self) -> QueryDict:
        return self.request.POST

    def _selection(self) -> Selection:
        if self.chosen is not None:
            return Selection(frozenset(self.chosen.decline), frozenset(), self.chosen.strategy)
        asked = self._given.get("strategy", "")
        strategy: Strategy = next((each for each in get_args(Strategy) if each == asked), "pseudonym")
        start = small_number(self._given.get("from", "")) or 0
        return Selection(declined_in(self._given, self.spots), rules_off(self._given, self.spots), strategy, start)
