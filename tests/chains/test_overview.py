"""The overview: its figures are sums of what the sessions record, and each leads to the library with its filter."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chainviz.accounts.models import Team, local_member
from chainviz.accounts.permissions import Role
from chainviz.chains.library.filter import ADDRESS, Filter
from chainviz.chains.overview import overview_page as view
from chainviz.chains.overview.charts import OTHERS, chart
from chainviz.chains.overview.figures import read_choice
from chainviz.jobs.worker import run_waiting_jobs
from chainviz.sessions_index import services
from chainviz.sessions_index.models import Session, SessionDay, SessionError, SessionRepeat, SessionTool
from tests.accounts.conftest import team_mode as team_mode
from tests.accounts.people import client_of, make_member
from tests.chains.making import human, make_chain
from tests.sessions_index.claude_store import GOOD, REFUSED, answer, call, result, text, user, write_session

pytestmark = pytest.mark.django_db
TODAY = date(2026, 11, 27)
ALL = "?since=all"
SECRET = [user("The key is AKIA" + "Q3EGRIBEXAMPLE77"), answer(text("Thanks."), number=1)]
FULL = [user("Read all"), answer(text("Done."), number=1, tokens=195_000)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def index(home: Path) -> Path:
    write_session(home, "good", GOOD, at=172_800)
    write_session(home, "refused", REFUSED, at=10)
    write_session(home, "full", FULL, at=20)
    failed = user([result("toolu_a", "ls: error 9", is_error=True)], 2)
    again = [user("Look"), answer(call("toolu_a", "Bash", command="ls"), number=1), failed, answer(text("Hm."), number=3)]
    write_session(home, "again", again, at=30)
    services.choose_sources(local_member(), ["claude-code"])
    run_waiting_jobs()
    return home


def page(query: str = ALL) -> str:
    response = Client().get(f"/overview/{query}")
    assert response.status_code == 200
    return unescape(" ".join(response.content.decode().split()))


def figure(shown: str, name: str) -> tuple[str, str]:
    found = re.search(rf'<a href="([^"]*)"[^>]*>\s*<span class="figure-name">{name}</span>\s*<span class="figure">([^<]*)<', shown)
    assert found, name
    return found[2], found[1]


def rank(shown: str, id: str) -> list[tuple[str, ...]]:
    """Return the texts of each line of a list."""
    card = shown.partition(f'aria-labelledby="{id}-title"')[2].partition("</section>")[0]
    return [tuple(re.findall(r">([^<>]*[^<>\s][^<>]*)<", line)) for line in re.findall(r"<li>.*?</li>", card)]


def test_figures_are_the_sums_of_what_is_recorded(index: Path) -> None:
    shown, days = page(), SessionDay.objects.all()
    value, url = figure(shown, "Sessions")
    assert value == "4" and url == "/?sessions=1"
    cost = sum(day.cost or 0 for day in days)
    assert cost and figure(shown, "Cost")[0] == f"${cost / 1e6:,.2f}"
    assert figure(shown, "Tokens out")[0] == str(sum(day.output for day in days))
    value, url = figure(shown, "Next request refused")
    assert value == "1" and parse_qs(url.partition("?")[2]) == {"health": ["refused"], "sessions": ["1"]}


def rows_of(url: str) -> int:
    """Return how many rows the library has for an address."""
    return int(Client().get(url).context["listing"].totals.count)


@pytest.mark.parametrize("query", [ALL, "?from=2026-11-19&to=2026-11-19", "?from=2026-11-18&to=2026-11-18&model=claude-sonnet-4-5"])
def test_every_link_leads_to_the_rows_that_its_figure_counts(index: Path, query: str) -> None:
    write_session(index, "secret", [*SECRET, user("[Request interrupted by user]", 3)], at=50)
    failed = user([result("toolu_b", "ls: error 10", is_error=True)], 3)
    write_session(index, "write", [user("Do"), answer(call("toolu_b", "Write"), number=2), failed], at=60)
    write_session(index, "late", [user("Late", 40), answer(text("API Error: 500"), number=41)], at=70)
    services.scan(local_member().team)
    run_waiting_jobs()
    Client().post("/keep/", {"session": [row.pk for row in Session.objects.filter(key__in=["refused", "secret", "again"])]})
    make_chain([human("Uploaded")], "mine.json")
    shown = Client().get(f"/overview/{query}")
    view = shown.context["page"]
    counted = [(each.url, each.value) for each in view.key_figures if each.name in ("Sessions", "Next request refused", "With secrets")]
    counted += [(each.url, each.number) for each in (*view.health, *view.endings)]
    counted += [(url, number) for _, _, number, url, _ in view.problems]
    counted += [(url, sessions.split()[0]) for sessions, url, _ in view.omissions]
    counted += [(each.url, re.sub(r" sessions?$|.* in ", "", each.note)) for each in (*view.errors, *view.repeats)]
    assert len(counted) > 5 and {url: rows_of(url) for url, _ in counted} == {url: int(number) for url, number in counted}
    links = set(re.findall(r'href="(/\?[^"]*)"', unescape(shown.content.decode()).partition('class="key-figures"')[2]))
    known = {ADDRESS.get(field.name, field.name) for field in fields(Filter)}
    assert all(set(parse_qs(url[2:])) <= known for url in links)
    empty = {parse_qs(url[2:])["from"][0] for url in links - {url for url, _ in counted} if not rows_of(url)}
    days = {str(day) for day in SessionDay.objects.values_list("day", flat=True)}
    assert not empty & days if "model=" not in query else len(empty) <= 1


def test_a_filter_counts_only_its_sessions_and_stays_in_every_link(index: Path) -> None:
    shown = page("?since=all&model=claude-opus-4-1")
    assert figure(shown, "Sessions")[0] == "1"
    opus = SessionDay.objects.get(model="claude-opus-4-1")
    assert figure(shown, "Tokens out")[0] == str(opus.output)
    links = re.findall(r'class="card.*?</section>', shown)
    library = [url for card in links for url in re.findall(r'href="(/\?[^"]*)"', card)]
    assert library and all("model=claude-opus-4-1" in url for url in library)
    assert "No sessions in these days" in page("?since=all&folder=/nowhere")


def test_days_are_those_of_the_requests(index: Path) -> None:
    shown = page("?from=2026-11-19&to=2026-11-19")
    bars = re.findall(r'<a href="(/\?[^"]*)" aria-label="([^"]*)"', shown)
    assert [parse_qs(url[2:]) for url, _ in bars] == [{"sessions": ["1"], "from": ["2026-11-19"], "to": ["2026-11-19"]}] * 2
    assert any("19 Nov 2026: " in words and "claude-opus-4-1" not in words.partition(":")[0] for _, words in bars)
    assert figure(shown, "Tokens out")[0] == str(sum(day.output for day in SessionDay.objects.filter(day=date(2026, 11, 19))))


def test_lists_name_what_costs_and_fails(index: Path) -> None:
    shown = page()
    assert rank(shown, "problems")[0][:2] == ("Result missing", "1")
    assert rank(shown, "errors")[0][:2] == ("ls: error #", "Bash") and rank(shown, "errors")[0][-1] == "2 sessions"
    assert rank(shown, "repeats")[0][0] == "Read" and "1× in 1" in rank(shown, "repeats")[0][-1]
    assert rank(shown, "window")[0][:2] == ("CC", "Read all") and "98%" in rank(shown, "window")[0]
    assert rank(shown, "expensive")[0][1] == "Read all"
    assert [row[0] for row in rank(shown, "bytes")] == ["Bash", "Read"]


def test_table_behind_a_chart_has_the_same_values(index: Path) -> None:
    shown = page("?from=2026-11-18&to=2026-11-20&by=agent")
    table = shown.partition('aria-labelledby="tokens-title"')[2].partition("</table>")[0]
    rows = [re.findall(r">([^<>]+)<", row) for row in re.findall(r"<tr>.*?</tr>", table)]
    assert rows[0] == ["Day", "Claude Code", "All"] and [row[0] for row in rows[1:]] == ["18 Nov 2026", "19 Nov 2026", "20 Nov 2026"]
    assert all(row[1] == row[2] for row in rows[1:]) and rows[3][1] == "0"


def test_without_sessions_it_says_what_to_do(home: Path) -> None:
    assert "No sessions in these days" in page("") and 'href="/welcome/"' in page("")
    assert ">All days<" in page("") and ">All days<" not in page("?since=all"), "nothing offers what is chosen"


def test_page_is_kept_until_the_index_changes(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    asked: list[Any] = []
    real = view.Overview.__init__
    monkeypatch.setattr(view.Overview, "__init__", lambda self, *more: (asked.append(more), real(self, *more))[1])
    page()
    assert not asked
    write_session(index, "more", SECRET, at=40)
    services.scan(local_member().team)
    run_waiting_jobs()
    assert figure(page(), "With secrets")[0] == "1" and asked


def test_team_members_see_only_their_team(index: Path, team_mode: Team) -> None:
    Session.objects.update(team=team_mode)
    for role, sees in ((Role.OWNER, True), (Role.VIEWER, False)):
        response = client_of(make_member(team_mode, role.label, role)).get("/overview/?since=all")
        assert response.status_code == 200 and (b"Read all" in response.content) is sees


@pytest.mark.parametrize(
    ("query", "begins", "ends"),
    [
        ({}, date(2026, 10, 29), TODAY),
        ({"since": "7d"}, date(2026, 11, 21), TODAY),
        ({"since": "all"}, None, TODAY),
        ({"since": "nonsense", "from": "2026-99-99"}, date(2026, 10, 29), TODAY),
        ({"from": "2026-11-10", "to": "2026-11-02"}, date(2026, 11, 2), date(2026, 11, 10)),
        ({"to": "2030-01-01"}, None, TODAY),
    ],
)
def test_days_of_an_address(query: dict[str, str], begins: date | None, ends: date) -> None:
    choice = read_choice(query, TODAY)
    assert (choice.begins, choice.ends) == (begins, ends)


@pytest.mark.parametrize(
    ("today", "span", "said"),
    [
        (date(2026, 11, 27), "30 days", "29 Oct to 27 Nov 2026"),
        (date(2027, 1, 30), "90 days", "No session of the last 30 days records tokens. 2 Nov 2026 to 30 Jan 2027"),
        (date(2028, 1, 30), "All", "No session of the last 30 days records tokens. All days, 18 Nov 2026 to 30 Jan 2028"),
    ],
)
def test_usual_days_are_the_shortest_with_sessions(index: Path, today: date, span: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view.timezone, "localdate", lambda: today)
    shown = page("")
    assert said in shown and "No sessions in these days" not in shown
    assert re.search(rf'aria-current="true">{span}<', shown)
    assert ("No sessions in these days" in page("?since=30d")) is (span != "30 days")


def test_side_is_that_of_the_library(index: Path) -> None:
    def links(shown: str) -> list[str]:
        nav = shown[shown.index('id="library-side"') : shown.index("</nav>", shown.index('id="library-side"'))]
        return re.findall(r'href="([^"]+)"', nav)

    assert links(page()) == links(Client().get("/").content.decode())
    assert 'href="/overview/" aria-current="page"' in page()


def test_figures_are_compared_with_the_days_before(index: Path) -> None:
    now, before = (SessionDay.objects.filter(day=day) for day in ("2026-11-19", "2026-11-18"))
    assert now.exists() and before.exists()
    sums = [sum(day.output for day in days) for days in (now, before)]
    percent = round(100 * (sums[0] - sums[1]) / sums[1])
    shown = Client().get("/overview/?from=2026-11-19&to=2026-11-19").context["page"].key_figures
    note = next(each.note for each in shown if each.name == "Tokens out")
    assert note == (f"{percent:+,}%".replace("-", "−") if percent else "as before")
    numbers = [days.values("session").distinct().count() for days in (now, before)]
    percent = round(100 * (numbers[0] - numbers[1]) / numbers[1])
    assert shown[0].note == (f"{percent:+,}%".replace("-", "−") if percent else "as before")


def test_each_table_of_the_index_is_summed_once(index: Path) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert Client().get("/overview/").context["page"].has_sessions
    for model in (SessionDay, SessionTool, SessionError, SessionRepeat):
        asked = [each["sql"] for each in queries if each["sql"].partition(" FROM ")[2].startswith(f'"{model._meta.db_table}"')]
        assert len(asked) == 1, asked


def test_days_before_are_as_many() -> None:
    before = read_choice({"since": "7d"}, TODAY).before
    assert before and (before.begins, before.ends) == (date(2026, 11, 14), date(2026, 11, 20))


def test_small_series_are_one() -> None:
    values = {(TODAY, name): 10 - place for place, name in enumerate("abcdefgh")}
    drawn = chart(values, TODAY, TODAY)
    assert [each.name for each in drawn.series] == [*"abcde", OTHERS] and drawn.series[-1].total == 5 + 4 + 3
    assert sum(piece.value for piece in drawn.bars[0].pieces) == drawn.total == sum(values.values())


@pytest.mark.parametrize(("days", "unit", "bars"), [(30, "day", 30), (92, "day", 92), (100, "week", 15), (1000, "month", 33)])
def test_long_times_have_a_bar_a_week_or_month(days: int, unit: str, bars: int) -> None:
    first = date.fromordinal(TODAY.toordinal() - days + 1)
    drawn = chart({(first, "m"): 3, (TODAY, "m"): 4}, first, TODAY)
    assert (drawn.unit, len(drawn.bars), drawn.total) == (unit, bars, 7)
    assert drawn.bars[0].total == 3 and drawn.bars[-1].total == 4
