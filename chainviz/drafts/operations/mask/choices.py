"""What a person chooses about masking: which findings, and what to replace them with. Findings come from scans.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from django.http import HttpResponse, QueryDict

from chainviz.chains.secrets.excerpts import Reader
from chainviz.chains.secrets.findings import Spot, is_long
from chainviz.core.chain.paths import Path
from chainviz.core.operations.contract import Options
from chainviz.core.operations.mask import MaskOptions
from chainviz.core.secrets import Strategy
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.mask.cards import Selection, declined_in, review_of, rules_off
from chainviz.drafts.operations.mask.scans import OwnScan, Scan, Scanning
from chainviz.web.query_params import small_number

STRATEGIES: dict[Strategy, str] = {
    "pseudonym": "A numbered name for each value, such as [EMAIL_1]",
    "replace": "One word for all of a kind, such as [EMAIL]",
    "mask": "Stars, with a public prefix or last digits",
}


class MaskChoices(Choices):
    template = "drafts/mask/mask.html"
    chosen: MaskOptions | None = None
    """Options that are shown again."""
    spots: Sequence[Spot] = ()
    own_patterns = own_used = ""

    def read(self) -> None:
        self.own_patterns, self.own_used = (self._given.get(name, "") for name in ("own_patterns", "own_used"))

    def reopen(self, options: Options) -> None:
        assert isinstance(options, MaskOptions)
        self.chosen, self.own_patterns = options, options.own_patterns

    def answer(self) -> HttpResponse | None:
        try:
            own = OwnScan(self)
            own.show_progress()
            self.spots, self.own_used, error = own.spots(Scan(self).spots())
            self.error = error or self.error
        except Scanning as scanning:
            return scanning.answer
        return None

    @property
    def asks_for_step(self) -> bool:
        return self._given.get("act") == "apply" and not self.error

    def options(self) -> MaskOptions:
        chosen = self._selection()
        gone = chosen.declined | {spot.id for spot in self.spots if spot.rule in chosen.off}
        given = {"strategy": chosen.strategy, "own_patterns": self.own_patterns, "decline": tuple(gone)}
        return MaskOptions.model_validate(given)

    def context(self) -> dict[str, Any]:
        def at(path: Path) -> str:
            return f"{self.target.explorer}at/{path}#{path.node.dom_id}"

        chosen = self._selection()
        return {
            "review": review_of(self.spots, chosen, Reader(self.target.stored), at),
            "strategies": [(name, label, name == chosen.strategy) for name, label in STRATEGIES.items()],
            "own_patterns": self.own_patterns,
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
