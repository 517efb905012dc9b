"""The command palette, which finds places in a chain, actions, pages and other chains by a few letters.

Its options are links, so that a browser without JavaScript shows the same list as a page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from chainviz.accounts.models import Membership, member_of
from chainviz.accounts.permissions import Permission, requires
from chainviz.chains.explorer.actions import GROUPS, Action, Situation, actions_of
from chainviz.chains.explorer.place_views import NoSuchPlace, find_place
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views import version_subject
from chainviz.chains.models import Chain
from chainviz.chains.render.visible_text import marks
from chainviz.core.counts import count_text
from chainviz.store.query.find import find as find_in
from chainviz.web.http import small_number, typed_words, url_or_nothing, wants_fragment

LONGEST = 200
MOST = 8
"""The most options of a group, except the actions of a chain."""
MOST_HITS = 5
SHORTEST_FIND = 3
"""The fewest characters for which the texts of a chain are searched."""
SCOPES = {">": ("actions", "pages"), "#": ("places",), "@": ("chains",)}
"""The groups to search if the words begin with this character."""
PAGES: tuple[tuple[str, str, str, Permission], ...] = (
    ("Overview", "chains:overview", "chart", "files"),
    ("All chains", "chains:library", "section", "read"),
    ("Folders", "chains:folders", "folder", "files"),
    ("Parse a reply", "chains:parse", "paste", "read"),
    ("Secrets", "chains:secrets", "shield", "read"),
    ("Bulk reports", "bulk:runs", "clock", "read"),
    ("Recipes", "recipes:home", "recipe", "read"),
    ("Share links", "chains:shares", "share", "share"),
    ("Bin", "chains:bin", "trash", "bin"),
    ("Help", "help:index", "help", "read"),
)


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    icon: str
    url: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    label: str
    options: tuple[Option, ...]


@requires("read")
@require_safe
def palette(request: HttpRequest) -> HttpResponse:
    """Show the palette. `chain` is the chain whose newest version the actions are for."""
    chain_id = small_number(request.GET.get("chain", ""))
    return _answer(request, version_subject(request, chain_id) if chain_id is not None else None)


@requires("read")
@require_safe
def chain_palette(request: HttpRequest, subject: Subject) -> HttpResponse:
    return _answer(request, subject)


def _answer(request: HttpRequest, subject: Subject | None) -> HttpResponse:
    words = typed_words(request.GET.get("q", ""), LONGEST)
    scope = SCOPES.get(words[:1])
    text = words[1:].strip() if scope else words
    groups = [
        Group(name, label, options)
        for name, label, options in _groups(member_of(request), subject, text)
        if options and (scope is None or name in scope)
    ]
    count = count_text(sum(len(group.options) for group in groups), "result")
    context = {"groups": groups, "words": words, "count": count, "chain": subject and subject.chain}
    response = render(request, "chains/palette/_groups.html" if wants_fragment(request) else "chains/palette/palette.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _groups(member: Membership, subject: Subject | None, text: str) -> Iterator[tuple[str, str, tuple[Option, ...]]]:
    if subject is not None:
        yield "places", "In this chain", tuple(_places(subject, text))
        yield "actions", "With this chain", tuple(_actions(subject, text))
    may = member.permissions if settings.CHAINVIZ.mode == "team" else member.permissions - {"share"}
    pages = (Option(label, icon, url_or_nothing(name)) for label, name, icon, needed in PAGES if needed in may)
    yield "pages", "Pages", tuple(page for page in pages if page.url and _fits(text, page.label))
    yield "chains", "Chains", tuple(_chains(member, subject, text))


def _fits(text: str, *where: str) -> bool:
    """Return True if each word is the beginning of a word in the label or its explanation."""
    known = " ".join(where).lower().split()
    return all(any(each.startswith(word) for each in known) for word in text.lower().split())


def _actions(subject: Subject, text: str) -> Iterator[Option]:
    for action in actions_of(Situation(subject)):
        if _fits(text, action.label, action.hint, GROUPS[action.group]):
            yield _option_of(action)


def _option_of(action: Action) -> Option:
    return Option(action.label, action.icon, action.url, action.hint)


def _places(subject: Subject, text: str) -> Iterator[Option]:
    """Yield the node that the words name, then some whose texts contain them."""
    if not text:
        return
    try:
        spot = find_place(subject.stored, text)
        yield Option(f"Go to {spot.words}", "goto", f"{subject.base_url}at/{spot.path}#{spot.path.dom_id}", spot.path.number)
    except NoSuchPlace:
        pass
    if len(text) < SHORTEST_FIND:
        return
    for hit in find_in(subject.stored, text).hits[:MOST_HITS]:
        words = " ".join(f"{hit.before[-30:]}{hit.match}{hit.after}".split())[:120]
        yield Option(marks(words), "search", f"{subject.base_url}at/{hit.path}#{hit.path.dom_id}", hit.path.number)


def _chains(member: Membership, subject: Subject | None, text: str) -> Iterator[Option]:
    chains = Chain.objects.visible_to(member).in_library().order_by("-changed_at")
    if subject is not None:
        chains = chains.exclude(pk=subject.chain.pk)
    for word in text.split():
        chains = chains.filter(title__icontains=word)
    for chain in chains[:MOST]:
        when = f"{chain.changed_at:%d %b %H:%M}"
        yield Option(chain.title, "section", url_or_nothing("chains:chain", chain.pk), " · ".join(filter(None, (chain.model, when))))
