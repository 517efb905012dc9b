"""No stored string does anything on any page, with the content security policy and with the policy switched off."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.attacks import addresses, urls
from tests.attacks.answers import Form, answer_of, answers
from tests.attacks.corpus import IS_TORTURE, armed, rounds
from tests.attacks.journeys import work
from tests.attacks.transcripts import DOCUMENTS, USUAL
from tests.attacks.watch import Seen, Watch, report_only, sink
from tests.attacks.world import World, make_world, settings_for
from tests.rules.test_every_address import asked  # noqa: F401
from tests.waiting import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = rounds()
REFUSED = {"accounts:oidc", "accounts:oidc_callback", "metrics"}
"""Without an identity provider the first are refused; the page that says so is seen. The figures need the operator's token."""


@pytest.fixture
def watched(page: Any, live_server: Any, settings: Any, tmp_path: Path, request: Any) -> Iterator[tuple[World, Watch]]:
    """The world of a round of strings, and a browser whose owner is signed in."""
    numbers = ROUNDS[request.param]
    settings.CHAINVIZ = settings_for(tmp_path)
    settings.ROOT_URLCONF = urls.__name__
    page.context.set_default_timeout(1000 * PATIENCE)
    with sink() as other:
        world = make_world(armed(numbers, other.host), DOCUMENTS[request.param :: len(ROUNDS)] if IS_TORTURE else USUAL)
        session = world.client.cookies["chainviz_session"].value
        page.context.add_cookies([{"name": "chainviz_session", "value": session, "url": live_server.url}])
        watch = Watch(page, live_server.url, world.strings)
        yield world, watch
        page.close()
        assert not watch.hits, "\n".join(watch.hits)
        assert other.visits == []
    print(f"{watch.opened} pages opened, {watch.parsed} answers read")


@pytest.mark.timeout(3600)  # of a torture on a busy machine
@pytest.mark.parametrize(("watched", "is_first"), [(each, not each) for each in range(len(ROUNDS))], indirect=["watched"])
def test_no_string_does_anything(
    watched: tuple[World, Watch],
    is_first: bool,
    monkeypatch: pytest.MonkeyPatch,
    asked: set[str],  # noqa: F811
) -> None:
    """First under the policy, in torture, then where it only reports: what is neither done nor reported there is not done
    where it holds."""
    world, watch = watched
    if IS_TORTURE:
        for _, address in addresses.seeds(world, briefly=True):
            watch.open(address)
        work(world, watch)
    report_only(monkeypatch)
    visit = Visit(world, watch, asked, opens_all=IS_TORTURE and is_first)
    statuses = visit.every_page()
    visit.every_answer()
    if is_first:
        work(world, watch)
    never = {name for name, found in statuses.items() if min(found) >= 400}
    assert never - REFUSED == set(), "no page of these addresses was seen: plant what they need in world.py"


class Visit:
    """Opens a page of every address of the resolver and looks at what the forms of these pages answer. `opens_all`: opens
    every value of an address, a page of each further kind that those lead to, and the answers too."""

    def __init__(self, world: World, watch: Watch, asked: set[str], *, opens_all: bool) -> None:  # noqa: F811
        self._world, self._watch, self._asked, self._opens_all = world, watch, asked, opens_all
        self._kinds: set[Any] = set()
        self._forms: dict[Any, Form] = {}
        self._links: deque[str] = deque()
        self._names: dict[str, tuple[str, set[str]]] = {}
        """By view: an address, and what it asks its query for."""

    def every_page(self) -> dict[str, set[int]]:
        """Returns the statuses of each address that a person can look at, by its name."""
        statuses: dict[str, set[int]] = {}
        for name, address in addresses.seeds(self._world, briefly=not self._opens_all):
            statuses.setdefault(name, set()).add(self._open(address).status)
        while self._links and self._opens_all:
            self._open(self._links.popleft())
        return statuses

    def _open(self, address: str) -> Seen:
        self._asked.clear()
        seen = self._watch.open(address)
        view, _ = kind = addresses.kind_of(address)
        self._kinds.add(kind)
        self._names.setdefault(view, (address.partition("?")[0], set()))[1].update(self._asked)
        for link in seen.links:
            if (kind := addresses.kind_of(link)) not in self._kinds:
                self._kinds.add(kind)
                self._links.append(link)
        for form in seen.forms:
            names = {name for name, *_ in form["fields"]}
            self._forms.setdefault((addresses.kind_of(form["action"]), frozenset(names)), form)
        return seen

    def every_answer(self) -> None:
        """What pages say to hostile addresses, queries and forms: read in the browser, or opened."""
        client = self._world.client
        for name, route in addresses.routes():
            for address in addresses.hostile(name, route, self._world):
                self._show(address, answer_of(client.get(address)))
        for address, names in self._names.values():
            self._show_queries(address, sorted(names))
        for action, html in answers(client, self._forms.values(), self._world, 99 if self._opens_all else 3):
            self._show(action, html)

    def _show_queries(self, address: str, names: Sequence[str]) -> None:
        """All names at once; each alone where the page refuses them together."""
        client = self._world.client
        together = addresses.with_query(address, names, self._world)
        answer = client.get(together)
        self._show(together, answer_of(answer))
        for name in names if answer.status_code >= 400 else ():
            alone = addresses.with_query(address, [name], self._world)
            self._show(alone, answer_of(client.get(alone)))

    def _show(self, address: str, html: bytes) -> None:
        if not html:
            return
        if self._opens_all and not address.startswith("/s/"):  # a shared page has a policy of its own
            urls.ANSWERS.append(html)
            self._watch.open(f"/shown/{len(urls.ANSWERS) - 1}", f"answer of {address}")
        else:
            self._watch.read(address, html.decode())
