"""Addresses from the resolver: a new page is opened because it is there, and missed by the test where nothing leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from django.test import Client
from django.urls import Resolver404, ResolverMatch, resolve

from chainviz import urls as product
from chainviz.core.operations import OPERATIONS
from chainviz.help.pages import NAMES
from tests.accounts import access_rows
from tests.attacks.world import World

HOLE = re.compile(r"<(?:(\w+):)?(\w+)>")
NODES = ["s1.h.m0", "s1.h.m1", "s1.p1", "s1.p2", "s1.p5", "s1", "s2", "s2.p1", "s1.h.m0.c1", "s1.p1.m0.c0", "s1.p2.m0.c0"]
LONG_PART, PICTURE = "s1.p2.m1.c0", "s1.h.m1.c1"
ALL_OPEN = "all=section,system,human,ai,tool,summary"
QUERIES = {
    "chains:version": [ALL_OPEN, f"{ALL_OPEN}&text=plain"],
    "chains:rows": [f"near={first}&n=80&{ALL_OPEN}" for first in (0, 20, 60, 90, 120)],
    "chains:find": ["q=pwned", "q=%3C"],
    "chains:goto": ["to=1"],
    "chains:palette": ["chain=1&q=pwned"],
    "chains:chain_palette": ["q=pwned"],
    "chains:problems": ["provider=anthropic"],
    "chains:compare": ["pick=1&pick=6"],
    "accounts:audit": ["check=1"],
    "drafts:state": ["from=0"],
    **{name: ["v=3"] for name in ("drafts:operation", "drafts:edit", "drafts:repair", "drafts:simulation", "drafts:earlier")},
}
"""By the name of an address: queries with which it shows more."""


def routes() -> Iterator[tuple[str, str]]:
    """The name and the route of each address of the product."""
    yield from ((name, route) for name, route, _ in access_rows.addresses(product.urlpatterns))


def seeds(world: World, *, briefly: bool) -> Iterator[tuple[str, str]]:
    """The name and the address of every page that a person can look at. `briefly`: as few as show everything that is planted,
    and no page of a draft that a version has too."""
    client, views = world.client, set()
    for name, route in routes():
        found = list(filled(name, route, world))
        view = view_of(resolve(found[0]))
        if takes_get(client, found[0]) and not (briefly and view in views):
            views.add(view)
            queries = QUERIES.get(name, [])
            yield from ((name, address) for address in (found[: 2 if "where" in route else 1] if briefly else found))
            yield from ((name, f"{found[0]}?{query}") for query in (queries[:2] if briefly else queries))


def takes_get(client: Client, address: str) -> bool:
    """A view that only takes forms says so to OPTIONS, and does nothing."""
    return "GET" in client.options(address).get("Allow", "GET")


def filled(name: str, route: str, world: World) -> Iterator[str]:
    """Each value of the parts of an address in turn, the others as usual."""
    values = [_values(name, hole, world) for _, hole in HOLE.findall(route)]
    turns = max(map(len, values), default=1)
    yield from dict.fromkeys(_fill(route, [each[min(turn, len(each) - 1)] for each in values]) for turn in range(turns))


def _values(name: str, hole: str, world: World) -> list[str]:
    """What a part of an address can be, the usual value first."""
    view = name.rpartition(":")[2].removeprefix("explore_")
    particular = {
        ("delete", "chain_id"): world.known["binned"],
        ("state_document", "chain_id"): world.known["states"],
        ("fixed_session", "chain_id"): world.known["states"],
        ("page", "name"): list(NAMES),
        ("join", "token"): world.known["invited"],
        ("purge_of_run", "bulk_id"): world.known["masked"],
        ("part", "where"): [LONG_PART],
        ("image", "where"): [PICTURE],
        ("observation_text", "where"): ["s1.p2"],
        ("replaced", "where"): ["s1.p1"],
        ("replaced", "number"): ["4"],
        ("thread", "number"): ["1", "2", "3"],
        ("replaced", "draft_id"): world.known["summarized"],
    }
    operations = [each.name for each in OPERATIONS if each.name != "edit"]
    general = {"where": NODES, "path": ["s2.p1", "s1.h.m0"], "kind": ["csv", "jsonl"], "name": operations}
    return particular.get((view, hole)) or general.get(hole) or world.known.get(hole) or ["1"]


def _fill(route: str, values: Sequence[str]) -> str:
    remaining = iter(values)
    return HOLE.sub(lambda _: next(remaining), route)


def hostile(name: str, route: str, world: World) -> Iterator[str]:
    """The address with a string in each part that takes a text."""
    holes = HOLE.findall(route)
    usual = [_values(name, hole, world)[0] for _, hole in holes]
    for place, (kind, _) in enumerate(holes):
        if kind != "int":
            string = quote(world.string_for(route).replace("/", ""), safe="", errors="replace")
            yield _fill(route, [string if at == place else value for at, value in enumerate(usual)])


def with_query(address: str, names: Sequence[str], world: World) -> str:
    """Asks with the strings for each name."""
    return f"{address}?{urlencode([(name, world.line[:1_500]) for name in names], errors='replace')}"


def kind_of(address: str) -> tuple[str, tuple[str, ...]]:
    """Pages of a kind differ in what they show only: the same view, asked for the same things."""
    parts = urlsplit(address)
    names = {key for key, _ in parse_qsl(parts.query, keep_blank_values=True)}
    try:
        return view_of(resolve(parts.path)), tuple(sorted(names))
    except Resolver404:  # of a string that was not escaped
        return parts.path, ()


def view_of(match: ResolverMatch) -> str:
    """Addresses below a version and below a draft have the same views."""
    return f"{match.func.__module__}.{match.func.__qualname__}"
