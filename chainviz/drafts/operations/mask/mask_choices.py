"""The choices for masking: which findings, and what replaces them. Findings come from scans.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn, get_args

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render

from chainviz.accounts.models import member_of
from chainviz.chains.secrets.findings import Reader, Spot, is_long, scan, scan_own, together
from chainviz.chains.secrets.scans import (
    OWN,
    latest_scan,
    own_scan_of,
    scan_of,
    scan_under_way,
    spots_of,
    start_own_scan,
    start_scan,
    stop_own_scan,
)
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.contract import Options
from chainviz.core.operations.mask import STRATEGIES, MaskOptions
from chainviz.core.secrets import Rule, Strategy, WordList
from chainviz.core.secrets.word_lists import packed, rules_of, unpacked
from chainviz.drafts.operations.choices import Choices
from chainviz.drafts.operations.mask.cards import Selection, declined_in, review_of, rules_off
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.recipes.models import WordList as KeptList
from chainviz.recipes.services import lists_of, save_list
from chainviz.web.http import see_other, small_number, wants_fragment


class MaskChoices(Choices):
    template = "drafts/mask/mask.html"
    chosen: MaskOptions | None = None
    """The options to show again."""
    spots: Sequence[Spot] = ()
    typed = WordList("")
    """Words and patterns of the form."""
    lists: tuple[str, ...] = ()
    """Names of the ticked word lists."""
    own_used = ""

    def read(self) -> None:
        self.typed = WordList("", self._post.get("own_words", ""), self._post.get("own_patterns", ""))
        self.lists = tuple(name for name in self._post.getlist("word_list") if name in self.known_lists)

    def reopen(self, options: Options) -> None:
        assert isinstance(options, MaskOptions)
        self.chosen, self.typed = options, WordList("", options.own_words, options.own_patterns)
        self.lists = tuple(name for name in options.word_lists if name in self.known_lists)

    @cached_property
    def known_lists(self) -> dict[str, WordList]:
        return lists_of(self.target.chain.team_id)

    def answer(self) -> HttpResponse | None:
        if self._post.get("act") == "keep_list":
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
        """Save the typed words as a word list of the team, and tick it."""
        typed = replace(self.typed, name=self._post.get("list_name", ""))
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
        return self._post.get("act") == "apply" and not self.error

    def options(self) -> MaskOptions:
        chosen = self._selection()
        gone = chosen.declined | {spot.id for spot in self.spots if spot.rule in chosen.off}
        own = {"own_patterns": self.typed.patterns, "own_words": self.typed.words, "word_lists": self.lists}
        given = {"strategy": chosen.strategy, **own, "decline": tuple(gone)}
        return MaskOptions.model_validate(given)

    def context(self) -> dict[str, Any]:
        chosen = self._selection()
        return {
            "review": review_of(self.spots, chosen, Reader(self.target.stored), self.target.address_of),
            "strategies": [(name, label, name == chosen.strategy) for name, label in STRATEGIES.items()],
            "typed": self.typed,
            "lists": [(name, name in self.lists) for name in self.known_lists],
            "list_name": self._post.get("list_name", "") if self.error else "",
            "own_used": self.own_used,
            "export_href": f"{self.target.explorer}export",
        }

    @property
    def is_long(self) -> bool:
        return is_long(self.target.stored)

    @property
    def _post(self) -> QueryDict:
        return self.request.POST

    def _selection(self) -> Selection:
        if self.chosen is not None:
            return Selection(frozenset(self.chosen.decline), frozenset(), self.chosen.strategy)
        asked = self._post.get("strategy", "")
        strategy: Strategy = next((each for each in get_args(Strategy) if each == asked), "pseudonym")
        start = small_number(self._post.get("from", "")) or 0
        return Selection(declined_in(self._post, self.spots), rules_off(self._post, self.spots), strategy, start)


# The scans for the mask page: at once or, on a long chain, as a job with its own progress page.


Lists = Sequence[WordList]


class Scanning(Exception):
    """Raised while a scan is not finished, with the page that shows its progress."""

    def __init__(self, answer: HttpResponse) -> None:
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Scan:
    """Return the findings of all known rules."""

    choices: Choices

    def spots(self) -> list[Spot]:
        """Raise Scanning."""
        target = self.choices.target
        if not self.choices.is_long:
            return list(scan(target.stored))
        job = self._job()
        act = self.choices.request.POST.get("act", "")
        if act == "scan":
            raise Scanning(see_other(self._at(start_scan(target.stored.snapshot, target.person))))
        if act == "stop" and job is not None:
            lease.cancel(job)
            raise Scanning(see_other(self._at(job)))
        if job is None or job.state != Job.State.DONE:
            self._show(job)
        if wants_fragment(self.choices.request) and self.choices.sent is None:
            raise Scanning(HttpResponse(status=204, headers={"HX-Redirect": self._at(job)}))
        return spots_of(job)

    def _job(self) -> Job | None:
        snapshot, person = self.choices.target.stored.snapshot, self.choices.target.person
        asked = small_number(self.choices.request.GET.get("job", ""))
        if not asked:
            return scan_under_way(snapshot, person) or latest_scan(snapshot, person)
        job = scan_of(asked, snapshot, person)
        if job is None:
            raise Http404
        return job

    def _show(self, job: Job | None) -> NoReturn:
        page = {**self.choices.head(), "job": job, "size": self.choices.target.stored.snapshot.size}
        page |= {"job_href": self._at(job) if job else "", "doing": "Scanning", "error": self.choices.error}
        name = "drafts/mask/_scan.html" if wants_fragment(self.choices.request) else "drafts/mask/scan.html"
        raise Scanning(render(self.choices.request, name, {"page": page}))

    def _at(self, job: Job) -> str:
        return f"{self.choices.address}&job={job.pk}"


@dataclass(frozen=True, slots=True)
class OwnScan:
    """Finds what the person's own words and patterns find in addition. Typed text is never stored, so the form waits
    with the page."""

    choices: Choices

    def spots(self, known: list[Spot], typed: WordList, saved: Lists) -> tuple[list[Spot], str, str]:
        """Return all findings, the typed and used rules as one text, and an error. Raises Scanning."""
        given = self.choices.request.POST
        wanted = packed([typed])
        if given.get("act") == "stop_own":
            stop_own_scan(self.choices.target.stored.snapshot, packed([typed, *saved]), self.choices.target.person)
            return known, "", ""
        try:
            return self._with(known, (typed, *saved)), wanted, ""
        except ChainError as refused:
            # earlier rules and findings stay, so that no tick is lost
            used = given.get("own_used", "")
            kept = _read(used) if used != wanted else ()
            return self._with(known, (*kept, *saved)), packed(kept), str(refused)

    def _with(self, known: list[Spot], lists: Lists) -> list[Spot]:
        own = rules_of(lists)
        return together([*known, *self._spots_of(own, packed(lists))]) if own else known

    def _spots_of(self, own: Sequence[Rule], lists: str) -> list[Spot]:
        chain, person = self.choices.target.stored, self.choices.target.person
        if not self.choices.is_long:
            return list(scan_own(chain, own))
        job = own_scan_of(chain.snapshot, lists, person)
        if job is None or job.state == Job.State.CANCELLED:
            job = start_own_scan(chain.snapshot, lists, person)
            job.refresh_from_db()
        if not job.is_finished:
            self._show(job)
        if job.state != Job.State.DONE:
            text = job.message
            # another request scans again
            job.delete()
            raise Refused(text)
        return spots_of(job, own)

    def _show(self, job: Job) -> NoReturn:
        lists = self.choices.request.POST.lists()
        kept = [(name, value) for name, values in lists if name not in ("act", "csrfmiddlewaretoken") for value in values]
        page = {**self.choices.head(), "job": job, "job_href": f"{self.choices.address}&own={job.pk}", "kept": kept}
        raise Scanning(render(self.choices.request, "drafts/mask/own_scan.html", {"page": page}))

    def show_progress(self) -> None:
        """Raise Scanning if the address names a scan."""
        number = small_number(self.choices.request.GET.get("own", ""))
        if not number or self.choices.sent is not None:
            return
        job = Job.objects.visible_to(self.choices.target.person).filter(pk=number, function=OWN).first()
        if job is None:
            raise Http404
        if not wants_fragment(self.choices.request):
            raise Scanning(see_other(self.choices.address))
        page = {"job": job, "job_href": f"{self.choices.address}&own={job.pk}"}
        raise Scanning(render(self.choices.request, "drafts/mask/_own_scan.html", {"page": page}))


def _read(text: str) -> Lists:
    """Read the lists from a hidden field of the page."""
    try:
        return unpacked(text)
    except ChainError:
        return ()
