"""The redact page: a policy and a selection, the decision of every row at once, and from there a step of a draft."""

from __future__ import annotations

from time import perf_counter

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.core.chain.paths import Path
from chainviz.core.errors import ChainError
from chainviz.core.operations.redact import POLICIES, RedactOptions, decide, read_switch
from chainviz.drafts.operations.redact import form as redact_form
from chainviz.drafts.operations.redact.form import (
    NOTHING,
    Asked,
    RedactForm,
    Tool,
    ToolList,
    asked_by,
    asked_in,
    form_of,
    tool_list,
    tools_of,
)
from chainviz.drafts.operations.redact.job import redacting_of, start_redacting
from chainviz.drafts.operations.redact.rows import SHOWN, Filter, table_of
from chainviz.drafts.operations.redact.same_calls import same_calls_of
from chainviz.drafts.operations.redact.step import redact as redact_in_draft
from chainviz.drafts.operations.responses import begun_draft, moved_on, see_other, to_draft
from chainviz.drafts.operations.step_job import is_long
from chainviz.drafts.operations.waiting import STOPPED, at_step, ended_in_vain, step_of, waiting
from chainviz.drafts.target import Ground, ground_of
from chainviz.jobs.models import Job
from chainviz.store.lineage import redacted_places
from chainviz.web.htmx import page_or_fragment, wants_fragment
from chainviz.web.query_params import small_number

MOST_SUGGESTED = 300
MOST_NAME = 200


@require_http_methods(["GET", "HEAD", "POST"])
def redact(request: HttpRequest, chain_id: int) -> HttpResponse:
    ground = ground_of(request, chain_id)
    job = step_of(request, ground, redacting_of, is_long=is_long(ground.stored))
    if job is not None:
        return _of_job(request, ground, job)
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(f"{reverse('drafts:redact', args=[chain_id])}?draft={begun.pk}")
    return _choice(request, ground)


def _choice(request: HttpRequest, ground: Ground) -> HttpResponse:
    tools = tools_of(ground.stored)
    asked = asked_in(request.POST, tools) if request.method == "POST" else NOTHING
    fixed = asked.fixed(tools, read_switch(settings.STREAM_REDACTION_ENABLED).on)
    if request.method != "POST":
        return _page(request, ground, tools, asked, RedactForm(fixed=fixed), RedactOptions.model_validate(fixed))
    form = RedactForm(request.POST, fixed=fixed)
    if not form.is_valid():
        return _page(request, ground, tools, asked, form, None)
    options: RedactOptions = form.options
    if options.context_management.strip():
        options = options.model_copy(update={"context_management": ""})
        asked = asked_by(options, tools)
        note = "Anthropic’s settings were read; the table shows what they do."
        return _page(request, ground, tools, asked, form_of(options), options, note=note)
    if request.POST.get("act") == "write":
        return _settings_file(options) or _page(request, ground, tools, asked, form, options)
    if request.POST.get("act") != "apply":
        return _page(request, ground, tools, asked, form, options)
    if request.POST.get("seen") != ground.seen:
        return _page(request, ground, tools, asked, form, options, moved_on(ground))
    try:
        return _apply(request, ground, options)
    except ChainError as refused:
        return _page(request, ground, tools, asked, form, options, str(refused))


def _apply(request: HttpRequest, ground: Ground, options: RedactOptions) -> HttpResponse:
    if is_long(ground.stored):
        return see_other(at_step(_address(ground), start_redacting(ground, request.user, options)))
    return to_draft(request, *redact_in_draft(ground, request.user, options))


def _of_job(request: HttpRequest, ground: Ground, job: Job) -> HttpResponse:
    """The form as it was sent, where nothing came of it."""
    if not ended_in_vain(job) or request.method == "POST" or wants_fragment(request):
        head = {**_head(ground), "name": "Redact", "heading": "Redact", "doing": "Redacting the chain"}
        return waiting(request, job, _address(ground), head)
    tools = tools_of(ground.stored)
    options = RedactOptions.model_validate(job.args["options"])
    note = STOPPED if job.state == Job.State.CANCELLED else ""
    error = "" if note else job.message
    return _page(request, ground, tools, asked_by(options, tools), form_of(options), options, error, note)


def _settings_file(options: RedactOptions) -> HttpResponse | None:
    text, _ = redact_form.settings_json(options)
    headers = {"Content-Disposition": 'attachment; filename="context_management.json"'}
    return HttpResponse(text, content_type="application/json", headers=headers) if text else None


def _page(
    request: HttpRequest,
    ground: Ground,
    tools: tuple[Tool, ...],
    asked: Asked,
    form: RedactForm,
    options: RedactOptions | None,
    error: str = "",
    note: str = "",
) -> HttpResponse:
    switch = read_switch(settings.STREAM_REDACTION_ENABLED)
    chosen = _filter(request, options)
    page = {
        **_head(ground),
        "seen": ground.seen,
        "error": error or ("" if options else "These settings cannot be used; the table waits for better ones."),
        "note": note,
        "post_href": _address(ground),
        "switch": switch.warning,
        "is_off": not switch.on,
        "tools": _tools(request, tools, asked),
        "uncalled": redact_form.SEPARATOR.join(asked.uncalled),
        "uncalled_names": ", ".join(asked.uncalled),
        "tool_names": sorted({name for tool in tools for name in tool.names})[:MOST_SUGGESTED],
        "shown": list(SHOWN.items()),
        "policies": [(policy.name, policy.label) for policy in POLICIES],
        "filter": chosen,
        "table": _table(ground, options, asked, chosen) if options else None,
        "by_hand_keep": _list(asked, "keep"),
        "by_hand_redact": _list(asked, "redact"),
        "json": redact_form.settings_json(options) if options else ("", ""),
    }
    status = 422 if request.method == "POST" and (error or options is None) else 200
    fragment = "tools" if request.htmx.target == "tools" else "decisions"  # type: ignore[attr-defined]
    names = ("drafts/redact/redact.html", f"drafts/redact/_{fragment}.html")
    return page_or_fragment(request, *names, {"page": page, "form": form}, status=status)


def _head(ground: Ground) -> dict[str, object]:
    href, words = ground.back
    return {"chain": ground.chain, "source_words": ground.words, "back_href": href, "back_words": words}


def _address(ground: Ground) -> str:
    return reverse("drafts:redact", args=[ground.chain.pk]) + ground.query


def _tools(request: HttpRequest, tools: tuple[Tool, ...], asked: Asked) -> ToolList:
    start = small_number(request.POST.get("tools_from") or request.POST.get("tools_at", "")) or 0
    return tool_list(tools, asked, request.POST.get("tool_like", ""), start)


def _table(ground: Ground, options: RedactOptions, asked: Asked, chosen: Filter) -> object:
    def at(path: Path) -> str:
        return f"{ground.explorer}at/{path}#{path.node.dom_id}"

    begun = perf_counter()
    decided = decide(ground.stored, options, redacted_places(ground.stored), same_calls_of)
    return table_of(decided, options, asked.overrides, chosen, at, perf_counter() - begun)


def _filter(request: HttpRequest, options: RedactOptions | None) -> Filter:
    given = request.POST
    show = given.get("show", "all")
    against = given.get("against", "")
    policy = options.policy if options else ""
    if against == policy or all(against != each.name for each in POLICIES):
        against = "reference" if policy != "reference" else "seed"
    tool = given.get("only_tool", "").strip()[:MOST_NAME]
    return Filter(show if show in SHOWN else "all", tool, small_number(given.get("from", "")) or 0, against)


def _list(asked: Asked, decision: str) -> str:
    return ",".join(path for path, said in asked.overrides.items() if said == decision)
