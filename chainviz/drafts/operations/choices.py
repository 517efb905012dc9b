"""What a person chooses on the page of an operation. By default a form made from its options; what is particular of an
operation lies in a subclass, in the folder of its name."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Operation, Options
from chainviz.drafts.operations.first_page import job_of
from chainviz.drafts.operations.job import is_long, start
from chainviz.drafts.operations.responses import to_draft
from chainviz.drafts.operations.run import change
from chainviz.drafts.target import Target
from chainviz.jobs.models import Job
from chainviz.web.forms import OptionsForm, options_form
from chainviz.web.htmx import page_or_fragment, wants_fragment
from chainviz.web.responses import see_other
from chainviz.web.working_page import working_page


class Choices:
    template = "drafts/operations/operation.html"

    def __init__(self, request: HttpRequest, target: Target, operation: Operation[Any]) -> None:
        self.request = request
        self.target = target
        self.operation = operation
        self.error = ""
        self.note = ""

    def read(self) -> None:
        """Reads the request."""
        self.form: OptionsForm[Any] = options_form(self.operation.Options)(self.sent)

    def answer(self) -> HttpResponse | None:
        """Answers what only this page asks for, such as a scan; None where the request is for the page or for a step."""
        return None

    @property
    def first_options(self) -> Options | None:
        """The options with which the page of a long chain is read by a job first; None where it needs no job."""
        return None

    def take_first(self, found: Any) -> None:
        """Takes what that job found."""

    def waiting(self) -> HttpResponse | None:
        """Answers a look at a long chain while a job reads what the page shows."""
        is_look = self.sent is None and self.is_long and not wants_fragment(self.request)
        options = self.first_options if is_look else None
        if options is None:
            return None
        job = job_of(self.target, self.operation, options)
        if not job.is_finished:
            chain = self.target.chain
            crumbs = ((chain.title, reverse("chains:chain", args=[chain.pk])),)
            return working_page(self.request, f"Reading {len(self.target.stored):,} messages", job, crumbs)
        if job.state == Job.State.DONE:
            self.take_first(job.result)
        return None

    def options(self) -> Options:
        """Returns what was chosen. Raises Refused where that cannot be."""
        if not self.form.is_valid():
            raise Refused("Correct the marked fields.")
        options: Options = self.form.options
        return options

    def reopen(self, options: Options) -> None:
        """Shows these options, which were chosen before."""
        self.form = options_form(self.operation.Options)()
        self.form.begin_with(options)

    def take(self, options: Options) -> HttpResponse:
        """Runs the operation: at once, or as a job on a long chain."""
        if self.is_long:
            job = start(self.target, self.operation, options)
            return see_other(f"{self.address}&step={job.pk}")
        return to_draft(change(self.target, self.operation, options))

    def context(self) -> dict[str, Any]:
        """Returns what the template needs beside `head`."""
        return {"form": self.form}

    @property
    def is_long(self) -> bool:
        """Whether the operation runs as a job."""
        return is_long(self.target.stored)

    @property
    def sent(self) -> Any:
        """The form as it was sent, else None."""
        return self.request.POST if self.request.method == "POST" else None

    @property
    def asks_for_step(self) -> bool:
        return self.request.method == "POST"

    @property
    def fragment(self) -> str:
        """The template of the part of the page that htmx asks for."""
        return self.template

    @property
    def address(self) -> str:
        home = reverse("drafts:operation", args=[self.target.chain.pk, self.operation.name]) + self.target.query
        return home if self.target.position is None else f"{home}&at={self.target.position}"

    def head(self) -> dict[str, Any]:
        href, words = self.target.back
        return {
            "chain": self.target.chain,
            "operation": self.operation,
            "draft": self.target.draft,
            "source_words": self.target.words,
            "seen": self.target.seen,
            "back_href": href,
            "back_words": words,
            "post_href": self.address,
            "keep_key": f"{self.target.chain.pk}:{self.operation.name}",
        }

    def page(self) -> HttpResponse:
        of_form = self.context()
        page = {**self.head(), "error": self.error, "note": self.note, **of_form}
        status = 422 if self.error and (self.sent is not None or wants_fragment(self.request)) else 200
        context = {"page": page, "form": of_form.get("form")}
        return page_or_fragment(self.request, self.template, self.fragment, context, status=status)
