"""What a person chooses about a repair: each fix that could be made, one by one.

A job checks the structure of a long chain; another reads all its messages for what only their contents show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django_htmx.http import HttpResponseClientRedirect

from chainviz.chains.verdicts import VerdictView, verdict_view, verdicts_by_provider
from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Options
from chainviz.core.operations.repair import CHOICES, Fix, RepairOptions, propose
from chainviz.core.operations.repair.fixes import DROP_SIGNED, ON_DEMAND
from chainviz.core.providers import get_provider
from chainviz.core.providers.contract import Provider
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.reading_cache import kept
from chainviz.drafts.operations.repair.cards import Links, cards_of, options_in
from chainviz.drafts.operations.repair.reading_job import fixes_of, reading_of, start_reading
from chainviz.drafts.operations.responses import moved_on
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.store.content.codec import unpack
from chainviz.store.outline.build import outline_of
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


class RepairChoices(Choices):
    template = "drafts/repair/repair.html"
    chosen = RepairOptions()
    reading: Job | None = None
    structure: Job | None = None
    """The check of the structure of a long chain."""

    def read(self) -> None:
        if self.is_long and self._asked:
            self.reading = reading_of(self.target, content=True, **self._asked)
            self.structure = self.reading = self.reading or start_reading(self.target, content=True, **self._asked)
        elif self.is_long:
            self.reading = reading_of(self.target, content=True)
            self.structure = reading_of(self.target, content=False) or start_reading(self.target, content=False)

    def reopen(self, options: Options) -> None:
        assert isinstance(options, RepairOptions)
        self.chosen = options
        self.read()

    def answer(self) -> HttpResponse | None:
        act = self.request.POST.get("act", "")
        if act == "read":
            start_reading(self.target, content=True)
        elif act == "stop" and self.reading is not None:
            lease.cancel(self.reading)
        elif wants_fragment(self.request) and self._is_waiting:
            return render(self.request, "drafts/repair/_checking.html", {"page": {**self.head(), **self._of_reading()}})
        elif wants_fragment(self.request) and self.request.GET.get("checking"):
            return HttpResponseClientRedirect(self._here)
        elif wants_fragment(self.request) and self.reading is not None and self.sent is None:
            return render(self.request, "drafts/repair/_reading.html", {"page": {**self.head(), **self._of_reading()}})
        else:
            return None
        return see_other(self._here)

    def options(self) -> RepairOptions:
        if self.request.POST.get("act") == "goal":
            return RepairOptions(goal=get_provider(self.request.POST.get("goal", "")).name)
        if self.request.POST.get("act") == DROP_SIGNED:
            return RepairOptions(only=(DROP_SIGNED,), since=self.request.POST.get("since", ""))
        # what a form offered is what it answers, also where the messages were read in the meantime
        if "content" in self.request.POST and not self._has_content:
            raise Refused(moved_on(self.target))
        content = "content" in self.request.POST
        return options_in(self.request.POST, self._fixes(content=content), self._kind, content=content)

    def context(self) -> dict[str, Any]:
        def at(path: Path) -> str:
            return f"{self.target.explorer}at/{path}#{path.node.dom_id}"

        is_of_fixes = self.sent is not None and "act" not in self.sent
        content = self._has_content and (not is_of_fixes or "content" in self.request.POST)
        if is_of_fixes and not self._is_waiting:
            # a refused form comes back as it was sent
            self.chosen = options_in(self.request.POST, self._fixes(content=content), self._kind, content=content)
        start = small_number(self.request.GET.get("from", "")) or 0
        links = Links(at, self.target.query)
        return {
            **self._of_reading(),
            "goals": self._goals(),
            "cards": None if self._is_waiting else cards_of(self._fixes(content=content), self._problems, self._kind, start, links),
            "content": content,
            "post_href": self._here,
            "problems_href": f"{self.target.explorer}problems",
        }

    @property
    def _problems(self) -> int:
        outline = outline_of(self.target.stored.snapshot)
        return outline.errors + outline.warnings

    def _goals(self) -> list[tuple[Provider, VerdictView, bool]]:
        """Each provider with its verdict, and whether chains of this format are made with it."""
        snapshot = self.target.stored.snapshot
        found = verdicts_by_provider(unpack(outline_of(snapshot).verdicts))
        return [(provider, verdict_view(verdict), provider.is_of(snapshot.format)) for provider, verdict in found.items()]

    def _of_reading(self) -> dict[str, Any]:
        return {"address": self._here, "messages": f"{len(self.target.stored):,}", "reading": self.reading, "structure": self.structure}

    @property
    def _kind(self) -> str:
        kind = self.request.GET.get("kind", "")
        return kind if kind in CHOICES else ""

    @property
    def _here(self) -> str:
        """The address of the page with the kind of fixes that it shows."""
        shown = {name: self.request.GET[name] for name in ("kind", "from", "since") if self._kind and name in self.request.GET}
        return f"{self.address}&{urlencode(shown)}" if shown else self.address

    @property
    def _asked(self) -> dict[str, Any]:
        """The options with which a fix is offered that fits one provider only."""
        return {"only": (self._kind,), "since": self.request.GET.get("since", "")} if self._kind in ON_DEMAND else {}

    @property
    def _has_content(self) -> bool:
        """Whether it is known what the contents of the messages need."""
        if not self.is_long:
            return True
        return self.reading is not None and self.reading.state == Job.State.DONE

    @property
    def _is_waiting(self) -> bool:
        """Whether nothing is known yet, so that the page tells how far the check is."""
        return self.structure is not None and not self.structure.is_finished and not self._has_content

    def _fixes(self, *, content: bool) -> Sequence[Fix]:
        options = self.chosen.model_copy(update={"content": content, **self._asked})
        job = self.reading if content else self.structure
        if job is not None and job.state == Job.State.DONE:
            return kept(self.target.stored, (job.pk, options), lambda: fixes_of(job, options))
        return kept(self.target.stored, options, lambda: propose(self.target.stored, options))
