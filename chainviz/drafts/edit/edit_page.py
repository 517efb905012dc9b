"""The edit form of a node. Each changed field is a step of the draft; either all of them are made or none."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.views import no_node
from chainviz.core.chain.build import FALLBACK_RESPONSE_CONTENT
from chainviz.core.chain.messages import ROLE_NAMES
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import ChainError, PathError, Refused
from chainviz.drafts import services
from chainviz.drafts.edit.acts import NEW_MESSAGE
from chainviz.drafts.edit.form import MOST_MESSAGES, ROLES, Card, CardPage, read_cards, typed_over
from chainviz.drafts.operations.choices import begun_draft, moved_on, read_only_page, to_draft
from chainviz.drafts.preview.steps import strip_answer
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import MovedOn, Target, target_of
from chainviz.store.content.chain import chain_to_edit
from chainviz.store.lineage import followed_node
from chainviz.web.formatting import byte_text
from chainviz.web.http import page_or_fragment, small_number, wants_fragment

INSERTED = ("place", "role", *NEW_MESSAGE)
"""Fields of the form for a new message."""


_DONE = {"delete": "deleted", "move_up": "moved up", "move_down": "moved down", "insert": "added"}
"""The past tense of the form's buttons, apart from those that change texts."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """The reason why a form is shown again."""

    text: str
    status: int = 422
    path: str = ""
    """The node of the error, if it is known."""


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, chain_id: int, path: str) -> HttpResponse:
    target = target_of(request, chain_id)
    refused = read_only_page(request, target, services.EDIT)
    if refused is not None:
        return refused
    if request.method == "POST":
        chain_to_edit(target.stored.snapshot)
    try:
        place, page = _node_page(request, target, parse_path(path))
    except PathError as error:
        return no_node(request, target.subject, str(error), path)
    if request.method == "POST":
        return _change(request, target, page)
    started = _started(request, target, page.section or place)
    if started is not None:
        return started
    return _render(request, target, page)


def _node_page(request: HttpRequest, target: Target, place: Path) -> tuple[Path, CardPage]:
    """Show the form of a node. An empty chain has only the form for a first message."""
    if not len(target.stored) and place == Path(1):
        return place, CardPage(place, (), 0, 0)
    section = place if place.pair is None else None
    if section is not None:
        place = Path(place.section, 0 if target.stored.outline.section(place.section).measure.headers else 1)
    first, first_part = (small_number(request.GET.get(name, "")) or 0 for name in ("from", "parts"))
    return place, replace(read_cards(target.stored, place, first, first_part), section=section)


def _started(request: HttpRequest, target: Target, path: Path) -> HttpResponse | None:
    """Redirect to the person's draft of this version if there is one, so that the edit continues there."""
    draft = begun_draft(target)
    if draft is None:
        return None
    there = followed_node(target.stored, steps_of(draft).snapshots, path)
    if there is None:
        return redirect("drafts:draft", target.chain.pk, draft.pk)
    return redirect(reverse("drafts:edit", args=[target.chain.pk, there]) + f"?draft={draft.pk}")


def _change(request: HttpRequest, target: Target, page: CardPage) -> HttpResponse:
    if request.POST.get("seen") != target.seen:
        return _render(request, target, page, Trouble(moved_on(target), status=409))
    try:
        draft, steps = services.edit(target, page, with_images(request))
    except services.StepRefused as refused:
        return _render(request, target, page, Trouble(str(refused), path=refused.path))
    except MovedOn as refused:
        return _render(request, target, page, Trouble(str(refused), status=409))
    except ChainError as refused:
        return _render(request, target, page, Trouble(str(refused)))
    if not wants_fragment(request):
        return to_draft(draft)
    there = followed_node(target.stored, steps, page.path)
    done = _DONE.get(request.POST.get("act", "").partition(":")[0], "changed")
    return strip_answer(request, draft, f"{_act_subject(page, request.POST)} {done}.", str(there or page.path))


def _act_subject(page: CardPage, form: QueryDict) -> str:
    """Return the node that the act changes, in words: that of the form, or the section or message that the button names."""
    act, _, path = form.get("act", "").partition(":")
    if act == "insert":
        return "A message was"
    if act not in _DONE:
        return page.path.number or str(page.path)
    return parse_path(path).number or path


def _render(request: HttpRequest, target: Target, page: CardPage, trouble: Trouble | None = None) -> HttpResponse:
    if trouble is not None:
        page = typed_over(page, request.POST, [(trouble.path, trouble.text)] if trouble.path else ())
    context = {"page": _context(request, target, page, trouble)}
    status = trouble.status if trouble else 200
    return page_or_fragment(request, "drafts/edit/edit.html", "drafts/edit/_form.html", context, status=status)


def _context(request: HttpRequest, target: Target, page: CardPage, trouble: Trouble | None) -> dict[str, object]:
    address = reverse("drafts:edit", args=[target.chain.pk, page.path])
    first_part = page.cards[0].parts_before if page.cards else 0
    window = (f"&from={page.before}" if page.before else "") + (f"&parts={first_part}" if first_part else "")
    names = list(_names(page.cards))
    return {
        "chain": target.chain,
        "path": page.path,
        "number": page.path.number,
        "draft": target.draft,
        "source_words": target.words,
        "back_href": f"{target.explorer}at/{page.path}#{page.path.node.dom_id}" if page.cards else target.explorer,
        "back_words": "Explore" if target.draft else f"Version {target.version.number}",
        "post_href": f"{address}{target.query}{window}",
        "query": target.query,
        "seen": target.seen,
        "keep_key": f"{target.chain.pk}:{page.path}:{page.before}:{first_part}",
        "shown": page,
        "is_signed": page.is_signed,
        "may_be_invalid": trouble is not None or any(card.has_calls for card in page.cards),
        "roles": [(role, ROLE_NAMES[role]) for role in ROLES],
        "role_values": ROLES,
        "usual_answer": FALLBACK_RESPONSE_CONTENT,
        "error": trouble.text if trouble else "",
        "error_hint": "Nothing was changed; what you typed is below.",
        "earlier_href": f"{address}{target.query}&from={max(0, page.before - MOST_MESSAGES)}",
        "later_href": f"{address}{target.query}&from={page.before + len(page.cards)}",
        "places": [
            *((f"after:{path}", f"after {name}") for path, name in names[::-1]),
            *((f"before:{path}", f"before {name}") for path, name in names),
            ("end:", "at the end of the chain"),
        ],
        **_form_values(request.POST, page),
    }


def _names(cards: Sequence[Card]) -> Iterator[tuple[Path, str]]:
    """Yield the path of each message with its name, such as `the AI message`, or `tool message 2` of several."""
    roles = [ROLE_NAMES.get(card.role, card.role) for card in cards]
    for place, (card, role) in enumerate(zip(cards, roles, strict=True), 1):
        noun = role if role == "AI" else role.lower()
        yield card.path, f"{noun} message {roles[:place].count(role)}" if roles.count(role) > 1 else f"the {noun} message"


def _form_values(form: QueryDict, page: CardPage) -> dict[str, object]:
    """Return the values outside the nodes, for the form that is shown again."""
    return {
        "insert": {"role": "human", **{name: form[f"insert-{name}"] for name in INSERTED if f"insert-{name}" in form}},
        "insert_is_open": any(form.get(f"insert-{name}") for name in NEW_MESSAGE) or not page.cards,
        **{name: name in form for name in ("drop_reasoning", "allow_invalid", "keep_results")},
    }


# Image files in the form of a node. Each becomes a data: URL.


MOST_BYTES = 5_000_000
FILE, URL = "-file", "-url"


def with_images(request: HttpRequest) -> QueryDict:
    """Return the fields of the form, with files as data: URLs. Raises Refused for a file that is too large or not an image."""
    form = request.POST.copy()
    for name, file in request.FILES.items():
        if not isinstance(file, UploadedFile) or not name.endswith(FILE) or not file.size:
            continue
        kind = file.content_type or ""
        if not kind.startswith("image/"):
            raise Refused(f"{file.name} is not an image.")
        if file.size > MOST_BYTES:
            raise Refused(f"{file.name} is {byte_text(file.size)}; an image in a chain can have up to {byte_text(MOST_BYTES)}.")
        form[name.removesuffix(FILE) + URL] = f"data:{kind};base64,{b64encode(file.read()).decode()}"
    return form
