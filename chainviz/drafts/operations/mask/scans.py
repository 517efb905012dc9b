"""The scans behind the mask page: at once, or as a job on a long chain, whose progress is a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from django.http import Http404, HttpResponse
from django.shortcuts import render

from chainviz.chains.secrets.findings import Spot, scan, scan_own, together
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
from chainviz.core.secrets import Rule, WordList
from chainviz.core.secrets.word_lists import packed, rules_of, unpacked
from chainviz.drafts.operations.choices import Choices
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other

Lists = Sequence[WordList]


class Scanning(Exception):
    """A scan is not finished: its page is shown instead."""

    def __init__(self, answer: HttpResponse) -> None:
        self.answer = answer


@dataclass(frozen=True, slots=True)
class Scan:
    """For everything that the known rules find."""

    choices: Choices

    def spots(self) -> list[Spot]:
        """Raises Scanning."""
        target = self.choices.target
        if not self.choices.is_long:
            return list(scan(target.stored))
        job = self._job()
        act = self.choices.request.POST.get("act", "")
        if act == "scan":
            raise Scanning(see_other(self._at(start_scan(target.stored.snapshot, target.person))))
        if act == "stop" and job is not None:
            lease.cancel(job)
            raise Scanning(see_other(self.choices.address))
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
    """For what the person's own words and patterns find beside that. What is typed is never stored, so the form waits with the
    page."""

    choices: Choices

    def spots(self, known: list[Spot], typed: WordList, saved: Lists) -> tuple[list[Spot], str, str]:
        """Returns all findings, what was typed and used as one text, and why else it could not be. Raises Scanning."""
        given = self.choices.request.POST
        wanted = packed([typed])
        if given.get("act") == "stop_own":
            stop_own_scan(self.choices.target.stored.snapshot, packed([typed, *saved]), self.choices.target.person)
            return known, "", ""
        try:
            return self._with(known, (typed, *saved)), wanted, ""
        except ChainError as refused:
            # what was used before and found stays, so that no tick is forgotten
            used = given.get("own_used", "")
            kept = _read(used) if used != wanted else ()
            return self._with(known, (*kept, *saved)), packed(kept), str(refused)

    def _with(self, known: list[Spot], lists: Lists) -> list[Spot]:
        own = rules_of(lists)
        return together([*known, *self._found(own, packed(lists))]) if own else known

    def _found(self, own: Sequence[Rule], lists: str) -> list[Spot]:
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
            # asking again scans again
            job.delete()
            raise Refused(text)
        return spots_of(job, own)

    def _show(self, job: Job) -> NoReturn:
        lists = self.choices.request.POST.lists()
        kept = [
            (name, value) for name, values in lists if name not in ("act", "csrfmiddlewaretoken") for value in values
        ]
        page = {**self.choices.head(), "job": job, "job_href": f"{self.choices.address}&own={job.pk}", "kept": kept}
        raise Scanning(render(self.choices.request, "drafts/mask/own_scan.html", {"page": page}))

    def show_progress(self) -> None:
        """Raises Scanning where the address names a scan."""
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
    """A hidden field of the page."""
    try:
        return unpacked(text)
    except ChainError:
        return ()
