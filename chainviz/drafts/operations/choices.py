"""The choices of a person on the page of an operation, by default a form made from its options, and the answers of its views."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from chainviz.core.errors import Refused
from chainviz.core.formats import read_only
from chainviz.core.operations import operation_named
from chainviz.core.operations.contract import Operation, Options
from chainviz.core.operations.redact import RedactOptions
from chainviz.core.operations.summarize import SummarizeOptions
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.redact import first_page as redact
from chainviz.drafts.operations.run import change, is_long, start
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.summaries import plan_outline
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.web.forms import OptionsForm, options_form
from chainviz.web.http import page_or_fragment, see_other, wants_fragment, working_page


def to_draft(draft: Draft) -> HttpResponse:
    """Redirect to the page of the draft, which shows its steps with their warnings."""
    return see_other("drafts:draft", draft.chain_id, draft.pk)


def moved_on(target: Target) -> str:
    """Return the sentence that refuses a form that was made for other content."""
    what = "The draft" if target.draft else "The chain"
    return f"{what} changed after this form was opened, perhaps in another window. Check your choices against it."


def begun_draft(target: Target) -> Draft | None:
    """Return the person's draft of this version, to which further changes are added; None if there is none."""
    if target.draft is not None:
        return None
    draft = services.open_draft(target.chain, target.person, target.version.number)
    return draft if draft is not None and steps_of(draft).all else None


def read_only_page(request: HttpRequest, target: Target, operation: Operation[Any]) -> HttpResponse | None:
    """Return the page that explains why a chain in a read-only format cannot be changed, with a link to convert it; None if it can be
    changed. A conversion is always possible."""
    sentence = read_only(target.stored.format)
    if not sentence or operation.name == "convert":
        return None
    context = {
        "chain": target.chain,
        "operation": operation,
        "sentence": sentence,
        "convert_href": reverse("drafts:operation", args=[target.chain.pk, "convert"]) + target.query,
        "back_href": target.explorer,
    }
    return render(request, "drafts/operations/read_only.html", context, status=409 if request.method == "POST" else 200)


class Choices:
    template = "drafts/operations/operation.html"

    def __init__(self, request: HttpRequest, target: Target, operation: Operation[Any]) -> None:
        self.request = request
        self.target = target
        self.operation = operation
        self.error = ""
        self.note = ""

    def read(self) -> None:
        """Read the choices from the request."""
        self.form: OptionsForm[Any] = options_form(self.operation.Options)(self.sent)

    def answer(self) -> HttpResponse | None:
        """Answer requests that only this page makes, such as a scan; None for those of the page or of a step."""
        return None

    @property
    def first_options(self) -> Options | None:
        """Return the options with which a job reads a long chain before the page is shown; None if no job is needed."""
        return None

    def take_first(self, found: Any) -> None:
        """Take the result of that job."""

    def waiting(self) -> HttpResponse | None:
        """Answer a request while a job still reads the long chain for the page."""
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
        """Return the chosen options. Raises Refused if they are invalid."""
        if not self.form.is_valid():
            raise Refused("Correct the marked fields.")
        options: Options = self.form.options
        return options

    def reopen(self, options: Options) -> None:
        """Show options that were chosen before."""
        self.form = options_form(self.operation.Options)()
        self.form.begin_with(options)

    def take(self, options: Options) -> HttpResponse:
        """Run the operation: immediately, or as a job on a long chain."""
        if self.is_long:
            job = start(self.target, self.operation, options)
            return see_other(f"{self.address}&step={job.pk}")
        return to_draft(change(self.target, self.operation, options))

    def context(self) -> dict[str, Any]:
        """Return the values that the template needs in addition to `head`."""
        return {"form": self.form}

    @property
    def is_long(self) -> bool:
        """Whether the operation runs as a job."""
        return is_long(self.target.stored)

    @property
    def sent(self) -> Any:
        """The submitted form, or None for another request."""
        return self.request.POST if self.request.method == "POST" else None

    @property
    def asks_for_step(self) -> bool:
        return self.request.method == "POST"

    @property
    def fragment(self) -> str:
        """The template of the fragment for htmx."""
        return self.template

    @property
    def address(self) -> str:
        home = reverse("drafts:operation", args=[self.target.chain.pk, self.operation.name]) + self.target.query
        return home if self.target.position is None else f"{home}&at={self.target.position}"

    @property
    def address_fields(self) -> list[tuple[str, str]]:
        """The query of its address as fields of a form, since a form that is sent with GET replaces the query."""
        return parse_qsl(urlsplit(self.address).query)

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
            "address_fields": self.address_fields,
            "keep_key": f"{self.target.chain.pk}:{self.operation.name}",
        }

    def page(self) -> HttpResponse:
        of_form = self.context()
        page = {**self.head(), "error": self.error, "note": self.note, **of_form}
        status = 422 if self.error and (self.sent is not None or wants_fragment(self.request)) else 200
        context = {"page": page, "form": of_form.get("form")}
        return page_or_fragment(self.request, self.template, self.fragment, context, status=status)


# The first view of an operation's page on a long chain is computed by a job, once for each content and options. Later requests use its
# result.


READING = "read-first-page"


def job_of(target: Target, operation: Operation[Options], options: Options) -> Job:
    """Return the latest job for this content and these options; start one if there is none."""
    args = {**target.job_args, "operation": operation.name, "options": options.model_dump(mode="json")}
    jobs = Job.objects.visible_to(target.person).filter(function=READING, args=args)
    return jobs.order_by("-pk").first() or start_job(READING, owner=target.person, **args)


# The job that computes the first view of an operation's page. Its result is JSON, which the page's choices read.


def read(context: JobContext, *, operation: str, options: dict[str, Any], **args: Any) -> Any:
    found = operation_named(operation)
    assert found is not None
    chosen = found.Options.model_validate(options)
    target = target_of_job(context.job)
    if isinstance(chosen, RedactOptions):
        return redact.FIRST.dump_python(redact.first_page(target, chosen), mode="json")
    assert isinstance(chosen, SummarizeOptions)
    page = plan_outline.first_page(target.stored, chosen, target.explorer)
    return plan_outline.PLAN_PAGE.dump_python(page, mode="json")
