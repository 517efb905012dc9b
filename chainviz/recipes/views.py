"""Pages of recipes and word lists: everybody of the team reads them, editors change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from chainviz.accounts.audit import recorded_together
from chainviz.accounts.models import member_of
from chainviz.accounts.permissions import requires
from chainviz.core import recipes as core
from chainviz.core.errors import ChainError, OptionsError, Refused
from chainviz.core.recipes import LARGEST, PURGE, PURGE_LABEL
from chainviz.core.secrets.word_lists import WordList as ListValue
from chainviz.recipes import services
from chainviz.recipes.models import Recipe, WordList
from chainviz.recipes.step_form import FIRST, context_of, step_form
from chainviz.web.http import see_other, small_number


@requires("read", to_post="save")
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def home(request: HttpRequest) -> HttpResponse:
    """Show all recipes and word lists. The forms create a recipe or read one from a file."""
    if request.method != "POST":
        return _home(request)
    member, given = member_of(request), request.POST
    try:
        with transaction.atomic():
            if given.get("act") == "import":
                row = services.import_recipe(core.read_recipe(_sent(request)), by=member)
            else:
                step = core.new_step(given.get("operation", ""))
                row = services.create(given.get("name", ""), (step,), by=member)
    except ChainError as refused:
        return _home(request, str(refused))
    if given.get("act") == "import":
        messages.success(request, f"“{row.name}” was imported.")
        return see_other("recipes:recipe", row.pk)
    return see_other("recipes:step", row.pk, 1)


def _sent(request: HttpRequest) -> str | bytes:
    file = request.FILES.get("file")
    if file is None:
        return request.POST.get("text", "")
    if (file.size or 0) > LARGEST:
        raise OptionsError("The recipe is larger than 2 MB.")
    return bytes(file.read())


def _home(request: HttpRequest, error: str = "") -> HttpResponse:
    member = member_of(request)
    recipes = Recipe.objects.visible_to(member).select_related("changed_by")
    lists = WordList.objects.visible_to(member).select_related("changed_by")
    context = {
        "recipes": [(row, services.without_lists(row).labels) for row in recipes],
        "lists": [(row, _lines(row.words), _lines(row.patterns)) for row in lists],
        "operations": core.ALLOWED,
        "error": error,
        "typed": request.POST if error else {},
    }
    return render(request, "recipes/home.html", context, status=422 if error else 200)


def _lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


@requires("read", to_post="save")
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def recipe(request: HttpRequest, recipe_id: int) -> HttpResponse:
    """Show the steps of a recipe, with forms that rename it and change their order."""
    row = get_object_or_404(Recipe.objects.visible_to(member_of(request)), pk=recipe_id)
    if request.method != "POST":
        return _recipe(request, row)
    act, _, rest = request.POST.get("act", "").partition(":")
    try:
        if act == "delete":
            services.delete(row)
            messages.success(request, f"“{row.name}” was deleted.")
            return see_other("recipes:home")
        return _changed(request, row, act, rest)
    except ChainError as refused:
        row.refresh_from_db()
        return _recipe(request, row, str(refused), 409 if isinstance(refused, services.MovedOn) else 422)


def _changed(request: HttpRequest, row: Recipe, act: str, rest: str) -> HttpResponse:
    steps, at = list(services.steps_of(row)), (small_number(rest) or 0) - 1
    name = request.POST.get("name", row.name) if act == "rename" else row.name
    purges, is_new, focus = row.purges, False, ""
    if act == "add" and request.POST.get("operation") == PURGE:
        purges = True
    elif act == "add":
        steps.append(core.new_step(request.POST.get("operation", "")))
        is_new = True
    elif act == "remove" and rest == PURGE:
        purges = False
    elif act in ("up", "down", "remove"):
        other = at + {"up": -1, "down": 1, "remove": 0}[act]
        if not (0 <= at < len(steps) and 0 <= other < len(steps)):
            raise Refused("This step no longer exists.")
        if act == "remove":
            del steps[at]
        else:
            steps[at], steps[other] = steps[other], steps[at]
            focus = f"#{act}-{other + 1}"  # the same button of the step, so that it can be pressed again
    elif act != "rename":
        raise Refused("Press one of the buttons.")
    to = core.Recipe(name, tuple(steps), purges=purges)
    services.change(row, to, by=member_of(request), seen=_seen(request))
    if is_new:
        return see_other("recipes:step", row.pk, len(steps))
    return see_other(reverse("recipes:recipe", args=[row.pk]) + focus)


def _seen(request: HttpRequest) -> int:
    return small_number(request.POST.get("seen", "")) or 0


def _recipe(request: HttpRequest, row: Recipe, error: str = "", status: int = 200) -> HttpResponse:
    shown = services.without_lists(row)
    steps = [(step, list(step.words())) for step in shown.steps]
    typed = request.POST.get("name", row.name) if error else row.name
    context = {"recipe": row, "steps": steps, "operations": core.ALLOWED, "error": error, "name": typed}
    lists = WordList.objects.filter(team=row.team_id)
    context["emptied_lists"] = [each.name for each in lists if each.is_emptied]
    context["purged_lists"] = [each.name for each in lists if each.purged_lines]
    context["may_purge"] = shown.masks and not shown.purges
    context["purge"] = {"name": PURGE, "label": PURGE_LABEL}
    return render(request, "recipes/recipe.html", context, status=status)


@requires("save")
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def step(request: HttpRequest, recipe_id: int, position: int) -> HttpResponse:
    """Show the options of one step."""
    row = get_object_or_404(Recipe.objects.visible_to(member_of(request)), pk=recipe_id)
    steps = list(services.steps_of(row))
    if not 1 <= position <= len(steps):
        return see_other("recipes:recipe", row.pk)
    old = steps[position - 1]
    sent = request.POST if request.method == "POST" else None
    form = step_form(old.operation.Options, member_of(request), sent, old.options)
    page = StepPage(position, old, form)
    if sent is None:
        return _step(request, row, page)
    if not form.is_valid():
        return _step(request, row, page, status=422)
    made = core.make_step(old.operation.name, form.options.model_dump(exclude_defaults=True))
    steps[position - 1] = made
    try:
        to = core.Recipe(row.name, tuple(steps), purges=row.purges)
        services.change(row, to, by=member_of(request), seen=_seen(request))
    except services.MovedOn as moved:
        row.refresh_from_db()
        return _step(request, row, page, str(moved), 409)
    except ChainError as refused:
        return _step(request, row, page, str(refused), 422)
    return see_other("recipes:recipe", row.pk)


@dataclass(frozen=True, slots=True)
class StepPage:
    position: int
    step: core.Step
    form: Any


def _step(request: HttpRequest, row: Recipe, page: StepPage, error: str = "", status: int = 200) -> HttpResponse:
    operation = page.step.operation
    context = {"recipe": row, "position": page.position, "operation": operation, "error": error}
    fields = context_of(page.form, FIRST.get(operation.name, ()))
    return render(request, "recipes/step.html", {**context, **fields}, status=status)


@requires("read")
@require_safe
def download(request: HttpRequest, recipe_id: int) -> HttpResponse:
    """Download the recipe in the form that the command line and Python read, with its word lists."""
    row = get_object_or_404(Recipe.objects.visible_to(member_of(request)), pk=recipe_id)
    try:
        content = core.write_recipe(services.value_of(row))
    except ChainError as refused:
        return _recipe(request, row, str(refused), 422)
    headers = {"Content-Disposition": content_disposition_header(True, f"{row.name}.json") or "attachment"}
    return HttpResponse(content, content_type="application/json", headers=headers)


@requires("read", to_post="save")
@require_http_methods(["GET", "HEAD", "POST"])
@recorded_together
def word_list(request: HttpRequest, list_id: int | None = None) -> HttpResponse:
    """Show one word list or, without a number, the form of a new one."""
    member = member_of(request)
    lists = WordList.objects.visible_to(member)
    row = WordList(team=member.team) if list_id is None else get_object_or_404(lists, pk=list_id)
    if request.method != "POST":
        return _word_list(request, row, row.value)
    typed = ListValue(*(request.POST.get(name, "") for name in ("name", "words", "patterns")))
    try:
        if request.POST.get("act") == "delete" and row.pk is not None:
            services.delete(row)
            messages.success(request, f"“{row.name}” was deleted.")
            return see_other("recipes:home")
        services.save_list(row, typed, by=member, seen=_seen(request) if row.pk is not None else 0)
    except ChainError as refused:
        status = 409 if isinstance(refused, services.MovedOn) else 422
        stored = lists.filter(pk=list_id or 0).first() or WordList(team=member.team)
        return _word_list(request, stored, typed, str(refused), status)
    messages.success(request, f"“{row.name}” was saved.")
    return see_other("recipes:home")


def _word_list(request: HttpRequest, row: WordList, typed: ListValue, error: str = "", status: int = 200) -> HttpResponse:
    here = reverse("recipes:word_list", args=[row.pk]) if row.pk else reverse("recipes:new_list")
    context = {"list": row, "typed": typed, "error": error, "is_conflict": status == 409, "here": here}
    return render(request, "recipes/word_list.html", context, status=status)
